package order_test

import (
	"slices"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// T7.
func TestAConfirmedPaymentMakesTheOrderPaid(t *testing.T) {
	given(t, placed, opened).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid))).Then(confirmed)
}

// V9, I-14.
func TestAPaymentIsBookedOnce(t *testing.T) {
	same := truth(order.SessionComplete, payment("pay_1", order.StatePaid), payment("pay_1", order.StatePaid))
	given(t, placed, opened).When(same).Then(confirmed)
	given(t, placed, opened, confirmed).When(same).Then()
	given(t, placed, opened, confirmed, started, order.Activated{At: later}).When(same).Then()
}

// A provider with nothing to pay names no payment; its session stands for it.
func TestAPaymentWithoutAnIDIsThatOfTheSession(t *testing.T) {
	p := payment("", order.StatePaid)
	facts, err := order.Decider.Decide(order.Decider.Replay(placed, opened), truth(order.SessionComplete, p))
	if err != nil || len(facts) != 1 || facts[0].(order.PaymentConfirmed).Payment.ID != "cs_1" {
		t.Fatalf("%+v (%v)", facts, err)
	}
	given(t, placed, opened, facts[0]).When(truth(order.SessionComplete, p)).Then()
}

// I-13, M-8, T11.
func TestAPaymentThatIsNotAsOrderedIsHeld(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*order.Observe, *order.Payment)
		want   string
	}{
		"one unit less":    {func(_ *order.Observe, p *order.Payment) { p.Minor-- }, "amount"},
		"one unit more":    {func(_ *order.Observe, p *order.Payment) { p.Minor++ }, "amount"},
		"another currency": {func(_ *order.Observe, p *order.Payment) { p.Currency = "usd" }, "currency"},
		"another payee":    {func(c *order.Observe, p *order.Payment) { c.Payee, p.Payee = "us", "them" }, "payee"},
		"another order":    {func(c *order.Observe, _ *order.Payment) { c.Fetched.Order = ana }, "reference"},
		"another session":  {func(c *order.Observe, _ *order.Payment) { c.Fetched.Session = "cs_2" }, "session"},
		"real money":       {func(c *order.Observe, _ *order.Payment) { c.Fetched.Live = true }, "mode"},
		"another provider": {func(c *order.Observe, _ *order.Payment) { c.Fetched.Provider = "stripe" }, "provider"},
	} {
		t.Run(name, func(t *testing.T) {
			observe, p := truth(order.SessionComplete), payment("pay_1", order.StatePaid)
			c.change(&observe, &p)
			observe.Fetched.Payments = []order.Payment{p}
			wrong := of(p)
			wrong.Session = observe.Fetched.Session
			found := order.PaymentMismatchFound{Payment: wrong, Differs: []string{c.want}, At: later}
			given(t, placed, opened).When(observe).Then(found)
			given(t, placed, opened, found).When(observe).Then()

			o := order.Decider.Replay(placed, opened, found)
			if o.Status != order.StatusPaymentProcessing || len(o.Holds) != 1 || o.Holds[0] != order.MismatchHold {
				t.Errorf("%s, held for %v", o.Status, o.Holds)
			}
		})
	}
}

// I-13: where the account is not named, the session names it.
func TestAPaymentGoesToWhomTheSessionNamed(t *testing.T) {
	session := order.Session{ID: "cs_1", URL: "https://pay.example/cs_1", ExpiresAt: opened.ExpiresAt, Payee: "us"}
	named := opened
	named.Payee = "us"
	given(t, placed).When(order.OpenSession{ID: id, Session: session, Host: "pay.example", At: noon}).Then(named)
	for payee, right := range map[string]bool{"us": true, "them": false, "": false} {
		p := payment("pay_1", order.StatePaid)
		p.Payee = payee
		var want order.Event = order.PaymentConfirmed{Payment: of(p), At: later}
		if !right {
			want = order.PaymentMismatchFound{Payment: of(p), Differs: []string{"payee"}, At: later}
		}
		given(t, placed, named).When(truth(order.SessionComplete, p)).Then(want)
	}
}

func TestCurrenciesAreComparedWithoutCase(t *testing.T) {
	p := payment("pay_1", order.StatePaid)
	p.Currency = "EUR"
	given(t, placed, opened).When(truth(order.SessionComplete, p)).Then(order.PaymentConfirmed{Payment: of(p), At: later})
}

