package stripe_test

import (
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// sold is a session that was paid, and the call that gives some of it back.
func sold(t *testing.T, p *stripe.Provider, s *stripetest.Server) (session string, call order.RefundCall) {
	t.Helper()
	c := checkout()
	session = open(t, p, c).ID
	s.Pay(session)
	reference := "order/" + c.Order.String() + "/refund/1"
	return session, order.RefundCall{
		Installation: panel,
		Order:        c.Order, Number: c.Number, Session: session, Payment: paid(t, p, session).ID, Reference: reference,
		Key: reference, Minor: 1000, Currency: "EUR",
	}
}

func TestARefundIsFoundByItsReference(t *testing.T) {
	p, s := account(t)
	session, call := sold(t, p, s)
	first, err := p.Refund(t.Context(), call)
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Refund(t.Context(), call)
	if err != nil || again != first || s.Created(call.Key) != 1 {
		t.Errorf("the same call again: %+v, %v; %d made", again, err, s.Created(call.Key))
	}
	byHand := s.Refund(call.Payment, 9)
	pay := paid(t, p, session)
	if pay.State != order.StatePaid || pay.Minor != 3509 || len(pay.Refunds) != 2 {
		t.Fatalf("the payment is %+v", pay)
	}
	if pay.Refunds[1] != first || first.Reference != call.Reference || first.Minor != 1000 || first.Currency != "EUR" ||
		first.State != order.RefundSucceeded {
		t.Errorf("asked %+v, found %+v", first, pay.Refunds[1])
	}
	if other := pay.Refunds[0]; other.ID != byHand || other.Reference != "" || other.Minor != 9 {
		t.Errorf("the refund at the dashboard is %+v", other)
	}
}

func TestEveryRefundIsSeenHoweverManyThereAre(t *testing.T) { // S-5
	p, s := account(t)
	session, call := sold(t, p, s)
	for n := 1; n <= 101; n++ {
		s.Refund(call.Payment, 1)
		if n != 10 && n != 11 && n != 101 {
			continue
		}
		seen := map[string]bool{}
		for _, r := range paid(t, p, session).Refunds {
			seen[r.ID] = true
		}
		if len(seen) != n {
			t.Errorf("%d of %d refunds", len(seen), n)
		}
	}
}

func TestARefundMayTakeTimeAndComeBack(t *testing.T) {
	p, s := account(t)
	session, call := sold(t, p, s)
	s.RefundsBecome("pending")
	r, err := p.Refund(t.Context(), call)
	if err != nil || r.State != order.RefundPending {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, step := range []struct {
		status string
		want   order.RefundState
	}{
		{"requires_action", order.RefundPending},
		{"succeeded", order.RefundSucceeded},
		{"failed", order.RefundStopped},
		{"canceled", order.RefundStopped},
		{"never heard of", order.RefundPending},
	} {
		s.SetRefund(r.ID, step.status)
		if got := paid(t, p, session).Refunds[0].State; got != step.want {
			t.Errorf("%s: %s, not %s", step.status, got, step.want)
		}
	}
}

func TestADisputeIsOpenUntilItIsWonOrLost(t *testing.T) {
	p, s := account(t)
	for _, c := range []struct {
		begins, ends string
		want         order.DisputeState
	}{
		{"needs_response", "", order.DisputeOpen},
		{"needs_response", "under_review", order.DisputeOpen},
		{"needs_response", "won", order.DisputeWon},
		{"needs_response", "lost", order.DisputeLost},
		{"warning_needs_response", "", order.DisputeOpen},
		{"warning_needs_response", "warning_closed", order.DisputeWon},
		{"warning_needs_response", "prevented", order.DisputeWon}, // blocked: the money stayed
		{"needs_response", "prevented", order.DisputeLost},        // settled: the money is gone
	} {
		session, call := sold(t, p, s)
		id := s.Dispute(call.Payment, 3509, c.begins)
		if c.ends != "" {
			s.CloseDispute(id, c.ends)
		}
		pay := paid(t, p, session)
		if len(pay.Disputes) != 1 || pay.State != order.StatePaid {
			t.Fatalf("%s, %s: %+v", c.begins, c.ends, pay)
		}
		if d := pay.Disputes[0]; d.ID != id || d.State != c.want || d.Minor != 3509 || d.Currency != "EUR" ||
			time.Since(d.At).Abs() > time.Minute {
			t.Errorf("%s, %s: %+v, not %s", c.begins, c.ends, d, c.want)
		}
	}
}

func TestARefundThatCannotBe(t *testing.T) {
	p, s := account(t)
	_, call := sold(t, p, s)
	much := call
	much.Minor, much.Key = 3510, call.Key+"/much"
	_, err := p.Refund(t.Context(), much)
	wantFailure(t, "more than was paid", err, domain.Permanent, "invalid_request")
	foreign := call
	foreign.Payment, foreign.Key = "pi_nobodys", call.Key+"/foreign"
	_, err = p.Refund(t.Context(), foreign)
	wantFailure(t, "of a payment that is not ours", err, domain.Permanent, "resource_missing")
	s.Refund(call.Payment, 3509)
	_, err = p.Refund(t.Context(), call)
	wantFailure(t, "of what was given back", err, domain.Unknown, "already_refunded")
}

// A failure may be stored although the refund was made, or was not; only a
// look tells which, and only another key gets another answer.
func TestAFailureThatIsStoredComesBackUntilTheKeyIsAnother(t *testing.T) { // S-6, F-21
	for kind, made := range map[stripetest.Kind]int{stripetest.ErrorBefore: 0, stripetest.ErrorAfter: 1} {
		p, s := account(t)
		session, call := sold(t, p, s)
		s.Fail(stripetest.Fault{Call: "refund", Kind: kind})
		_, err := p.Refund(t.Context(), call)
		wantFailure(t, "the failure", err, domain.Unknown, "server_error")
		_, err = p.Refund(t.Context(), call)
		wantFailure(t, "the same key again", err, domain.Unknown, "stored_error")
		if found := paid(t, p, session).Refunds; len(found) != made {
			t.Errorf("%s: %d refunds", kind, len(found))
		}
		call.Key += "/g2"
		if r, err := p.Refund(t.Context(), call); err != nil || r.Reference != call.Reference {
			t.Errorf("%s: under another key: %+v, %v", kind, r, err)
		}
	}
}
