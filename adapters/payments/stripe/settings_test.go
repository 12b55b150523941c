package stripe_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/adapters/payments"
	"hostpanel/adapters/payments/stripe"
)

func TestAMistakeAboutStripeNamesItsSetting(t *testing.T) {
	for setting, s := range map[string]stripe.Settings{
		"STRIPE_SECRET_KEY: not":      {SecretKey: "pk_live_canary"},
		"STRIPE_SECRET_KEY: the demo": {SecretKey: "sk_live_canary"},
		"STRIPE_API_URL: not an ":     {SecretKey: "sk_test_canary", APIURL: "http://canary.example"},
	} {
		_, _, err := s.Check(true)
		if err == nil || !strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v should begin with %q and tell no secret", err, setting)
		}
	}
}

// A currency whose amounts Stripe counts otherwise than the panel is not charged there.
func TestStripeRefusesWhatItCountsOtherwise(t *testing.T) {
	for currency, want := range map[string]bool{
		"EUR": true, "RON": true, "TRY": true, "INR": true, "ZAR": true, "JPY": true, "KWD": true,
		"ISK": false, "UGX": false, "KPW": false, "DEM": false,
	} {
		if _, ok := new(stripe.Settings).Method().Charge(decimal.New(100, 0), currency); ok != want {
			t.Errorf("%s is charged: %t", currency, ok)
		}
	}
}

func TestStripeIsOfferedWithAKey(t *testing.T) {
	for _, c := range []struct {
		set     stripe.Settings
		offered bool
		live    bool
		warns   string
	}{
		{stripe.Settings{}, false, false, ""},
		{stripe.Settings{WebhookSecret: "whsec_1"}, false, false, "STRIPE_SECRET_KEY is not set"},
		{stripe.Settings{SecretKey: "sk_live_1", WebhookSecret: "whsec_1, whsec_2,"}, true, true, ""},
		{stripe.Settings{SecretKey: "sk_live_1"}, true, true, "STRIPE_WEBHOOK_SECRET is not set"},
		{stripe.Settings{SecretKey: "rk_test_1", WebhookSecret: "whsec_1"}, true, false, "without money"},
	} {
		offered, warnings, err := c.set.Check(false)
		if err != nil || offered != c.offered {
			t.Errorf("%+v: offered %t, %v", c.set, offered, err)
			continue
		}
		if warns := strings.Join(warnings, "\n"); (warns != "") != (c.warns != "") || !strings.Contains(warns, c.warns) {
			t.Errorf("%+v warns of %q, not of %q", c.set, warns, c.warns)
		}
		if !offered {
			continue
		}
		if p, err := c.set.Open(payments.Panel{}); err != nil || p.Live() != c.live || p.Name() != c.set.Method().Name {
			t.Errorf("%+v: %v, %v", c.set, p, err)
		}
	}
}