// T7 after T11: the right payment counts even after a wrong one.
func TestTheRightPaymentCountsBesideAWrongOne(t *testing.T) {
	wrong := payment("pay_0", order.StatePaid)
	wrong.Minor = 1
	found := order.PaymentMismatchFound{Payment: of(wrong), Differs: []string{"amount"}, At: later}
	given(t, placed, opened).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid), wrong)).
		Then(found, confirmed)
	o := order.Decider.Replay(placed, opened, found, confirmed)
	if o.Status != order.StatusPaid || !o.OnHold() || o.Received()["eur"] != 2871 {
		t.Errorf("%s, held for %v, received %v", o.Status, o.Holds, o.Received())
	}
}

// T6.
func TestTheCustomerIsDoneButTheBankIsNot(t *testing.T) {
	p := payment("pay_1", order.StatePending)
	waiting := order.AwaitingSettlement{Payment: of(p), At: later}
	given(t, placed, opened).When(truth(order.SessionComplete, p)).Then(waiting)
	given(t, placed, opened, waiting).When(truth(order.SessionComplete, p)).Then()
	given(t, placed, opened).When(truth(order.SessionComplete)).
		Then(order.AwaitingSettlement{Payment: order.Seen{Session: "cs_1"}, At: later})
	given(t, placed, opened, waiting).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid))).Then(confirmed)
	if o := order.Decider.Replay(placed, opened, waiting); !o.Settling || o.Status != order.StatusPaymentProcessing {
		t.Errorf("%+v", o)
	}
}

// T8.
func TestADeclinedCardMayBeTriedAgain(t *testing.T) {
	p := payment("pay_1", order.StateDeclined)
	declined := order.PaymentDeclined{Payment: of(p), At: later}
	given(t, placed, opened).When(truth(order.SessionOpen, p)).Then(declined)
	given(t, placed, opened, declined).When(truth(order.SessionOpen, p)).Then()
	given(t, placed, opened, declined).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid))).Then(confirmed)
}

// T5: approval is not money; only what was approved as ordered is captured.
func TestAnApprovalIsNotMoney(t *testing.T) {
	p := payment("cap_1", order.StateCreated)
	approved := order.PaymentApproved{Payment: of(p), At: later}
	given(t, placed, opened).When(truth(order.SessionApproved, p)).Then(approved)
	given(t, placed, opened, approved).When(truth(order.SessionApproved, p)).Then()
	given(t, placed, opened).When(truth(order.SessionOpen, p)).Then()
	p.Minor++
	given(t, placed, opened).When(truth(order.SessionApproved, p)).
		Then(order.PaymentMismatchFound{Payment: of(p), Differs: []string{"amount"}, At: later})
	given(t, placed, opened, approved).When(truth(order.SessionExpired)).
		Then(order.Cancelled{Reason: order.ApprovalReversed, At: later})
	late := truth(order.SessionApproved)
	late.TimeUp = true
	given(t, placed, opened, approved).When(late).Then(order.Cancelled{Reason: order.CaptureDeadline, At: later})
}

// T9.
func TestAnUnpaidOrderIsCancelled(t *testing.T) {
	given(t, placed, opened).When(truth(order.SessionOpen)).Then()
	given(t, placed, opened).When(truth(order.SessionExpired)).Then(expired)
	given(t, placed, opened, expired).When(truth(order.SessionExpired)).Then()

	failed := payment("pay_1", order.StateFailed)
	given(t, placed, opened).When(truth(order.SessionComplete, failed)).Then(
		order.PaymentDeclined{Payment: of(failed), At: later},
		order.Cancelled{Reason: order.PaymentFailed, At: later})
}

// T9, T6: the time is up only when the provider says that nothing was paid.
func TestTimeIsUpOnlyWhenNothingWasPaid(t *testing.T) {
	timeUp := func(state order.SessionState, payments ...order.Payment) order.Observe {
		c := truth(state, payments...)
		c.TimeUp = true
		return c
	}
	waiting := order.AwaitingSettlement{Payment: of(payment("pay_1", order.StatePending)), At: noon}
	given(t, placed, opened, waiting).When(timeUp(order.SessionComplete, payment("pay_1", order.StatePending))).Then(expired)
	given(t, placed, opened, waiting).When(timeUp(order.SessionComplete, payment("pay_1", order.StatePaid))).Then(confirmed)
	given(t, placed, opened).When(timeUp(order.SessionOpen)).Then() // it has to be expired first
	byCapture := timeUp(order.SessionOpen)
	byCapture.Fetched.ByCapture = true
	given(t, placed, opened).When(byCapture).Then(expired) // an approval that comes now is not captured
	given(t, placed, opened, confirmed).When(timeUp(order.SessionComplete, payment("pay_1", order.StatePaid))).Then()
}

