package billing_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

const billingAPI = "/billing/api/v1/"

// bills makes a call of the API of billing as a user.
func bills(s *paneltest.Shop, user, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.Call(http.MethodPost, billingAPI+path, body, append(paneltest.Bearer(s.Known[user]), headers...)...)
}

// indebted are tenants 1 and 2 with a service each, and an open invoice for it.
func indebted(t *testing.T) (s *paneltest.Shop, service, own, other uuid.UUID) {
	t.Helper()
	s = paneltest.Open(t).People(t)
	service, _ = s.Billed(t, 1)
	foreign, _ := s.Billed(t, 2)
	return s, service, s.Owes(t, 1, service), s.Owes(t, 2, foreign)
}

func TestAdministratorsPayAndCancelAndOperatorsSettle(t *testing.T) {
	t.Parallel()
	s, _, own, other := indebted(t)
	const settled, waived = `{"payment_method":"cash","reference":"Receipt 7"}`, `{"reason":"A gift."}`
	invoice, foreign, subscription := "invoices/"+own.String()+"/", "invoices/"+other.String()+"/",
		"subscriptions/"+s.Subscribed(t, 1).String()+"/"
	for _, c := range []struct {
		user, path, body string
		status           int
	}{
		{"eve", invoice + "pay/", "{}", http.StatusForbidden},
		{"ben", invoice + "pay/", "{}", http.StatusForbidden},
		{"ben", subscription + "cancel/", "", http.StatusForbidden},
		{"ben", subscription + "resume/", "", http.StatusForbidden},
		{"ana", foreign + "pay/", "{}", http.StatusNotFound},
		{"ana", invoice + "pay/", `{"payment_method":"paypal"}`, http.StatusBadRequest},
		{"ana", invoice + "mark_paid/", settled, http.StatusForbidden},
		{"ana", invoice + "waive/", waived, http.StatusForbidden},
		{"root", invoice + "mark_paid/", `{"payment_method":"stripe"}`, http.StatusBadRequest},
		{"root", invoice + "waive/", "{}", http.StatusBadRequest},
		{"ana", invoice + "pay/", "{}", http.StatusOK},
		{"root", invoice + "pay/", `{"payment_method":"test"}`, http.StatusOK},
		{"ana", subscription + "resume/", "", http.StatusOK}, // it is not cancelled
		{"root", invoice + "mark_paid/", settled, http.StatusOK},
		{"root", foreign + "waive/", waived, http.StatusOK},
		{"ana", subscription + "cancel/", "", http.StatusOK},
		{"ana", subscription + "cancel/", "", http.StatusOK}, // once more
		{"root", subscription + "resume/", "", http.StatusOK},
	} {
		if w := bills(s, c.user, c.path, c.body); w.Code != c.status {
			t.Errorf("%s %s as %s: %d %s, want %d", c.path, c.body, c.user, w.Code, w.Body, c.status)
		}
	}
	var shown struct {
		Status    string  `json:"status"`
		Method    string  `json:"payment_method"`
		Reference *string `json:"reference"`
	}
	paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+invoice, "", paneltest.Bearer(s.Known["root"])...),
		http.StatusOK, &shown)
	if shown.Status != string(billing.Paid) || shown.Method != "cash" || shown.Reference == nil ||
		*shown.Reference != "Receipt 7" {
		t.Errorf("settled: %+v", shown)
	}
	shown.Reference = nil
	paneltest.Decode(t, s.Call(http.MethodGet, billingAPI+invoice, "", paneltest.Bearer(s.Known["ana"])...), http.StatusOK,
		&shown)
	if shown.Reference != nil {
		t.Error("the customer is shown the reference in the books")
	}
	for name, times := range map[string]int{
		"billing.period_renewed": 2, "billing.cancellation_requested": 1,
		"billing.cancellation_revoked": 1,
	} {
		if n := s.Events(t, name); n != times {
			t.Errorf("%d × %s instead of %d", n, name, times)
		}
	}
}

