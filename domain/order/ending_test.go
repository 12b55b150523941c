package order_test

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// disputed is a dispute of the first payment, as the provider shows it.
func disputed(state order.DisputeState) order.SeenDispute {
	return order.SeenDispute{ID: "dp_1", Payment: "pay_1", State: state, Minor: 2870, Currency: "eur", At: later}
}

func claimed(state order.DisputeState, minor int64) order.Observe {
	p := payment("pay_1", order.StatePaid)
	p.Disputes = []order.Dispute{{ID: "dp_1", State: state, Minor: minor, Currency: "eur", At: later}}
	return truth(order.SessionComplete, p)
}

// T23.
func TestADisputeSuspendsUntilItIsDecided(t *testing.T) {
	begun := order.DisputeOpened{Dispute: disputed(order.DisputeOpen), At: later}
	given(t, active...).When(claimed(order.DisputeOpen, 2870)).Then(begun)
	open := append(slices.Clone(active), begun)
	given(t, open...).When(claimed(order.DisputeOpen, 2870)).Then()
	if o := order.Decider.Replay(open...); o.Service() != order.ServiceSuspended || !slices.Equal(
		o.Holds, []order.Hold{order.DisputeHold},
	) {
		t.Errorf("%s, held for %v", o.Service(), o.Holds)
	}

	won := order.DisputeClosed{Dispute: disputed(order.DisputeWon), Before: order.StatusActive, Holds: []order.Hold{}, At: later}
	given(t, open...).When(claimed(order.DisputeWon, 2870)).Then(won)
	if o := order.Decider.Replay(append(open, won)...); o.Service() != order.ServiceRuns || o.OnHold() {
		t.Errorf("%s, held for %v", o.Service(), o.Holds)
	}
	given(t, append(open, won)...).When(claimed(order.DisputeOpen, 2870)).Then() // nothing reopens it

	lost := order.DisputeClosed{
		Dispute: disputed(order.DisputeLost), Returned: 2870, Chargeback: true, Before: order.StatusActive,
		Holds: []order.Hold{}, At: later,
	}
	given(t, open...).When(claimed(order.DisputeLost, 2870)).Then(lost)
	o := order.Decider.Replay(append(open, lost)...)
	if o.Status != order.StatusRefunded || o.Net()["eur"] != 0 || o.Service() != order.ServiceEnds {
		t.Errorf("%s, %v, %s", o.Status, o.Net(), o.Service())
	}
}

// A part of the money may be lost without the service.
func TestADisputeOverAPartDoesNotEndTheOrder(t *testing.T) {
	part := disputed(order.DisputeLost)
	part.Minor = 1000
	lost := order.DisputeClosed{Dispute: part, Returned: 1000, Before: order.StatusActive, Holds: []order.Hold{}, At: later}
	given(t, active...).When(claimed(order.DisputeLost, 1000)).Then(lost)
	if o := order.Decider.Replay(append(active, lost)...); o.Status != order.StatusActive || o.Net()["eur"] != 1870 ||
		o.Service() != order.ServiceRuns {
		t.Errorf("%s, %v, %s", o.Status, o.Net(), o.Service())
	}
}

// P-9: where news may be forged, only an operator can say that there is a
// dispute.
func TestAnOperatorConfirmsADispute(t *testing.T) {
	reported := order.DisputeReported{At: later}
	given(t, active...).When(order.ReportDispute{ID: id, At: later}).Then(reported)
	held := append(slices.Clone(active), reported)
	given(t, held...).When(order.ReportDispute{ID: id, At: later}).Then()
	if o := order.Decider.Replay(held...); o.Service() != order.ServiceRuns || !o.OnHold() {
		t.Errorf("%s, held for %v", o.Service(), o.Holds)
	}
	told := disputed(order.DisputeOpen)
	told.ID = "operator/" + id.String()
	begun := order.DisputeOpened{Dispute: told, Note: "seen at PayPal", At: later}
	decide := order.DecideDispute{ID: id, Outcome: order.DisputeOpen, Reason: "seen at PayPal", At: later}
	given(t, held...).When(decide).Then(begun)
	given(t, append(held, begun)...).When(decide).Then()

	told.State, decide.Outcome = order.DisputeWon, order.DisputeWon
	given(t, append(held, begun)...).When(decide).
		Then(order.DisputeClosed{Dispute: told, Before: order.StatusActive, Note: "seen at PayPal", Holds: []order.Hold{}, At: later})
	given(t, held...).When(decide). // it was none
					Then(
			order.DisputeClosed{Dispute: told, Before: order.StatusActive, Note: "seen at PayPal", Holds: []order.Hold{}, At: later},
		)

	decide.Outcome = "perhaps"
	given(t, held...).When(decide).ThenRefused(domain.Invalid, `outcome: "perhaps" is not a valid choice.`)
	given(t, placed, opened).When(order.DecideDispute{ID: id, Outcome: order.DisputeWon, Reason: "x", At: later}).
		ThenRefused(domain.Conflict, "The order is payment_processing and has no payment that could be disputed.")
}

