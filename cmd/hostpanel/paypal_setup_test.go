package main

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/paypal/paypaltest"
)

// An administrator adds an account at PayPal without a payment. The answer that it is kept is
// lost, and so is no method: it is found, saved once, and forgotten when it is removed.
func TestAPayPalAccountIsAddedWithoutAPayment(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	d := home{t: t, dir: s.Config.DataDir}.demo()
	login := s.ask(200, "POST", s.base+"/api/token/", passwordLogin(d.TenantAdmin.Username, d.TenantAdmin.Password), "Content-Type", asJSON)
	as := []string{"Authorization", "Bearer " + login.field(t, "access"), "Content-Type", asJSON}
	methods := s.base + "/billing/api/v1/payment-methods/"
	begun := s.ask(201, "POST", methods, `{"payment_method":"paypal","consent":true}`, as...)
	if again := s.ask(201, "POST", methods, `{"payment_method":"paypal","consent":true}`, as...); again.body != begun.body {
		t.Errorf("begun twice: %s and %s", begun.body, again.body)
	}
	setup, page := begun.field(t, "setup"), begun.field(t, "setup_url")
	if u, err := url.Parse(page); err != nil || u.Path != "/agreements/approve" {
		t.Fatalf("the page is %q", page)
	}
	s.there.Break(paypaltest.Fault{Call: "finish", What: paypaltest.ResetAfter})
	back := s.ask(303, "POST", page, "action=approve", "Content-Type", asForm).header.Get("Location")
	if !strings.Contains(back, "/billing/payment-methods/?setup="+setup) {
		t.Errorf("the customer comes back to %q", back)
	}
	if err := s.Sagas.Payments.Hint(t.Context(), uuid.MustParse(setup), "return"); err != nil {
		t.Fatal(err)
	}
	kept := func() string { return s.ask(200, "GET", methods+"?setup="+setup, "", as...).body }
	eventually(t, "the account is saved\n"+s.log.String(), patience, func() bool { return strings.Contains(kept(), `"count":1`) })
	for _, told := range s.there.Take() {
		if status := s.tell(told); status != 200 {
			t.Errorf("%s: %d", told.Type, status)
		}
	}
	if n := s.there.Done("finish", ""); n != 1 || s.there.Done("create", "") != 0 {
		t.Errorf("kept %d times", n)
	}
	_, id, _ := strings.Cut(kept(), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	s.ask(204, "DELETE", methods+id+"/", "", as...)
	eventually(t, "PayPal has forgotten the account", patience, func() bool { return s.there.Done("forget", "") == 1 })
	keepsSecrets(t, s.log.String(), paypaltest.ClientSecret, "A21AATOKEN", "customer-canary", "PAYER0CANARY")
}
