package test_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/faults"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// paidSession is a session that was paid on the page.
func paidSession(t *testing.T) (*test.Provider, uuid.UUID, order.Fetched) {
	t.Helper()
	p, _, id, session := opened(t)
	if _, err := p.Act(t.Context(), order.HostedAction{Session: session, Action: "pay"}); err != nil {
		t.Fatal(err)
	}
	return p, id, fetch(t, p, session)
}

func refundOf(id uuid.UUID, f order.Fetched, n int, minor int64) order.RefundCall {
	reference := fmt.Sprintf("order/%s/refund/%d", id, n)
	return order.RefundCall{
		Order: id, Session: f.Session, Payment: f.Payments[0].ID, Reference: reference, Key: reference, Minor: minor,
		Currency: "EUR",
	}
}

func TestARefundIsMadeOncePerKey(t *testing.T) { // X-1, N-9
	p, id, f := paidSession(t)
	first, err := p.Refund(t.Context(), refundOf(id, f, 1, 1000))
	if err != nil {
		t.Fatal(err)
	}
	again, err := p.Refund(t.Context(), refundOf(id, f, 1, 1000))
	if err != nil || again.ID != first.ID {
		t.Fatalf("the same key made %+v, %v", again, err)
	}
	other, err := p.Refund(t.Context(), refundOf(id, f, 2, 2509))
	if err != nil {
		t.Fatal(err)
	}
	pay := fetch(t, p, f.Session).Payments[0]
	if pay.State != order.StatePaid || len(pay.Refunds) != 2 || pay.Refunds[0].Reference == "" {
		t.Fatalf("the books have %+v", pay)
	}
	for _, r := range pay.Refunds {
		if r.ID != first.ID && r.ID != other.ID || r.State != order.RefundSucceeded || r.Currency != "EUR" {
			t.Errorf("the books have %+v", r)
		}
	}
}

func TestNoMoreIsGivenBackThanThereIs(t *testing.T) {
	p, id, f := paidSession(t)
	for name, change := range map[string]func(*order.RefundCall){
		"too much":         func(c *order.RefundCall) { c.Minor = 3510 },
		"nothing":          func(c *order.RefundCall) { c.Minor = 0 },
		"another currency": func(c *order.RefundCall) { c.Currency = "USD" },
		"another payment":  func(c *order.RefundCall) { c.Payment = "pay_other" },
		"another session":  func(c *order.RefundCall) { c.Session = "cs_test_other" },
	} {
		c := refundOf(id, f, 1, 3509)
		change(&c)
		if _, err := p.Refund(t.Context(), c); domain.ClassOf(err) != domain.Permanent {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 1, 3000)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 1, 2000)); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("the same key for another amount: %v", err)
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 2, 510)); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("more than what is left: %v", err)
	}
	if n := len(fetch(t, p, f.Session).Payments[0].Refunds); n != 1 {
		t.Errorf("%d refunds", n)
	}
}

func TestARefundWhoseAnswerIsLostIsInTheBooks(t *testing.T) { // F-12
	p, id, f := paidSession(t)
	if _, err := p.Faults().Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "refund", What: faults.ErrorAfter}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 1, 3509)); domain.ClassOf(err) != domain.Unknown {
		t.Fatalf("got %v", err)
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 1, 3509)); err != nil {
		t.Fatal(err)
	}
	if n := len(fetch(t, p, f.Session).Payments[0].Refunds); n != 1 {
		t.Errorf("%d refunds", n)
	}
}

// back is the body of an event about money that goes back.
func back(event, kind, session, payment, more string, amount int64) []byte {
	return fmt.Appendf(nil, `{"id":%q,"type":%q,"data":{"object":{"id":%q,"amount_total":%d,"currency":"eur","payment_id":%q%s}}}`,
		event, kind, session, amount, payment, more)
}

func TestRefundsFromOutsideAreBookedOnceAndMayFailAfterwards(t *testing.T) { // X-1, I-15
	p, _, f := paidSession(t)
	apply(t, p, back("re_1", "refund.created", f.Session, "", "", 500))
	apply(t, p, back("re_1", "refund.created", f.Session, "", "", 500))
	apply(t, p, back("re_2", "refund.created", f.Session, "", `,"status":"pending"`, 700))
	apply(t, p, back("re_early", "refund.created", f.Session, "pay_later", "", 100)) // its payment is yet to come
	pay := fetch(t, p, f.Session).Payments[0]
	if len(pay.Refunds) != 2 || pay.Refunds[0].State != order.RefundSucceeded ||
		pay.Refunds[1].State != order.RefundPending || pay.Refunds[0].Reference != "" {
		t.Fatalf("the books have %+v", pay.Refunds)
	}
	apply(t, p, back("evt_2", "refund.updated", f.Session, "", `,"refund_id":"re_2","status":"succeeded"`, 700))
	apply(t, p, back("evt_1", "refund.updated", f.Session, "", `,"refund_id":"re_1","status":"failed"`, 500))
	apply(t, p, back("evt_0", "refund.updated", f.Session, "", `,"refund_id":"re_1","status":"succeeded"`, 500)) // old news
	pay = fetch(t, p, f.Session).Payments[0]
	if len(pay.Refunds) != 2 || pay.Refunds[0].State != order.RefundStopped || pay.Refunds[1].State != order.RefundSucceeded {
		t.Fatalf("the books have %+v", pay.Refunds)
	}
	apply(t, p, body("checkout.session.completed", f.Session, "", 3509, "eur", "paid", "pay_later"))
	for _, pay := range fetch(t, p, f.Session).Payments {
		if pay.ID == "pay_later" && (len(pay.Refunds) != 1 || pay.Refunds[0].ID != "re_early") {
			t.Errorf("the refund that came before its payment: %+v", pay.Refunds)
		}
	}
}

func TestDisputesAreOpenedAndDecidedBySignedEvents(t *testing.T) {
	p, id, f := paidSession(t)
	apply(t, p, back("dp_1", "charge.dispute.created", f.Session, "", "", 3509))
	disputes := fetch(t, p, f.Session).Payments[0].Disputes
	if len(disputes) != 1 || disputes[0].ID != "dp_1" || disputes[0].State != order.DisputeOpen || disputes[0].Minor != 3509 {
		t.Fatalf("the books have %+v", disputes)
	}
	apply(t, p, back("evt_1", "charge.dispute.closed", f.Session, "", `,"dispute_id":"dp_1","status":"lost"`, 3509))
	apply(t, p, back("evt_2", "charge.dispute.closed", f.Session, "", `,"dispute_id":"dp_1","status":"won"`, 3509))
	apply(t, p, back("dp_1", "charge.dispute.created", f.Session, "", "", 3509))
	if disputes = fetch(t, p, f.Session).Payments[0].Disputes; len(disputes) != 1 || disputes[0].State != order.DisputeLost {
		t.Fatalf("the books have %+v", disputes)
	}
	if _, err := p.Refund(t.Context(), refundOf(id, f, 1, 1)); domain.ClassOf(err) != domain.Permanent {
		t.Errorf("what the bank has taken cannot be given back: %v", err)
	}
	if err := p.Apply(t.Context(), back("evt_3", "charge.dispute.closed", f.Session, "", "", 1)); domain.CodeOf(err) != domain.Invalid {
		t.Errorf("a dispute that is closed without an outcome: %v", err)
	}
}
