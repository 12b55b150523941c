package paypal_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.Saver = (*paypal.Provider)(nil)

// consented is a world with a payment whose customer has agreed that the method is kept.
func consented(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.checkout.Save = true
	w.open()
	w.there.Approve(w.session)
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) open() {
	w.Helper()
	s, err := w.OpenSession(w.Context(), w.checkout)
	if err != nil {
		w.Fatal(err)
	}
	w.session = s.ID
}

// charging is a world with a charge of a saved method.
func charging(t *testing.T) *world {
	t.Helper()
	w := consented(t)
	m := w.payment().Saved
	if m == nil {
		t.Fatal("no method was kept")
	}
	w.renew(*m)
	return w
}

// renew is the next order of the customer, which is charged.
func (w *world) renew(m order.SavedMethod) {
	w.Helper()
	w.checkout = someCheckout()
	w.checkout.Saved, w.checkout.ReturnURL, w.checkout.CancelURL = &m, "", ""
	w.open()
}

func (w *world) charge(generation string) error {
	return w.Capture(w.Context(), order.CaptureCall{
		Installation: panel,
		Order:        w.checkout.Order, Session: w.session, Key: "order/" + w.checkout.Order.String() + "/capture" + generation,
		Saved: w.checkout.Saved,
	})
}

// wantCharge checks how far the charge is, and with which code.
func (w *world) wantCharge(state order.SessionState, payment order.PaymentState, code string) {
	w.Helper()
	f, p := w.fetch(), w.payment()
	if f.State != state || !f.ByCapture || f.Order != w.checkout.Order || f.Session != w.session {
		w.Errorf("%+v, not %s", f, state)
	}
	if p.State != payment || p.Code != code || p.Minor != 2870 || p.Currency != "EUR" ||
		p.Payee != paypaltest.Merchant || time.Since(p.At) > time.Minute {
		w.Errorf("%+v, not %s (%s)", p, payment, code)
	}
}

func TestAMethodIsKeptWhereTheCustomerAgrees(t *testing.T) {
	w := consented(t)
	m := w.payment().Saved
	if m == nil || m.Token == "" || *m != (order.SavedMethod{Customer: "cust" + m.Token, Token: m.Token, Kind: "paypal"}) {
		t.Errorf("kept %+v", m)
	}
	if m := paid(t).payment().Saved; m != nil {
		t.Errorf("kept without consent: %+v", m)
	}
}

// PayPal may keep the method some time after the payment; a webhook tells when.
func TestAMethodThatIsKeptLaterIsFoundThen(t *testing.T) {
	w := newWorld(t)
	w.there.Vaulting("APPROVED")
	w.checkout.Save = true
	w.open()
	w.there.Approve(w.session)
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	if p := w.payment(); p.State != order.StatePaid || p.Saved != nil {
		t.Errorf("%+v", p)
	}
	w.there.Take()
	w.there.Keep(w.session)
	told := w.there.Take()[0]
	n, err := w.Verify(told.Raw, told.Header, time.Now())
	if err != nil || !n.Handled || n.ObjectRef != w.session || n.Payment != "" || n.Order != uuid.Nil {
		t.Errorf("%+v, %v", n, err)
	}
	if w.payment().Saved == nil {
		t.Error("the method is not found")
	}
	told = w.there.Tell("VAULT.PAYMENT-TOKEN.CREATED", map[string]any{"id": "nkq2y9g", "customer": map[string]string{"id": "695922590"}})
	if n, err := w.Verify(told.Raw, told.Header, time.Now()); err != nil || n.Handled {
		t.Errorf("a method that was kept without an order: %+v, %v", n, err)
	}
}

func TestAnAccountThatMayKeepNoMethodsIsPaidAllTheSame(t *testing.T) {
	w := newWorld(t)
	w.there.Vaulting("")
	w.checkout.Save = true
	w.open()
	again, err := w.OpenSession(t.Context(), w.checkout)
	if err != nil || again.ID != w.session || w.there.Done("create", "") != 1 {
		t.Errorf("opened again: %+v, %v", again, err)
	}
	w.there.Approve(w.session)
	if err := w.capture(); err != nil {
		t.Fatal(err)
	}
	if p := w.payment(); p.State != order.StatePaid || p.Saved != nil {
		t.Errorf("%+v", p)
	}
}

