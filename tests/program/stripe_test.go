//go:build system

package program_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/tests/processtest"
)

// The whole way with the real program: its Stripe is one of the test's own.
func TestAnOrderPaidAtStripe(t *testing.T) {
	t.Parallel()
	bank := stripetest.Start(t, stripetest.Options{})
	h := processtest.NewHome(t)
	account := []string{"STRIPE_SECRET_KEY=" + stripetest.Key, "STRIPE_API_URL=" + bank.URL}
	h.Env = append(account, "STRIPE_WEBHOOK_SECRET=whsec_of_before,"+stripetest.Secret)
	r := h.Start()
	const webhooks = "/storefront/webhooks/stripe/"
	bank.DeliverTo(r.Base + webhooks)
	d := h.Demo()

	body := strings.Replace(fmt.Sprintf(processtest.Ordered, d.Plans.Hosting, "ana@customer.example", "ana.example"),
		`"payment_method":"test"`, `"payment_method":"stripe"`, 1)
	placed := r.Ask(201, "POST", "/storefront/api/orders/", body, "X-API-Key", d.APIKey, "Content-Type",
		processtest.AsJSON)
	id := placed.Field(t, "order_id")
	sessions := bank.Sessions(id)
	if page := placed.Field(t, "payment_url"); len(sessions) != 1 || page != sessions[0].URL ||
		sessions[0].Currency != "eur" {
		t.Fatalf("the customer is sent to %q; there is %+v", page, sessions)
	}
	lie := bank.Event("checkout.session.completed", map[string]any{
		"id": sessions[0].ID, "object": "checkout.session", "client_reference_id": id, "payment_status": "paid",
	})
	r.Ask(200, "POST", webhooks, string(lie.Body), stripe.Header, stripetest.Sign(lie.Body, time.Now(), "whsec_of_before"))
	r.Ask(400, "POST", webhooks, string(lie.Body), stripe.Header,
		stripetest.Sign(lie.Body, time.Now(), "whsec_of_somebody"))
	bank.Copies(3)
	bank.Pay(sessions[0].ID)
	r.AwaitActive(id, d.APIKey, processtest.Patience)
	if told := h.Must("webhooks", "list"); strings.Count(told, "checkout.session.completed") != 2 ||
		strings.Count(told, "done") != 2 {
		t.Errorf("a lie and a payment should be two webhooks that are done:\n%s", told)
	}
	if shown := h.Must("orders", "show", id); !strings.Contains(shown, "stripe") {
		t.Errorf("the order does not tell how it was paid:\n%s", shown)
	}
	r.Stop()
	processtest.KeepsSecrets(t, r.Stderr(), stripetest.Key, stripetest.Secret, "whsec_of_before", "ana@customer.example",
		url.QueryEscape("ana@customer.example"))

	h.Env = account
	r = h.Start()
	if a := r.Ask(503, "POST", webhooks, string(lie.Body)); a.Field(t, "code") != "provider_not_configured" {
		t.Errorf("without a secret: %s", a.Body)
	}
	if !strings.Contains(r.Stderr(), "STRIPE_WEBHOOK_SECRET is not set") {
		t.Errorf("the start does not warn:\n%s", r.Stderr())
	}
	r.Stop()
}
