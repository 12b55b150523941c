package stripe_test

import (
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

var _ order.Saver = (*stripe.Provider)(nil)

// consented is a page on which the customer agrees that the method is kept.
func consented() order.Checkout {
	c := checkout()
	c.Save = true
	return c
}

// saved is a method that a customer has paid with and left with Stripe.
func saved(t *testing.T, p *stripe.Provider, s *stripetest.Server) order.SavedMethod {
	t.Helper()
	id := open(t, p, consented()).ID
	s.Pay(id)
	m := paid(t, p, id).Saved
	if m == nil {
		t.Fatal("no method was kept")
	}
	return *m
}

// renewal asks for a charge of a method.
func renewal(m order.SavedMethod) order.Checkout {
	c := checkout()
	c.Saved, c.ReturnURL, c.CancelURL = &m, "", ""
	return c
}

func captureOf(c order.Checkout, session string) order.CaptureCall {
	return order.CaptureCall{Order: c.Order, Session: session, Key: "order/" + c.Order.String() + "/capture", Saved: c.Saved}
}

// wantCharge checks how far a charge is, and with which code.
func wantCharge(t *testing.T, p *stripe.Provider, session string, state order.SessionState, payment order.PaymentState, code string) {
	t.Helper()
	f := fetch(t, p, session)
	if f.State != state || !f.ByCapture || f.Session != session || f.Provider != "stripe" || len(f.Payments) != 1 {
		t.Fatalf("%+v, not %s", f, state)
	}
	pay := f.Payments[0]
	if pay.ID != session || pay.State != payment || pay.Code != code || pay.Minor != 3509 || pay.Currency != "EUR" ||
		time.Since(pay.At).Abs() > time.Minute {
		t.Errorf("%+v, not %s (%s)", pay, payment, code)
	}
}

func TestAMethodIsKeptWhereTheCustomerAgrees(t *testing.T) {
	p, s := account(t)
	c := consented()
	id := open(t, p, c).ID
	asked := s.Calls("open")[0].Params
	if asked["customer_creation"] != "always" || asked["payment_intent_data[setup_future_usage]"] != "off_session" ||
		asked["customer_email"] != c.Email {
		t.Errorf("asked for %v", asked)
	}
	if f := fetch(t, p, id); len(f.Payments) > 0 {
		t.Errorf("before the payment: %+v", f)
	}
	s.Pay(id)
	m := paid(t, p, id).Saved
	if m == nil || !strings.HasPrefix(m.Customer, "cus_") || !strings.HasPrefix(m.Token, "pm_") {
		t.Fatalf("kept %+v", m)
	}
	if *m != (order.SavedMethod{
		Customer: m.Customer, Token: m.Token, Kind: "card", Brand: "visa", Last4: "4242", ExpMonth: 4, ExpYear: 2031,
	}) {
		t.Errorf("kept %+v", *m)
	}
}

func TestNothingIsKeptWithoutConsent(t *testing.T) {
	p, s := account(t)
	id := open(t, p, checkout()).ID
	s.Pay(id)
	if m := paid(t, p, id).Saved; m != nil || len(s.Calls("method")) > 0 {
		t.Errorf("kept %+v in %d calls", m, len(s.Calls("method")))
	}
	free := consented()
	free.Minor = 0
	open(t, p, free)
	if asked := s.Calls("open")[1].Params; asked["customer_creation"] != "" {
		t.Errorf("a page without a payment asks for %v", asked)
	}
}

// A key that may not read methods, or a failure, must not hide that a page was paid.
func TestAPaymentCountsAlsoWhereItsMethodCannotBeRead(t *testing.T) {
	p, s := account(t)
	id := open(t, p, consented()).ID
	s.Pay(id)
	s.Fail(stripetest.Fault{Call: "method", Kind: stripetest.Denied})
	if pay := paid(t, p, id); pay.State != order.StatePaid || pay.Saved != nil {
		t.Errorf("%+v", pay)
	}
	s.Fail(stripetest.Fault{Call: "method", Kind: stripetest.Busy})
	_, err := p.Fetch(t.Context(), id)
	wantFailure(t, "a method that cannot be read now", err, domain.Transient, "rate_limited")
}

func TestASavedMethodIsChargedInTwoSteps(t *testing.T) {
	p, s := account(t)
	c := renewal(saved(t, p, s))
	session := open(t, p, c)
	if session.URL != "" || !session.ExpiresAt.Equal(c.ExpiresAt) || !strings.HasPrefix(session.ID, "pi_") {
		t.Errorf("the session is %+v", session)
	}
	asked := s.Calls("charge")[0]
	for name, want := range map[string]string{
		"amount": "3509", "currency": "eur", "confirm": "false", "customer": c.Saved.Customer,
		"payment_method": c.Saved.Token, "payment_method_types[0]": "card",
		"description": c.Number, "metadata[order_id]": c.Order.String(), "metadata[charge]": "saved_method",
		"metadata[installation]": panel,
	} {
		if asked.Params[name] != want {
			t.Errorf("%s is %q, not %q", name, asked.Params[name], want)
		}
		delete(asked.Params, name)
	}
	if asked.Key != c.EffectKey || len(asked.Params) > 0 {
		t.Errorf("asked under key %q, and also for %v", asked.Key, asked.Params)
	}
	wantCharge(t, p, session.ID, order.SessionApproved, order.StateCreated, "")
	if f := fetch(t, p, session.ID); f.Order != c.Order || f.Live {
		t.Errorf("%+v", f)
	}
	if err := p.Capture(t.Context(), captureOf(c, session.ID)); err != nil {
		t.Fatal(err)
	}
	if confirmed := s.Calls("confirm")[0]; confirmed.Params["off_session"] != "true" || len(confirmed.Params) != 1 ||
		confirmed.Key != captureOf(c, session.ID).Key {
		t.Errorf("confirmed with %+v", confirmed)
	}
	wantCharge(t, p, session.ID, order.SessionComplete, order.StatePaid, "")
	if m := paid(t, p, session.ID).Saved; m == nil || *m != *c.Saved {
		t.Errorf("paid with %+v", m)
	}
}

func TestAChargeIsMadeAndTakenOnce(t *testing.T) {
	p, s := account(t)
	c := renewal(saved(t, p, s))
	first, again := open(t, p, c), open(t, p, c)
	if first != again || s.Created(c.EffectKey) != 1 || len(s.Charges(c.Order.String())) != 1 {
		t.Errorf("%+v, then %+v", first, again)
	}
	call := captureOf(c, first.ID)
	later := call
	later.Key += "/g2"
	for _, call := range []order.CaptureCall{call, call, later} {
		if err := p.Capture(t.Context(), call); err != nil {
			t.Errorf("%s: %v", call.Key, err)
		}
	}
	if s.Created(call.Key)+s.Created(later.Key) != 1 {
		t.Errorf("taken %d times", s.Created(call.Key)+s.Created(later.Key))
	}
}

// lose orders a fault for a call over a connection that was used before. The HTTP client
// repeats such a call once, with its key, if the connection is cut.
func lose(s *stripetest.Server, call string, kind stripetest.Kind) {
	s.Fail(stripetest.Fault{Call: call, Kind: kind, Times: 2})
}

// What has no answer is looked up: the books tell at once whether money has moved.
func TestAChargeWhoseAnswerIsLostIsLookedUp(t *testing.T) {
	for kind, taken := range map[stripetest.Kind]bool{
		stripetest.ResetBefore: false, stripetest.ErrorBefore: false, stripetest.ResetAfter: true,
		stripetest.ErrorAfter: true, stripetest.Garbage: true,
	} {
		p, s := account(t)
		c := renewal(saved(t, p, s))
		lose(s, "charge", stripetest.ResetAfter)
		_, err := p.OpenSession(t.Context(), c)
		wantFailure(t, "the charge", err, domain.Unknown, "no_answer")
		s.Repair()
		id := open(t, p, c).ID
		if made := len(s.Charges(c.Order.String())); made != 1 {
			t.Errorf("%s: %d charges", kind, made)
		}
		lose(s, "confirm", kind)
		if err := p.Capture(t.Context(), captureOf(c, id)); domain.ClassOf(err) != domain.Unknown {
			t.Errorf("%s: %v", kind, err)
		}
		s.Repair()
		if taken {
			wantCharge(t, p, id, order.SessionComplete, order.StatePaid, "")
			continue
		}
		wantCharge(t, p, id, order.SessionApproved, order.StateCreated, "")
		call := captureOf(c, id)
		call.Key += "/g2" // the first may be one of a stored failure
		if err := p.Capture(t.Context(), call); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A refused charge is over: Capture and Fetch say why in the same words, and no call tries
// it again.
func TestARefusedChargeTellsWhy(t *testing.T) {
	for outcome, code := range map[string]string{
		"card_declined insufficient_funds":                "insufficient_funds",
		"card_declined generic_decline":                   "generic_decline",
		"expired_card expired_card":                       "expired_card",
		"processing_error":                                "processing_error",
		"authentication_required":                         order.NeedsCustomer,
		"card_declined authentication_required":           order.NeedsCustomer,
		"requires_action":                                 order.NeedsCustomer,
		"refused charge_exceeds_source_limit":             "charge_exceeds_source_limit",
		"refused payment_method_unexpected_state":         order.MethodGone,
		"authentication_required authentication_required": order.NeedsCustomer,
	} {
		p, s := account(t)
		c := renewal(saved(t, p, s))
		id := open(t, p, c).ID
		s.ChargesBecome(outcome)
		call := captureOf(c, id)
		wantFailure(t, outcome, p.Capture(t.Context(), call), domain.Permanent, code)
		wantCharge(t, p, id, order.SessionComplete, order.StateFailed, code)
		s.ChargesBecome("succeeded")
		wantFailure(t, outcome+", the same key again", p.Capture(t.Context(), call), domain.Permanent, code)
		if !strings.HasPrefix(outcome, "refused ") {
			call.Key += "/g2"
			wantFailure(t, outcome+", another key", p.Capture(t.Context(), call), domain.Permanent, code)
		}
		if err := p.ExpireSession(t.Context(), id); err != nil {
			t.Errorf("%s: %v", outcome, err)
		}
		if outcome != "requires_action" && !strings.HasPrefix(outcome, "refused ") {
			wantCharge(t, p, id, order.SessionComplete, order.StateFailed, code) // calling it off would have erased the reason
		}
	}
}

func TestAMethodThatIsGoneIsNotCharged(t *testing.T) {
	p, s := account(t)
	m := saved(t, p, s)
	c := renewal(m)
	id := open(t, p, c).ID
	s.Detach(m.Token)
	wantCharge(t, p, id, order.SessionComplete, order.StateFailed, order.MethodGone)
	wantFailure(t, "a charge of it", p.Capture(t.Context(), captureOf(c, id)), domain.Permanent, order.MethodGone)
	wantCharge(t, p, id, order.SessionComplete, order.StateFailed, order.MethodGone)
	_, err := p.OpenSession(t.Context(), renewal(m))
	wantFailure(t, "the next charge", err, domain.Permanent, order.MethodGone)
	_, err = p.OpenSession(t.Context(), renewal(order.SavedMethod{Customer: "cus_1", Token: "pm_none", Kind: "card"}))
	wantFailure(t, "a method that never was", err, domain.Permanent, order.MethodGone)
}

func TestAKeyThatIsRefusedDoesNotEndACharge(t *testing.T) {
	p, s := account(t)
	c := renewal(saved(t, p, s))
	id := open(t, p, c).ID
	s.Fail(stripetest.Fault{Call: "confirm", Kind: stripetest.Denied})
	wantFailure(t, "the key", p.Capture(t.Context(), captureOf(c, id)), domain.Permanent, "auth_refused")
	s.Fail(stripetest.Fault{Call: "confirm", Kind: stripetest.Busy})
	wantFailure(t, "too many calls", p.Capture(t.Context(), captureOf(c, id)), domain.Transient, "rate_limited")
	wantCharge(t, p, id, order.SessionApproved, order.StateCreated, "")
	if err := p.Capture(t.Context(), captureOf(c, id)); err != nil {
		t.Error(err)
	}
}

func TestABankMayTakeItsTimeWithACharge(t *testing.T) {
	for outcome, want := range map[string]struct {
		state order.PaymentState
		code  string
	}{"succeeded": {order.StatePaid, ""}, "card_declined insufficient_funds": {order.StateFailed, "insufficient_funds"}} {
		p, s := account(t)
		c := renewal(saved(t, p, s))
		id := open(t, p, c).ID
		s.ChargesBecome("processing")
		if err := p.Capture(t.Context(), captureOf(c, id)); err != nil {
			t.Fatal(err)
		}
		wantCharge(t, p, id, order.SessionComplete, order.StatePending, "")
		if err := p.ExpireSession(t.Context(), id); err != nil {
			t.Error(err)
		}
		s.SettleCharge(id, outcome)
		wantCharge(t, p, id, order.SessionComplete, want.state, want.code)
	}
}

func TestAChargeThatIsCalledOffCannotBePaid(t *testing.T) { // T10
	p, s := account(t)
	m := saved(t, p, s)
	c := renewal(m)
	id := open(t, p, c).ID
	for range 2 {
		if err := p.ExpireSession(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if f := fetch(t, p, id); f.State != order.SessionExpired || len(f.Payments) != 0 || !f.ByCapture {
		t.Errorf("%+v", f)
	}
	wantFailure(t, "a charge of it", p.Capture(t.Context(), captureOf(c, id)), domain.Permanent, "canceled")
	c = renewal(m)
	id = open(t, p, c).ID
	s.Fail(stripetest.Fault{Call: "cancel", Kind: stripetest.ErrorBefore}) // it is stored under the key
	wantFailure(t, "the first try", p.ExpireSession(t.Context(), id), domain.Unknown, "server_error")
	if err := p.Capture(t.Context(), captureOf(c, id)); err != nil {
		t.Fatal(err)
	}
	if err := p.ExpireSession(t.Context(), id); err != nil {
		t.Errorf("a paid one: %v", err)
	}
	wantCharge(t, p, id, order.SessionComplete, order.StatePaid, "")
	wantFailure(t, "none", p.ExpireSession(t.Context(), "pi_none"), domain.Permanent, "resource_missing")
}

func TestAChargeIsGivenBackAndDisputedAsAnyPayment(t *testing.T) {
	p, s := account(t)
	c := renewal(saved(t, p, s))
	id := open(t, p, c).ID
	if err := p.Capture(t.Context(), captureOf(c, id)); err != nil {
		t.Fatal(err)
	}
	reference := "order/" + c.Order.String() + "/refund/1"
	r, err := p.Refund(t.Context(), order.RefundCall{
		Order: c.Order, Number: c.Number, Session: id, Payment: id, Reference: reference, Key: reference, Minor: 1000, Currency: "EUR",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Dispute(id, 2509, "needs_response")
	pay := paid(t, p, id)
	if len(pay.Refunds) != 1 || pay.Refunds[0] != r || r.Reference != reference || len(pay.Disputes) != 1 || pay.Minor != 3509 {
		t.Errorf("%+v", pay)
	}
}

// The payment of a page is no session, so that no caller can confirm or call it off.
func TestThePaymentOfAPageIsNoCharge(t *testing.T) {
	p, s := account(t)
	page := open(t, p, consented()).ID
	s.Pay(page)
	pay := paid(t, p, page)
	_, err := p.Fetch(t.Context(), pay.ID)
	wantFailure(t, "fetch", err, domain.Permanent, "resource_missing")
	wantFailure(t, "expire", p.ExpireSession(t.Context(), pay.ID), domain.Permanent, "resource_missing")
	wantFailure(
		t, "capture", p.Capture(t.Context(), order.CaptureCall{Session: pay.ID, Key: "k", Saved: pay.Saved}),
		domain.Permanent, "resource_missing",
	)
	wantFailure(t, "capture a page", p.Capture(t.Context(), order.CaptureCall{Session: page, Key: "k"}), domain.Permanent, "not_supported")
}
