package billing_test

import (
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/http/web"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// Who may add a payment method has to agree, and belongs to the tenant.
func TestAPaymentMethodIsAddedByAnAdministratorWhoAgrees(t *testing.T) {
	t.Parallel()
	s, _, _, _ := indebted(t)
	for _, c := range []struct {
		user, body string
		status     int
		says       string
	}{
		{"ben", `{"payment_method":"test","consent":true}`, http.StatusForbidden, "permission"},
		{"ana", `{"payment_method":"test"}`, http.StatusBadRequest, `{"consent":[`},
		{"ana", `{"payment_method":"test","consent":false}`, http.StatusBadRequest, `{"consent":[`},
		{"ana", `{"payment_method":"stripe","consent":true}`, http.StatusBadRequest, `{"payment_method":[`},
		{"ana", `{"consent":true}`, http.StatusBadRequest, `{"payment_method":[`},
		{"root", `{"payment_method":"test","consent":true}`, http.StatusBadRequest, "Only members of the tenant"},
		{"ana", `{"payment_method":"test","consent":true}`, http.StatusCreated, "/storefront/checkout/test/"},
	} {
		if w := bills(s, c.user, "payment-methods/", c.body); w.Code != c.status ||
			!strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s sends %s: %d %s", c.user, c.body, w.Code, w.Body)
		}
	}
}

// An administrator adds a card in the browser, and reads that it is saved.
func TestACardIsAddedInTheBrowserWithoutAPayment(t *testing.T) {
	t.Parallel()
	s, _, _, _ := indebted(t)
	s.Start(t)
	b := s.Visiting(t, paneltest.Ana)
	paneltest.Has(t, b.Get(web.PaymentMethodsPath).Body.String(), "Add a payment method",
		"The payment provider may keep my payment method", "Nothing is charged now.")
	if w := b.Send(`add_method`, "payment_method", "test"); w.Code != http.StatusBadRequest ||
		!strings.Contains(w.Body.String(), "only if you agree") {
		t.Errorf("without consent: %d %s", w.Code, w.Body)
	}
	page := b.Send("add_method", "payment_method", "test", "consent", "true").Header().Get("Location")
	session := path.Base(page)
	if !strings.HasPrefix(session, "cs_test_") {
		t.Fatalf("the reader is sent to %q", page)
	}
	done, err := s.Provider.Act(t.Context(), order.HostedAction{Session: session, Action: "pay"})
	if err != nil || !done.Setup {
		t.Fatal(done, err)
	}
	back := strings.TrimPrefix(done.ReturnURL, s.Public)
	paneltest.Has(t, b.Get(back).Body.String(), "The payment method is saved.", "visa …4242")
	all, err := s.Tables.For(projections.System).Billing().PaymentMethodsOf(t.Context(), 1, subjectOf(t, s, paneltest.Ana))
	if err != nil || len(all) != 1 || all[0].OrderID != nil ||
		*all[0].SetupID != uuid.MustParse(back[len(web.PaymentMethodsPath)+len("?setup="):]) {
		t.Errorf("saved: %+v %v", all, err)
	}
	if readers := s.Visiting(t, paneltest.Ben).Get(web.PaymentMethodsPath).Body.String(); strings.Contains(readers,
		"Add a payment method") {
		t.Error("A member who does not administer the tenant may add one.")
	}
}
