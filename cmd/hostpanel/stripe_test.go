package main

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
)

func TestAMistakeAboutStripeNamesItsSetting(t *testing.T) {
	for setting, s := range map[string]Settings{
		"STRIPE_SECRET_KEY: not":  {StripeSecretKey: "pk_live_canary"},
		"STRIPE_SECRET_KEY: the":  {StripeSecretKey: "sk_live_canary"}, // in the demo
		"STRIPE_API_URL: not an ": {StripeSecretKey: "sk_test_canary", StripeAPIURL: "http://canary.example"},
	} {
		_, err := configure(s, true)
		if err == nil || !strings.Contains(err.Error(), setting) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%v should begin with %q and tell no secret", err, setting)
		}
	}
}

func TestStripeIsOfferedToThoseWhoHaveAKey(t *testing.T) {
	for _, c := range []struct {
		set     Settings
		offered bool
		live    bool
		warns   string
	}{
		{Settings{}, false, false, ""},
		{Settings{StripeWebhookSecret: "whsec_1"}, false, false, "STRIPE_SECRET_KEY is not set"},
		{Settings{StripeSecretKey: "sk_live_1", StripeWebhookSecret: "whsec_1, whsec_2,"}, true, true, ""},
		{Settings{StripeSecretKey: "sk_live_1"}, true, true, "STRIPE_WEBHOOK_SECRET is not set"},
		{Settings{StripeSecretKey: "rk_test_1", StripeWebhookSecret: "whsec_1"}, true, false, "without money"},
	} {
		got, err := configure(c.set, false)
		if err != nil || (got.stripe != nil) != c.offered || c.offered && got.stripe.Live() != c.live {
			t.Errorf("%+v: %+v, %v", c.set, got, err)
			continue
		}
		if warns := strings.Join(got.warnings, "\n"); strings.Contains(warns, "STRIPE") != (c.warns != "") || !strings.Contains(warns, c.warns) {
			t.Errorf("%+v warns of %q, not of %q", c.set, warns, c.warns)
		}
	}
}

// The whole way with the real program: its Stripe is one of the test's own.
func TestAnOrderPaidAtStripe(t *testing.T) {
	bank := stripetest.Start(t, stripetest.Options{})
	h := newHome(t)
	account := []string{"STRIPE_SECRET_KEY=" + stripetest.Key, "STRIPE_API_URL=" + bank.URL}
	h.env = append(account, "STRIPE_WEBHOOK_SECRET=whsec_of_before,"+stripetest.Secret)
	r := h.start()
	const webhooks = "/storefront/webhooks/stripe/"
	bank.DeliverTo(r.base + webhooks)
	d := h.demo()

	body := strings.Replace(fmt.Sprintf(ordered, d.Plans.Hosting, "ana@customer.example", "ana.example"), `"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	placed := r.ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type", asJSON)
	id := placed.field(t, "order_id")
	sessions := bank.Sessions(id)
	if page := placed.field(t, "payment_url"); len(sessions) != 1 || page != sessions[0].URL || sessions[0].Currency != "eur" {
		t.Fatalf("the customer is sent to %q; there is %+v", page, sessions)
	}
	lie := bank.Event("checkout.session.completed", map[string]any{
		"id": sessions[0].ID, "object": "checkout.session", "client_reference_id": id, "payment_status": "paid",
	})
	r.ask(200, "POST", webhooks, string(lie.Body), stripe.Header, stripetest.Sign(lie.Body, time.Now(), "whsec_of_before"))
	r.ask(400, "POST", webhooks, string(lie.Body), stripe.Header, stripetest.Sign(lie.Body, time.Now(), "whsec_of_somebody"))
	bank.Copies(3)
	bank.Pay(sessions[0].ID)
	r.awaitActive(id, d.APIKey, patience)
	if told := h.must("webhooks", "list"); strings.Count(told, "checkout.session.completed") != 2 || strings.Count(told, "done") != 2 {
		t.Errorf("a lie and a payment should be two webhooks that are done:\n%s", told)
	}
	if shown := h.must("orders", "show", id); !strings.Contains(shown, "stripe") {
		t.Errorf("the order does not tell how it was paid:\n%s", shown)
	}
	r.stop()
	keepsSecrets(t, r.stderr(), stripetest.Key, stripetest.Secret, "whsec_of_before", "ana@customer.example", url.QueryEscape("ana@customer.example"))

	h.env = account
	r = h.start()
	if a := r.ask(503, "POST", webhooks, string(lie.Body)); a.field(t, "code") != "provider_not_configured" {
		t.Errorf("without a secret: %s", a.body)
	}
	if !strings.Contains(r.stderr(), "STRIPE_WEBHOOK_SECRET is not set") {
		t.Errorf("the start does not warn:\n%s", r.stderr())
	}
	r.stop()
}