// The provider may give all back while the bank claims it, as PayPal does with a case that is
// lost. The outcome is booked all the same, and no money counts twice.
func TestADisputeIsDecidedAfterTheMoneyHasGoneBack(t *testing.T) {
	p := claimed(order.DisputeOpen, 2870).Fetched.Payments[0]
	p.Refunds = []order.Refund{refund(order.RefundSucceeded, 2870)}
	for name, begun := range map[string]order.Event{
		"a dispute in the books":  order.DisputeOpened{Dispute: disputed(order.DisputeOpen), At: later},
		"a dispute that was told": order.DisputeReported{At: later},
	} {
		for _, outcome := range []order.DisputeState{order.DisputeWon, order.DisputeLost} {
			o := order.Decider.Replay(append(slices.Clone(active), begun)...)
			for _, c := range []order.Command{
				truth(order.SessionComplete, p), order.DecideDispute{ID: id, Outcome: outcome, Reason: "read in the account", At: later},
			} {
				if o.Status == order.StatusRefunded && !slices.Equal(o.Holds, []order.Hold{order.DisputeHold}) {
					t.Errorf("%s: held for %v", name, o.Holds)
				}
				facts, err := order.Decider.Decide(o, c)
				if err != nil {
					t.Fatal(name, err)
				}
				for _, e := range facts {
					o = order.Decider.Evolve(o, e)
				}
			}
			if o.Status != order.StatusRefunded || o.OnHold() || o.Returned("pay_1") != 2870 || o.Net()["eur"] != 0 {
				t.Errorf("%s, %s: %s, held for %v, %d went back", name, outcome, o.Status, o.Holds, o.Returned("pay_1"))
			}
			if _, err := order.Decider.Decide(o, order.DecideDispute{ID: id, Outcome: outcome, Reason: "again", At: later}); err == nil {
				t.Error(name, "is decided again")
			}
		}
	}
}

// Providers give back all of a disputed payment, or nothing.
func TestNoPartOfADisputedPaymentGoesBack(t *testing.T) {
	open := append(slices.Clone(active), order.DisputeOpened{Dispute: disputed(order.DisputeOpen), At: later})
	given(t, open...).When(order.RequestRefund{ID: id, Amount: part(), Reason: "goodwill", At: later}).ThenRefused(
		domain.Invalid, "amount: The payment is disputed. Refund all that is left of it, or wait for the outcome of the dispute.",
	)
	all := decimal.New(2870, -2)
	for _, amount := range []*decimal.Decimal{nil, &all} {
		facts, err := order.Decider.Decide(
			order.Decider.Replay(open...), order.RequestRefund{ID: id, Amount: amount, Reason: "settled", At: later},
		)
		if err != nil || len(facts) != 1 {
			t.Error(facts, err)
		}
	}
}

// T16, T17, T18: first everything is taken back, then the money goes back.
func TestCancellingAPaidOrderTakesEverythingBack(t *testing.T) {
	cancel := order.Cancel{ID: id, By: order.ByAdmin, Reason: "asked for by mail", At: later}
	wanted := order.CancelRequested{By: order.ByAdmin, Reason: "asked for by mail", At: later}
	for _, history := range [][]order.Event{
		events(placed, opened, confirmed), events(placed, opened, confirmed, started), events(placed, opened, confirmed, started, parked),
	} {
		given(t, history...).When(cancel).Then(wanted)
		history = append(history, wanted)
		given(t, history...).When(cancel).Then()
		given(t, history...).When(order.StartCompensation{ID: id, At: later}).Then(order.CompensationStarted{At: later})
		done := order.CompensationCompleted{Holds: []order.Hold{}, At: later}
		whole := requested
		whole.Refund.Minor, whole.Reason, whole.Note = 2870, order.RefundOfCancelled, ""
		given(t, history...).When(order.CompleteCompensation{ID: id, At: later}).Then(done, whole)
		given(t, append(history, done, whole)...).When(order.CompleteCompensation{ID: id, At: later}).Then()
		if o := order.Decider.Replay(history...); !o.TurnsBack() {
			t.Errorf("%s does not turn back", o.Status)
		}
	}
	history := events(placed, opened, confirmed, started, wanted)
	given(t, history...).When(order.Activate{ID: id, At: later}).ThenRefused(
		domain.Conflict, "The order is provisioning and is being cancelled.",
	)
	given(t, placed, opened, confirmed, wanted).When(order.StartProvisioning{ID: id, At: later}).
		ThenRefused(domain.Conflict, "The order is paid and is being cancelled.")
}