// T9: a held order is not given up.
func TestAHeldOrderIsNotCancelled(t *testing.T) {
	found := order.PaymentMismatchFound{Payment: seen, Differs: []string{"amount"}, At: noon}
	given(t, placed, opened, found).When(truth(order.SessionExpired)).Then()
	given(t, placed, opened, found).When(cancel(truth(order.SessionExpired))).
		ThenRefused(domain.Conflict, "The order is payment_processing and cannot be cancelled while its payment is checked.")
	unpaid := order.PaymentMismatchFound{Payment: seen, Differs: []string{"session"}, At: noon}
	given(t, placed, unpaid).When(order.Expire{ID: id, At: later}).Then()
	given(t, placed, unpaid).When(order.Cancel{ID: id, By: order.ByAdmin, Reason: "typo", At: later}).
		ThenRefused(domain.Conflict, "The order is pending and cannot be cancelled while its payment is checked.")
}

// T21.
func TestASecondPaymentGoesBackByItself(t *testing.T) {
	second := payment("pay_2", order.StatePaid)
	again := order.DuplicatePaymentFound{Payment: of(second), At: later}
	back := order.RefundRequested{
		Refund: order.Ask{N: 1, Payment: "pay_2", Minor: 2870, Currency: "eur"}, Reason: order.RefundOfDuplicate,
		Holds: []order.Hold{order.DuplicateHold}, At: later,
	}
	given(t, placed, opened, confirmed, started).When(
		truth(order.SessionComplete, payment("pay_1", order.StatePaid), second),
	).Then(again, back)
	given(t, placed, opened, confirmed, started, again).When(truth(order.SessionComplete, second)).Then(back)
	given(t, placed, opened, confirmed, started, again, back).When(truth(order.SessionComplete, second)).Then()
	o := order.Decider.Replay(placed, opened, confirmed, started, again, back)
	if o.Status != order.StatusProvisioning || o.Holds[0] != order.DuplicateHold || o.Confirmed != "pay_1" {
		t.Errorf("%+v", o)
	}
}

// 1.1: news that asks for an impossible move is on record, once.
func TestOldNewsIsIgnoredOnce(t *testing.T) {
	ignored := order.ProviderEventIgnored{News: "session_expired", Session: "cs_1", Status: order.StatusPaid, At: later}
	given(t, placed, opened, confirmed).When(truth(order.SessionExpired)).Then(ignored)
	given(t, placed, opened, confirmed, ignored).When(truth(order.SessionExpired)).Then()
	given(t, placed, opened, confirmed, ignored, started).When(truth(order.SessionExpired)).Then()

	p := payment("pay_2", order.StatePending)
	given(t, placed, opened, expired).When(truth(order.SessionExpired, p)).
		Then(
			order.ProviderEventIgnored{
				News: "payment_pending", Session: "cs_1", Payment: "pay_2", Status: order.StatusCancelled, At: later,
			},
		)
	p.State = order.StateFailed
	given(t, placed, opened, confirmed, started).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid), p)).
		Then(
			order.ProviderEventIgnored{
				News: "payment_failed", Session: "cs_1", Payment: "pay_2", Status: order.StatusProvisioning, At: later,
			},
		)
}

// I-10: a foreign session says nothing of this order.
func TestAForeignSessionSaysNothing(t *testing.T) {
	for _, state := range []order.SessionState{order.SessionOpen, order.SessionComplete, order.SessionExpired} {
		c := truth(state, payment("pay_9", order.StatePending), payment("pay_8", order.StateFailed))
		c.Fetched.Session = "cs_9"
		given(t, placed, opened).When(c).Then()
	}
}

// I-11: an order is never made from news.
func TestNewsOfAnUnknownOrderIsRefused(t *testing.T) {
	given(t).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid))).
		ThenRefused(domain.NotFound, "No Order matches the given query.")
}

