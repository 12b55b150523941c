package paypal_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/adapters/payments/paypal"
)

func TestPayPalNeedsItsSettings(t *testing.T) {
	for _, c := range []struct {
		set  paypal.Settings
		demo bool
		says string // empty: it is good
	}{
		{paypal.Settings{}, false, ""},
		{paypal.Settings{ClientID: "a", ClientSecret: "b"}, false, ""},
		{paypal.Settings{ClientID: "a", ClientSecret: "b", APIURL: "https://api-m.sandbox.paypal.com"}, true, ""},
		{paypal.Settings{ClientID: "a"}, false, "PAYPAL_CLIENT_SECRET"},
		{paypal.Settings{ClientSecret: "b"}, false, "PAYPAL_CLIENT_ID"},
		{paypal.Settings{WebhookID: "c"}, false, "PAYPAL_CLIENT_ID"},
		{paypal.Settings{ClientID: "a", ClientSecret: "b", APIURL: "https://paypal.example"}, false, "PAYPAL_API_URL"},
		{paypal.Settings{ClientID: "a", ClientSecret: "b"}, true, "no real money"},
	} {
		offered, warnings, err := c.set.Check(c.demo)
		if c.says == "" && (err != nil || offered != (c.set.ClientID != "")) {
			t.Errorf("%+v: offered %t, %v", c.set, offered, err)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%+v: %v", c.set, err)
		}
		if warned := strings.Contains(strings.Join(warnings, " "), "PAYPAL_WEBHOOK_ID"); warned != offered {
			t.Errorf("%+v warns of %q", c.set, warnings)
		}
	}
	if _, warnings, err := (&paypal.Settings{ClientID: "a", ClientSecret: "b", WebhookID: " new, old ,"}).Check(false); err != nil ||
		len(warnings) > 0 {
		t.Errorf("%q, %v", warnings, err)
	}
}

// M-6, M-10: PayPal takes no parts of a forint, no free orders, and fewer currencies.
func TestPayPalTakesWhatItCanCharge(t *testing.T) {
	method := (&paypal.Settings{}).Method()
	for _, c := range []struct {
		currency, total string
		minor           int64
		ok              bool
	}{
		{"EUR", "28.70", 2870, true},
		{"HUF", "100.50", 0, false},
		{"HUF", "100", 10000, true},
		{"TWD", "7", 700, true},
		{"JPY", "500", 500, true},
		{"KRW", "1000", 0, false},
		{"KWD", "1.23", 0, false},
		{"EUR", "0", 0, false},
	} {
		minor, ok := method.Charge(decimal.RequireFromString(c.total), c.currency)
		if ok != c.ok || ok && minor != c.minor {
			t.Errorf("%s %s: %d (%v)", c.total, c.currency, minor, ok)
		}
	}
	if len(method.Currencies) != 22 {
		t.Errorf("%d currencies", len(method.Currencies))
	}
}