// Only what is being set up can be taken back.
func TestWhatRunsIsNotTakenBack(t *testing.T) {
	for _, c := range []order.Command{
		order.StartCompensation{ID: id, At: later},
		order.ParkCompensation{ID: id, At: later},
		order.CompleteCompensation{ID: id, At: later},
	} {
		given(t, active...).When(c).ThenRefused(domain.Conflict, "The order is active and is not taken back.")
		given(t).When(c).ThenRefused(domain.NotFound, "No Order matches the given query.")
	}
}

// T18: what cost nothing is only cancelled.
func TestCancellingWhatCostNothingNeedsNoRefund(t *testing.T) {
	free, nothing := placed, seen
	free.Minor, nothing.Minor = 0, 0
	history := events(
		free, opened, order.PaymentConfirmed{Payment: nothing, At: later}, started,
		order.CancelRequested{By: order.ByAdmin, At: later},
	)
	given(t, history...).When(order.CompleteCompensation{ID: id, At: later}).
		Then(order.CompensationCompleted{Holds: []order.Hold{}, At: later}, order.Cancelled{Reason: order.ByAdmin, At: later})
}

// T17: an undo that fails waits for a person.
func TestWhatCannotBeTakenBackHoldsTheOrder(t *testing.T) {
	history := events(placed, opened, confirmed, started, order.CancelRequested{By: order.ByAdmin, At: later})
	stuck := order.CompensationParked{Step: "tenant.engine", Code: "not_empty", Holds: []order.Hold{order.OperatorHold}, At: later}
	given(t, history...).When(order.ParkCompensation{ID: id, Step: "tenant.engine", Code: "not_empty", At: later}).Then(stuck)
	done := order.CompensationCompleted{Holds: []order.Hold{}, At: later}
	if o := order.Decider.Replay(append(history, stuck, done)...); o.OnHold() || o.TurnsBack() {
		t.Errorf("held for %v", o.Holds)
	}
}

// T27: the service ends, the money stays.
func TestAnOperatorEndsAServiceWithoutARefund(t *testing.T) {
	ended := order.Cancelled{Reason: order.Ended, Note: "abuse", At: later}
	given(t, active...).When(order.Cancel{ID: id, By: order.ByAdmin, Reason: "abuse", At: later}).Then(ended)
	o := order.Decider.Replay(append(active, ended)...)
	if o.Status != order.StatusCancelled || o.Service() != order.ServiceEnds || o.Net()["eur"] != 2870 {
		t.Errorf("%s, %s, %v", o.Status, o.Service(), o.Net())
	}
	given(t, append(active, ended)...).When(order.Cancel{ID: id, By: order.ByAdmin, Reason: "again", At: later}).
		ThenRefused(domain.Conflict, "The order is cancelled and cannot be cancelled.")
}

// T10: where money moves only when we fetch it, it is enough not to.
func TestWhatIsNeverCapturedIsCancelled(t *testing.T) {
	approved := order.PaymentApproved{Payment: of(payment("o_1", order.StateCreated)), At: later}
	c := cancel(truth(order.SessionApproved, payment("o_1", order.StateCreated)))
	c.Observe.Fetched.ByCapture = true
	given(t, placed, opened, approved).When(c).Then(order.Cancelled{Reason: order.ByAdmin, Note: "asked for by mail", At: later})
}

// T26: an operator may have the welcome mail sent once more, whatever became of it.
func TestTheWelcomeMailIsSentOnceMore(t *testing.T) {
	again := order.ResendMail{ID: id, Reason: "lost", At: later}
	asked := order.WelcomeMailRequested{Reason: "lost", At: later}
	history := append(slices.Clone(active), order.WelcomeMailGivenUp{At: later})
	given(t, history...).When(again).Then(asked)
	o := order.Decider.Replay(append(history, asked)...)
	if o.Mail != order.MailDelayed || len(o.Warnings) != 1 {
		t.Errorf("%s, %v", o.Mail, o.Warnings)
	}
	given(t, append(history, asked)...).When(order.ConfirmMail{ID: id, At: later}).Then(order.WelcomeMailSent{At: later})
	given(t, placed, opened).When(again).ThenRefused(domain.Conflict, "The order is payment_processing and has no welcome mail.")
	given(t, history...).When(order.ResendMail{ID: id, At: later}).ThenRefused(domain.Invalid, "reason: This field is required.")
}
