package http_test

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
)

const billingAPI = "/billing/api/v1/"

// bills makes a call of the API of billing as a user.
func (s *shop) bills(user, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.call(http.MethodPost, billingAPI+path, body, append(bearer(s.known[user]), headers...)...)
}

// indebted are tenants 1 and 2 with a service each, and an open invoice for it.
func indebted(t *testing.T) (s *shop, service, own, other uuid.UUID) {
	t.Helper()
	s = openShop(t).people(t)
	service, _ = s.billed(t, 1)
	foreign, _ := s.billed(t, 2)
	return s, service, s.owes(t, 1, service), s.owes(t, 2, foreign)
}

// subscribed starts a subscription whose period is not over.
func (s *shop) subscribed(t testing.TB, tenant int64) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.do(t, billing.Subscribe{
		Order: id, Tenant: tenant, User: ben, Plan: 2, PlanName: "Grande", BillingPeriod: "yearly", Price: price("99"), Currency: "EUR", At: time.Now(), Terms: billing.UsualTerms,
	})
	return id
}

func TestAdministratorsPayAndCancelAndOperatorsSettle(t *testing.T) {
	t.Parallel()
	s, _, own, other := indebted(t)
	const settled, waived = `{"payment_method":"cash","reference":"Receipt 7"}`, `{"reason":"A gift."}`
	invoice, foreign, subscription := "invoices/"+own.String()+"/", "invoices/"+other.String()+"/", "subscriptions/"+s.subscribed(t, 1).String()+"/"
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
		if w := s.bills(c.user, c.path, c.body); w.Code != c.status {
			t.Errorf("%s %s as %s: %d %s, want %d", c.path, c.body, c.user, w.Code, w.Body, c.status)
		}
	}
	var shown struct {
		Status    string  `json:"status"`
		Method    string  `json:"payment_method"`
		Reference *string `json:"reference"`
	}
	decode(t, s.call(http.MethodGet, billingAPI+invoice, "", bearer(s.known["root"])...), http.StatusOK, &shown)
	if shown.Status != string(billing.Paid) || shown.Method != "cash" || shown.Reference == nil || *shown.Reference != "Receipt 7" {
		t.Errorf("settled: %+v", shown)
	}
	shown.Reference = nil
	decode(t, s.call(http.MethodGet, billingAPI+invoice, "", bearer(s.known["ana"])...), http.StatusOK, &shown)
	if shown.Reference != nil {
		t.Error("the customer is shown the reference in the books")
	}
	for name, times := range map[string]int{"billing.period_renewed": 2, "billing.cancellation_requested": 1, "billing.cancellation_revoked": 1} {
		if n := s.events(t, name); n != times {
			t.Errorf("%d × %s instead of %d", n, name, times)
		}
	}
}

func TestAHundredPaymentsOfAnInvoiceAtOnceAreOneOrder(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	before := s.events(t, "order.placed")
	answers := s.atOnce(100, func(int) *httptest.ResponseRecorder { return s.bills("ana", "invoices/"+own.String()+"/pay/", "{}") })
	for _, one := range answers {
		if one.Code != http.StatusOK || one.Body.String() != answers[0].Body.String() {
			t.Fatalf("%s, and %d %s", answers[0].Body, one.Code, one.Body)
		}
	}
	if n := s.events(t, "order.placed") - before; n != 1 {
		t.Errorf("%d orders", n)
	}
}

// Who cannot pay because the service rests would never come back.
func TestACustomerWhoseServiceRestsCanPay(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	s.do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: 1}, By: hosting.ByInvoice})
	if w := s.call(http.MethodPost, "/hosting/api/rest/sites/", `{"domain":"resting.example"}`, bearer(s.known["ana"])...); w.Code != http.StatusForbidden {
		t.Errorf("a tenant that rests makes a site: %d %s", w.Code, w.Body)
	}
	if w := s.bills("ana", "invoices/"+own.String()+"/pay/", "{}"); w.Code != http.StatusOK {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnInvoiceThatIsNotOpenIsNeitherPaidNorWaived(t *testing.T) {
	t.Parallel()
	s, service, own, _ := indebted(t)
	invoice := "invoices/" + own.String() + "/"
	const settled = `{"payment_method":"bank_transfer","reference":"Statement 12"}`
	if w := s.bills("root", invoice+"mark_paid/", settled, "If-Match", `"invoice-`+own.String()+`-9"`); w.Code != http.StatusPreconditionFailed {
		t.Errorf("another version: %d %s", w.Code, w.Body)
	}
	tag := s.call(http.MethodGet, billingAPI+invoice, "", bearer(s.known["root"])...).Header().Get("ETag")
	first := s.bills("root", invoice+"mark_paid/", settled, "If-Match", tag, "Idempotency-Key", "once")
	again := s.bills("root", invoice+"mark_paid/", settled, "If-Match", tag, "Idempotency-Key", "once")
	if first.Code != http.StatusOK || again.Code != http.StatusOK || again.Header().Get("Idempotent-Replayed") != "true" || first.Body.String() != again.Body.String() {
		t.Errorf("%d %s, and again %d %s", first.Code, first.Body, again.Code, again.Body)
	}
	for path, body := range map[string]string{
		invoice + "pay/": "{}", invoice + "mark_paid/": settled, invoice + "waive/": `{"reason":"A gift."}`, "invoices/" + service.String() + "/pay/": "{}",
	} {
		w := s.bills("root", path, body)
		if w.Code != http.StatusConflict || w.Header().Get("X-Error-Code") != "invoice_not_open" {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Without a page of the provider the order waits, and a repeat goes on with it.
func TestAPaymentWithoutAPageIsTriedAgain(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	if _, err := s.provider.Faults().Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "session", What: faults.ErrorBefore, Times: 2}); err != nil {
		t.Fatal(err)
	}
	path, key := "invoices/"+own.String()+"/pay/", []string{"Idempotency-Key", "pay-once"}
	w := s.bills("ana", path, `{"payment_method":"test"}`, key...)
	waiting := read(t, w)
	if w.Code != http.StatusServiceUnavailable || waiting.Code != "payment_provider_unavailable" || w.Header().Get("Retry-After") == "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	w = s.bills("ana", path, `{"payment_method":"test"}`, key...)
	if a := read(t, w); w.Code != http.StatusOK || a.ID != waiting.ID || a.URL == "" || a.Status != string(order.StatusPaymentProcessing) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// A payment that was begun is not gone on with for one who has left the tenant since.
func TestABegunPaymentIsOfTheTenantsPeopleAlone(t *testing.T) {
	t.Parallel()
	s, _, own, _ := indebted(t)
	if _, err := s.provider.Faults().Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "session", What: faults.ErrorBefore, Times: 2}); err != nil {
		t.Fatal(err)
	}
	path, key := "invoices/"+own.String()+"/pay/", []string{"Idempotency-Key", "pay-once"}
	if w := s.bills("ana", path, "{}", key...); w.Code != http.StatusServiceUnavailable {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	s.do(t, account.GrantMembership{User: ana, Tenant: 2, Role: account.Admin, At: time.Now()}, account.RevokeMembership{User: ana, Tenant: 1, At: time.Now()})
	if w := s.bills("ana", path, "{}", key...); w.Code != http.StatusNotFound {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