// T20, F-11.
func TestALatePaymentReopensWhatOnlyExpired(t *testing.T) {
	late := func(after time.Duration) order.Payment {
		p := payment("pay_1", order.StatePaid)
		p.At = expired.At.Add(after)
		return p
	}
	p := late(71 * time.Hour)
	reopened := events(order.LatePaymentFound{Payment: of(p), At: later}, order.Reopened{Payment: "pay_1", At: later})
	given(t, placed, opened, expired).When(truth(order.SessionComplete, p)).Then(reopened...)

	o := order.Decider.Replay(append(events(placed, opened, expired), reopened...)...)
	if o.Status != order.StatusPaid || o.Confirmed != "pay_1" || o.OnHold() {
		t.Errorf("%+v", o)
	}

	for want, change := range map[string]func(*order.Observe){
		"too_late": func(c *order.Observe) { c.Fetched.Payments[0] = late(73 * time.Hour) },
		"plan":     func(c *order.Observe) { c.PlanStillOffered = false },
		"names":    func(c *order.Observe) { c.NamesFree = false },
		"amount":   func(c *order.Observe) { c.Fetched.Payments[0].Minor-- },
	} {
		c := truth(order.SessionComplete, p)
		change(&c)
		p := of(c.Fetched.Payments[0])
		given(t, placed, opened, expired).When(c).Then(order.LatePaymentFound{Payment: p, Refund: []string{want}, At: later}, lateBack(p))
	}

	never := truth(order.SessionComplete, p)
	never.ReopenWithin = -1
	given(t, placed, opened, expired).When(never).
		Then(order.LatePaymentFound{Payment: of(p), Refund: []string{"too_late"}, At: later}, lateBack(of(p)))
}

// lateBack sends a whole payment back that came too late.
func lateBack(p order.Seen) order.RefundRequested {
	return order.RefundRequested{
		Refund: order.Ask{N: 1, Payment: p.ID, Minor: p.Minor, Currency: p.Currency}, Reason: order.RefundOfLate,
		Holds: []order.Hold{}, At: later,
	}
}

// T20: money for what was cancelled for another reason goes back.
func TestALatePaymentOfACancelledOrderGoesBack(t *testing.T) {
	for _, reason := range []order.CancelReason{
		order.ByCustomer, order.ByAdmin, order.PaymentFailed, order.ApprovalReversed, order.CaptureDeadline,
		order.NoSession, order.Ended,
	} {
		cancelled := order.Cancelled{Reason: reason, At: later}
		found := order.LatePaymentFound{Payment: seen, Refund: []string{"reason"}, At: later}
		given(t, placed, opened, cancelled).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid))).
			Then(found, lateBack(seen))
		o := order.Decider.Replay(placed, opened, cancelled, found, lateBack(seen))
		if o.Status != order.StatusCancelled || o.OnHold() || len(o.Open()) != 1 {
			t.Errorf("%s: %s, held for %v, refunds %v", reason, o.Status, o.Holds, o.Open())
		}
	}
}

// T20: what may not have been meant for the order waits for a person.
func TestALatePaymentInAnotherSessionIsHeld(t *testing.T) {
	c := truth(order.SessionComplete, payment("pay_1", order.StatePaid))
	c.Fetched.Session = "cs_2"
	p := of(c.Fetched.Payments[0])
	p.Session = "cs_2"
	found := order.LatePaymentFound{Payment: p, Refund: []string{"session"}, At: later}
	given(t, placed, opened, expired).When(c).Then(found)
	if o := order.Decider.Replay(placed, opened, expired, found); !slices.Equal(o.Holds, []order.Hold{order.OperatorHold}) {
		t.Errorf("held for %v", o.Holds)
	}
}

func cancel(c order.Observe) order.Cancel {
	return order.Cancel{ID: id, By: order.ByAdmin, Reason: "asked for by mail", Observe: c, At: later}
}

// T10.
func TestCancellingNeedsASessionThatIsOver(t *testing.T) {
	cancelled := order.Cancelled{Reason: order.ByAdmin, Note: "asked for by mail", At: later}
	given(t, placed, opened).When(cancel(truth(order.SessionExpired))).Then(cancelled)
	given(t, placed, opened).When(cancel(truth(order.SessionOpen))).
		ThenRefused(domain.Conflict, "The order is payment_processing and can still be paid.")
	foreign := truth(order.SessionExpired)
	foreign.Fetched.Session = "cs_9"
	given(t, placed, opened).When(cancel(foreign)).
		ThenRefused(domain.Conflict, "The order is payment_processing and can still be paid.")
	given(t, placed, opened).When(cancel(truth(order.SessionComplete, payment("pay_1", order.StatePending)))).
		ThenRefused(domain.Conflict, "The order is payment_processing and cannot be cancelled while its payment is checked.")
}

// T10: who cancels while the customer pays learns that it was paid.
func TestAPaymentWinsOverACancellation(t *testing.T) {
	given(t, placed, opened).When(cancel(truth(order.SessionComplete, payment("pay_1", order.StatePaid)))).Then(confirmed)
}
