package order_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// T12, T13.
func TestAPaidOrderIsSetUpAndActivated(t *testing.T) {
	given(t, placed, opened, confirmed).When(order.StartProvisioning{ID: id, At: later}).Then(started)
	given(t, placed, opened, confirmed, started).When(order.StartProvisioning{ID: id, At: later}).Then()
	given(t, placed, opened, confirmed, started).When(order.Activate{ID: id, At: later}).Then(order.Activated{At: later})
	given(t, placed, opened, confirmed, started, order.Activated{At: later}).When(order.Activate{ID: id, At: later}).Then()
}

func TestAnUnpaidOrderIsNotSetUp(t *testing.T) {
	given(t, placed, opened).When(order.StartProvisioning{ID: id, At: later}).
		ThenRefused(domain.Conflict, "The order is payment_processing and cannot become provisioning.")
	given(t, placed, opened).When(order.Activate{ID: id, At: later}).
		ThenRefused(domain.Conflict, "The order is payment_processing and cannot become active.")
	given(t).When(order.Activate{ID: id, At: later}).ThenRefused(domain.NotFound, "No Order matches the given query.")
}

// T14: nothing is undone, the money stays booked.
func TestAStepThatCannotBeDoneParksTheOrder(t *testing.T) {
	park := order.Park{ID: id, Step: "tenant.engine", Code: "name_taken", At: later}
	given(t, placed, opened, confirmed, started).When(park).Then(parked)
	given(t, placed, opened, confirmed, started, parked).When(park).Then()
	o := order.Decider.Replay(placed, opened, confirmed, started, parked)
	if o.Status != order.StatusFailed || o.Standing().Step != "tenant.engine" || o.Received()["eur"] != 2870 {
		t.Errorf("%+v", o)
	}
}

// T15: only a person with a reason lets a parked order go on.
func TestAParkedOrderGoesOnWhenAnOperatorSaysSo(t *testing.T) {
	resume := order.Resume{ID: id, Step: "tenant.engine", How: order.Retry, Reason: "the engine is back", At: later}
	resumed := order.ProvisioningResumed{Step: "tenant.engine", How: order.Retry, Reason: "the engine is back", At: later}
	given(t, placed, opened, confirmed, started, parked).When(resume).Then(resumed)
	given(t, placed, opened, confirmed, started).When(resume).
		ThenRefused(domain.Conflict, "The order is provisioning and has nothing to be resumed.")
	given(t, placed, opened, confirmed, started, parked).When(order.StartProvisioning{ID: id, At: later}).
		ThenRefused(domain.Conflict, "The order is failed and is resumed by an operator only.")
	silent := resume
	silent.Reason = ""
	given(t, placed, opened, confirmed, started, parked).When(silent).
		ThenRefused(domain.Invalid, "reason: This field is required.")
	if o := order.Decider.Replay(
		placed, opened, confirmed, started, parked, resumed,
	); o.Status != order.StatusProvisioning || o.Step != "" {
		t.Errorf("%+v", o)
	}
}

// T26.
func TestTheWelcomeMailNeverFailsAnOrder(t *testing.T) {
	delayed, sent, gone := order.WelcomeMailDelayed{At: later}, order.WelcomeMailSent{At: later}, order.WelcomeMailGivenUp{At: later}
	running := events(placed, opened, confirmed, started)
	given(t, running...).When(order.DelayMail{ID: id, At: later}).Then(delayed)
	given(t, append(running, delayed)...).When(order.DelayMail{ID: id, At: later}).Then()
	given(t, append(running, delayed)...).When(order.ConfirmMail{ID: id, At: later}).Then(sent)
	given(t, append(running, delayed)...).When(order.GiveUpMail{ID: id, At: later}).Then(gone)
	given(t, append(running, sent)...).When(order.ConfirmMail{ID: id, At: later}).Then()
	given(t, append(running, sent)...).When(order.DelayMail{ID: id, At: later}).Then()
	given(t, append(running, sent)...).When(order.GiveUpMail{ID: id, At: later}).Then()
	given(t, append(running, gone)...).When(order.ConfirmMail{ID: id, At: later}).Then(sent) // an operator sent it again
	given(t).When(order.ConfirmMail{ID: id, At: later}).ThenRefused(domain.NotFound, "No Order matches the given query.")

	for _, c := range []struct {
		last     order.Event
		warnings int
	}{{delayed, 1}, {gone, 1}, {sent, 0}} {
		o := order.Decider.Replay(append(running, delayed, order.Activated{At: later}, c.last)...)
		if o.Status != order.StatusActive || len(o.Warnings) != c.warnings {
			t.Errorf("%T: %s, warnings %v", c.last, o.Status, o.Warnings)
		}
	}
}

// I-15: not even an event that comes out of turn lowers what is known.
func TestEventsOutOfOrderLowerNothing(t *testing.T) {
	o := order.Decider.Replay(
		placed, opened, confirmed,
		order.PaymentDeclined{Payment: of(payment("pay_1", order.StateDeclined)), At: later},
	)
	if o.Payments["pay_1"].State != order.StatePaid || o.Received()["eur"] != 2870 {
		t.Errorf("%+v", o.Payments)
	}
}
