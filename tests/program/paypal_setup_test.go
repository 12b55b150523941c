//go:build system

package program_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/tests/processtest"
)

// An administrator adds an account at PayPal without a payment. The answer that it is kept is
// lost, and so is no method: it is found, saved once, and forgotten when it is removed.
func TestAPayPalAccountIsAddedWithoutAPayment(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	d := processtest.Home{T: t, Dir: s.Config.DataDir}.Demo()
	login := s.ask(200, "POST", s.base+"/api/token/", processtest.PasswordLogin(d.TenantAdmin.Username,
		d.TenantAdmin.Password), "Content-Type", processtest.AsJSON)
	as := []string{"Authorization", "Bearer " + login.Field(t, "access"), "Content-Type", processtest.AsJSON}
	methods := s.base + "/billing/api/v1/payment-methods/"
	begun := s.ask(201, "POST", methods, `{"payment_method":"paypal","consent":true}`, as...)
	if again := s.ask(201, "POST", methods, `{"payment_method":"paypal","consent":true}`,
		as...); again.Body != begun.Body {
		t.Errorf("begun twice: %s and %s", begun.Body, again.Body)
	}
	setup, page := begun.Field(t, "setup"), begun.Field(t, "setup_url")
	if u, err := url.Parse(page); err != nil || u.Path != "/agreements/approve" {
		t.Fatalf("the page is %q", page)
	}
	s.there.Break(paypaltest.Fault{Call: "finish", What: paypaltest.ResetAfter})
	back := s.ask(303, "POST", page, "action=approve", "Content-Type", processtest.AsForm).Header.Get("Location")
	if !strings.Contains(back, "/billing/payment-methods/?setup="+setup) {
		t.Errorf("the customer comes back to %q", back)
	}
	if err := s.Sagas.Payments.Hint(t.Context(), uuid.MustParse(setup), "return"); err != nil {
		t.Fatal(err)
	}
	kept := func() string { return s.ask(200, "GET", methods+"?setup="+setup, "", as...).Body }
	processtest.Eventually(t, "the account is saved\n"+s.log.String(),
		func() bool { return strings.Contains(kept(), `"count":1`) })
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
	processtest.Eventually(t, "PayPal has forgotten the account", func() bool { return s.there.Done("forget", "") == 1 })
	processtest.KeepsSecrets(t, s.log.String(), paypaltest.ClientSecret, "A21AATOKEN", "customer-canary", "PAYER0CANARY")
}