func TestASavedMethodIsChargedInTwoSteps(t *testing.T) {
	w := charging(t)
	s, err := w.OpenSession(t.Context(), w.checkout)
	if err != nil || s.ID != w.session || s.URL != "" || s.Payee != paypaltest.Merchant || !s.ExpiresAt.Equal(w.checkout.ExpiresAt) {
		t.Errorf("opened again: %+v, %v", s, err)
	}
	if o, _ := w.there.Order(w.session); o.Number != w.checkout.Number || o.Status != "CREATED" || o.Amount.Value != "28.70" {
		t.Errorf("PayPal was told %+v", o)
	}
	w.wantCharge(order.SessionApproved, order.StateCreated, "")
	for range 2 {
		if err := w.charge(""); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.charge("/g2"); err != nil || w.there.Done("capture", "") != 2 { // the page's and this
		t.Errorf("captured %d times, %v", w.there.Done("capture", ""), err)
	}
	w.wantCharge(order.SessionComplete, order.StatePaid, "")
	if _, err := w.refund("1", 1000); err != nil {
		t.Fatal(err)
	}
	if p := w.payment(); len(p.Refunds) != 1 || !strings.HasSuffix(p.Refunds[0].Reference, "/refund/1") {
		t.Errorf("%+v", p)
	}
}

// A refused charge is over: Capture and Fetch say why in the same words.
func TestARefusedChargeTellsWhy(t *testing.T) {
	for issue, code := range map[string]string{
		"INSTRUMENT_DECLINED":                  "instrument_declined",
		"PAYER_CANNOT_PAY":                     "payer_cannot_pay",
		"TRANSACTION_REFUSED":                  "transaction_refused",
		"PAYER_ACTION_REQUIRED":                order.NeedsCustomer,
		"REDIRECT_PAYER_FOR_ALTERNATE_FUNDING": order.NeedsCustomer,
		"TOKEN_ID_NOT_FOUND":                   order.MethodGone,
		"AGREEMENT_ALREADY_CANCELLED":          order.MethodGone,
		"DECLINED":                             "declined",
	} {
		w := charging(t)
		w.there.CaptureAs(issue)
		if class, got := failure(t, w.charge("")); class != domain.Permanent || got != code {
			t.Errorf("%s: %s %s", issue, class, got)
		}
		w.wantCharge(order.SessionComplete, order.StateFailed, code)
		if err := w.ExpireSession(t.Context(), w.session); err != nil {
			t.Error(err)
		}
		silent(t, w)
	}
}

func TestAMethodThatIsGoneIsNotCharged(t *testing.T) {
	w := charging(t)
	w.there.Remove(w.checkout.Saved.Token)
	if class, code := failure(t, w.charge("")); class != domain.Permanent || code != order.MethodGone {
		t.Errorf("%s %s", class, code)
	}
	w.wantCharge(order.SessionComplete, order.StateFailed, order.MethodGone)
	w.checkout.Saved = &order.SavedMethod{Token: "../../v1"}
	calls := w.there.Calls("capture")
	if class, code := failure(t, w.charge("")); class != domain.Permanent || code != order.MethodGone || w.there.Calls("capture") != calls {
		t.Errorf("an id that is none: %s %s", class, code)
	}
}

// PayPal forgets orders. What is gone then is the order, and the method is not.
func TestAChargeThatPayPalHasForgottenIsNoMethodThatIsGone(t *testing.T) {
	w := charging(t)
	w.there.Forget(w.session)
	if class, code := failure(t, w.charge("")); class != domain.Permanent || code != "no_such_session" {
		t.Errorf("%s %s", class, code)
	}
	if f := w.fetch(); f.State != order.SessionExpired {
		t.Errorf("%+v", f)
	}
}

// What has no answer is looked up: PayPal's order tells at once whether money has moved.
func TestAChargeWhoseAnswerIsLostIsLookedUp(t *testing.T) {
	for fault, taken := range map[string]bool{
		paypaltest.FailBefore: false, paypaltest.HangBefore: false, paypaltest.FailAfter: true,
		paypaltest.ResetAfter: true, paypaltest.Garbage: true,
	} {
		w := charging(t)
		w.there.Break(paypaltest.Fault{Call: "capture", What: fault, Times: 2}) // a cut connection is tried once more
		ctx, cancel := context.WithTimeout(t.Context(), patienceOf(fault))
		err := w.Capture(
			ctx,
			order.CaptureCall{
				Order: w.checkout.Order, Session: w.session, Key: "order/" + w.checkout.Order.String() + "/capture",
				Saved: w.checkout.Saved,
			},
		)
		cancel()
		if class, code := failure(t, err); class != domain.Unknown || code != "no_answer" {
			t.Errorf("%s: %s %s", fault, class, code)
		}
		w.there.Repair()
		if taken {
			w.wantCharge(order.SessionComplete, order.StatePaid, "")
		} else {
			w.wantCharge(order.SessionApproved, order.StateCreated, "")
		}
		if err := w.charge(""); err != nil || w.there.Done("capture", "") != 2 {
			t.Errorf("%s: %v, captured %d times", fault, err, w.there.Done("capture", ""))
		}
	}
}

// A refusal that could not be noted is not reported: the charge is made again, and refused
// again.
func TestARefusalIsReportedOnceItIsNoted(t *testing.T) {
	w := charging(t)
	w.there.CaptureAs("INSTRUMENT_DECLINED")
	w.there.Break(paypaltest.Fault{Call: "patch", What: paypaltest.FailBefore})
	if class, _ := failure(t, w.charge("")); class != domain.Unknown {
		t.Errorf("%s", class)
	}
	w.wantCharge(order.SessionApproved, order.StateCreated, "")
	if class, code := failure(t, w.charge("")); class != domain.Permanent || code != "instrument_declined" {
		t.Errorf("%s %s", class, code)
	}
	w.wantCharge(order.SessionComplete, order.StateFailed, "instrument_declined")
}

func TestWhatIsNoRefusalDoesNotEndACharge(t *testing.T) {
	w := charging(t)
	w.there.Break(paypaltest.Fault{Call: "capture", What: paypaltest.Busy})
	if class, code := failure(t, w.charge("")); class != domain.Transient || code != "too_many_calls" {
		t.Errorf("%s %s", class, code)
	}
	w.wantCharge(order.SessionApproved, order.StateCreated, "")
	w.there.CaptureAs("PENDING")
	if err := w.charge(""); err != nil {
		t.Fatal(err)
	}
	w.wantCharge(order.SessionComplete, order.StatePending, "")
	w.there.Settle(w.session, "COMPLETED")
	w.wantCharge(order.SessionComplete, order.StatePaid, "")
}

func TestNewsOfAChargeLeadToIt(t *testing.T) {
	w := charging(t)
	w.there.Take()
	if err := w.charge(""); err != nil {
		t.Fatal(err)
	}
	told := w.there.Take()[0]
	n, err := w.Verify(told.Raw, told.Header, time.Now())
	if err != nil || !n.Handled || n.ObjectRef != w.session || n.Order != w.checkout.Order || n.Payment != w.payment().ID ||
		n.Installation != panel {
		t.Errorf("%+v, %v", n, err)
	}
}

func TestAMethodIsForgottenOnce(t *testing.T) {
	w := consented(t)
	m := *w.payment().Saved
	w.there.Break(paypaltest.Fault{Call: "forget", What: paypaltest.FailAfter})
	if class, _ := failure(t, w.Forget(t.Context(), m)); class != domain.Unknown {
		t.Errorf("no answer: %s", class)
	}
	for range 2 {
		if err := w.Forget(t.Context(), m); err != nil || w.there.Done("forget", "") != 1 {
			t.Errorf("forgotten %d times, %v", w.there.Done("forget", ""), err)
		}
	}
	if class, code := failure(t, w.Forget(t.Context(), order.SavedMethod{Token: "../x"})); class != domain.Permanent ||
		code != "no_such_method" {
		t.Errorf("%s %s", class, code)
	}
}

// The answers in testdata are written as PayPal documents them ("Save PayPal with the Orders
// API", Orders v2, Payment Method Tokens v3).
func TestAnswersAsPayPalDocumentsThemAreRead(t *testing.T) {
	for name, want := range map[string]order.Payment{
		"vaulted":  {State: order.StatePaid, Saved: &order.SavedMethod{Customer: "ROaPMoZUaV", Token: "nkq2y9g", Kind: "paypal"}},
		"approved": {State: order.StatePaid},
		"denied":   {State: order.StateFailed, Code: "pending_review"},
	} {
		p := answered(t, name)
		f, err := p.Fetch(t.Context(), "9YF83379T2523751N")
		if err != nil || len(f.Payments) != 1 {
			t.Errorf("%s: %+v, %v", name, f, err)
			continue
		}
		got := f.Payments[0]
		same := got.Saved == want.Saved || got.Saved != nil && want.Saved != nil && *got.Saved == *want.Saved
		if got.State != want.State || got.Code != want.Code || !same || got.Minor != 10000 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// answered is a provider whose PayPal gives one answer to all questions.
func answered(t *testing.T, name string) *paypal.Provider {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil || !json.Valid(text) {
		t.Fatal(name, err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/token") {
			a.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(a, `{"access_token":"A","token_type":"Bearer","expires_in":32400}`)
			return
		}
		_, _ = a.Write(text)
	}))
	t.Cleanup(s.Close)
	p, err := paypal.New(paypal.Config{ClientID: "a", ClientSecret: "b", URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