func TestAHundredPaymentsOfAnInvoiceAtOnceAreOneOrder(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	before := s.Events(t, "order.placed")
	answers := s.AtOnce(100, func(int) *httptest.ResponseRecorder {
		return bills(s, "ana",
			"invoices/"+own.String()+"/pay/", "{}")
	})
	for _, one := range answers {
		if one.Code != http.StatusOK || one.Body.String() != answers[0].Body.String() {
			t.Fatalf("%s, and %d %s", answers[0].Body, one.Code, one.Body)
		}
	}
	if n := s.Events(t, "order.placed") - before; n != 1 {
		t.Errorf("%d orders", n)
	}
}

// Who cannot pay because the service rests would never come back.
func TestACustomerWhoseServiceRestsCanPay(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	s.Do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: 1}, By: hosting.ByInvoice})
	if w := s.Call(http.MethodPost, "/hosting/api/rest/sites/", `{"domain":"resting.example"}`,
		paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusForbidden {
		t.Errorf("a tenant that rests makes a site: %d %s", w.Code, w.Body)
	}
	if w := bills(s, "ana", "invoices/"+own.String()+"/pay/", "{}"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnInvoiceThatIsNotOpenIsNeitherPaidNorWaived(t *testing.T) {
	t.Parallel()
	s, service, own, _ := indebted(t)
	invoice := "invoices/" + own.String() + "/"
	const settled = `{"payment_method":"bank_transfer","reference":"Statement 12"}`
	if w := bills(s, "root", invoice+"mark_paid/", settled, "If-Match",
		`"invoice-`+own.String()+`-9"`); w.Code != http.StatusPreconditionFailed {
		t.Errorf("another version: %d %s", w.Code, w.Body)
	}
	tag := s.Call(http.MethodGet, billingAPI+invoice, "", paneltest.Bearer(s.Known["root"])...).Header().Get("ETag")
	first := bills(s, "root", invoice+"mark_paid/", settled, "If-Match", tag, "Idempotency-Key", "once")
	again := bills(s, "root", invoice+"mark_paid/", settled, "If-Match", tag, "Idempotency-Key", "once")
	if first.Code != http.StatusOK || again.Code != http.StatusOK || again.Header().Get("Idempotent-Replayed") != "true" ||
		first.Body.String() != again.Body.String() {
		t.Errorf("%d %s, and again %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	for path, body := range map[string]string{
		invoice + "pay/": "{}", invoice + "mark_paid/": settled, invoice + "waive/": `{"reason":"A gift."}`,
		"invoices/" + service.String() + "/pay/": "{}",
	} {
		w := bills(s, "root", path, body)
		if w.Code != http.StatusConflict || w.Header().Get("X-Error-Code") != "invoice_not_open" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Without a page of the provider the order waits, and a repeat goes on with it.
func TestAPaymentWithoutAPageIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	if _, err := s.Provider.Faults().Order(t.Context(),
		faults.Fault{Call: faults.Create, Kind: "session", What: faults.ErrorBefore, Times: 2}); err != nil {
		t.Fatal(err)
	}
	path, key := "invoices/"+own.String()+"/pay/", []string{"Idempotency-Key", "pay-once"}
	w := bills(s, "ana", path, `{"payment_method":"test"}`, key...)
	waiting := paneltest.Read(t, w)
	if w.Code != http.StatusServiceUnavailable || waiting.Code != "payment_provider_unavailable" ||
		w.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w = bills(s, "ana", path, `{"payment_method":"test"}`, key...)
	if a := paneltest.Read(t, w); w.Code != http.StatusOK || a.ID != waiting.ID || a.URL == "" ||
		a.Status != string(order.StatusPaymentProcessing) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A payment that was begun is not gone on with for one who has left the tenant since.
func TestABegunPaymentIsOfTheTenantsPeopleAlone(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	if _, err := s.Provider.Faults().Order(t.Context(),
		faults.Fault{Call: faults.Create, Kind: "session", What: faults.ErrorBefore, Times: 2}); err != nil {
		t.Fatal(err)
	}
	path, key := "invoices/"+own.String()+"/pay/", []string{"Idempotency-Key", "pay-once"}
	if w := bills(s, "ana", path, "{}", key...); w.Code != http.StatusServiceUnavailable {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: 2, Role: account.Admin, At: time.Now()},
		account.RevokeMembership{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	if w := bills(s, "ana", path, "{}", key...); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
