package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/eventstore/sealing"
)

// The way that docs/operations.md tells, gone for real: a new key in front of
// the old one, a restart, and everything from before still opens.
func TestTheSecretKeyIsExchangedWithoutLosingAnything(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	d := h.demo()
	body := fmt.Sprintf(ordered, d.Plans.Hosting, "ana@customer.example", "ana.example")
	headers := []string{"X-API-Key", d.APIKey, "Content-Type", asJSON, "Idempotency-Key", "before-the-exchange"}
	placed := r.ask(201, "POST", "/storefront/api/orders/", body, headers...)
	id := placed.field(t, "order_id")
	r.ask(303, "POST", pathOf(t, placed.field(t, "payment_url")), "action=pay", "Content-Type", asForm)
	r.awaitActive(id, d.APIKey, patience)
	link := linkIn(t, onlyMail(t, h.dir, placed.field(t, "order_number")))
	before := r.signIn(d.Superuser)
	r.stop()

	old, err := os.ReadFile(filepath.Join(h.dir, "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	h.env = []string{"HOSTPANEL_SECRET_KEY=" + sealing.NewSecretKey() + "," + strings.TrimSpace(string(old))}
	r = h.start()
	if again := r.ask(201, "POST", "/storefront/api/orders/", body, headers...); again.field(t, "order_id") != id {
		t.Errorf("the same request made another order: %s", again.body)
	}
	r.ask(200, "GET", link, "")
	r.ask(200, "GET", "/api/me/", "", "Authorization", "Bearer "+before.field(t, "access"))
	r.ask(200, "POST", "/api/token/refresh/", fmt.Sprintf(`{"refresh":%q}`, before.field(t, "refresh")), "Content-Type", asJSON)
	after := r.signIn(d.Superuser)
	if a, b := kidOf(before), kidOf(after); a == b || a == "" {
		t.Errorf("new tokens should be signed with the new key, not %s as before (%s)", b, a)
	}
	if out := h.must("history", "order-"+id); !strings.Contains(out, "Ana Example orders") {
		t.Errorf("the customer's name does not open any more:\n%s", out)
	}
	if out := h.must("verify"); !strings.HasPrefix(out, "intact: ") {
		t.Errorf("verify says %s", out)
	}
	r.stop()
}

// signIn returns the pair of tokens of a sign-in.
func (r *running) signIn(who serve.Login) answer {
	r.t.Helper()
	return r.ask(200, "POST", "/api/token/", passwordLogin(who.Username, who.Password), "Content-Type", asJSON)
}

// kidOf names the key that signed an access token: its head tells.
func kidOf(a answer) string {
	head, _, _ := strings.Cut(a.body[strings.Index(a.body, "eyJ"):], ".")
	return head
}
