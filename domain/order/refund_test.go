package order_test

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

var active = events(placed, opened, confirmed, started, order.Activated{At: later})

// gone is a refund of the first payment, as the provider shows it.
func gone(state order.RefundState, minor int64) order.SeenRefund {
	return order.SeenRefund{ID: "re_1", Payment: "pay_1", N: 1, State: state, Minor: minor, Currency: "eur", At: later}
}

// back is a payment of which something has gone back.
func back(refunds ...order.Refund) order.Payment {
	p := payment("pay_1", order.StatePaid)
	p.Refunds = refunds
	return p
}

func refund(state order.RefundState, minor int64) order.Refund {
	return order.Refund{ID: "re_1", State: state, Minor: minor, Currency: "eur", Reference: order.Ask{N: 1}.Reference(id), At: later}
}

var requested = order.RefundRequested{
	Refund: order.Ask{N: 1, Payment: "pay_1", Minor: 1000, Currency: "eur"}, Reason: order.RefundByOperator, Note: "goodwill",
	Holds: []order.Hold{}, At: later,
}

func ask(amount string) order.RequestRefund {
	c := order.RequestRefund{ID: id, Reason: "goodwill", At: later}
	if amount != "" {
		exact := decimal.RequireFromString(amount)
		c.Amount = &exact
	}
	return c
}

// T22.
func TestAPartOfTheMoneyGoesBack(t *testing.T) {
	given(t, active...).When(ask("10.00")).Then(requested)
	asked := append(slices.Clone(active), requested)
	pending := truth(order.SessionComplete, back(refund(order.RefundPending, 1000)))
	begun := order.RefundStarted{Refund: gone(order.RefundPending, 1000), At: later}
	given(t, asked...).When(pending).Then(begun)
	done := truth(order.SessionComplete, back(refund(order.RefundSucceeded, 1000)))
	part := order.PartiallyRefunded{Refund: gone(order.RefundSucceeded, 1000), Returned: 1000, Holds: []order.Hold{}, At: later}
	given(t, append(asked, begun)...).When(done).Then(part)
	given(t, append(asked, begun, part)...).When(done).Then()
	given(t, append(asked, begun, part)...).When(pending).Then()

	o := order.Decider.Replay(append(asked, begun, part)...)
	if o.Status != order.StatusActive || o.Net()["eur"] != 1870 || o.Left("pay_1") != 1870 || len(o.Open()) != 0 {
		t.Errorf("%s, %v, %d left, open %v", o.Status, o.Net(), o.Left("pay_1"), o.Open())
	}
}

// T19.
func TestAFullRefundEndsTheOrder(t *testing.T) {
	whole := requested
	whole.Refund.Minor = 2870
	given(t, active...).When(ask("")).Then(whole)
	given(t, active...).When(ask("28.70")).Then(whole)
	done := order.RefundCompleted{
		Refund: gone(order.RefundSucceeded, 2870), Returned: 2870, Before: order.StatusActive, Holds: []order.Hold{},
		At: later,
	}
	truly := truth(order.SessionComplete, back(refund(order.RefundSucceeded, 2870)))
	given(t, append(active, whole)...).When(truly).Then(done)
	o := order.Decider.Replay(append(active, whole, done)...)
	if o.Status != order.StatusRefunded || o.Service() != order.ServiceEnds {
		t.Errorf("%s, %s", o.Status, o.Service())
	}
	given(t, append(active, whole, done)...).When(ask("")).ThenRefused(
		domain.Conflict, "The order is refunded and has nothing to be refunded.",
	)
}

// T19: a refund at the provider itself refunds the order as well.
func TestARefundMadeAtTheProviderCounts(t *testing.T) {
	r := refund(order.RefundSucceeded, 2870)
	r.Reference = ""
	seen := gone(order.RefundSucceeded, 2870)
	seen.N = 0
	given(t, active...).When(truth(order.SessionComplete, back(r))).
		Then(order.RefundCompleted{Refund: seen, Returned: 2870, Before: order.StatusActive, Holds: []order.Hold{}, At: later})

	whole := requested
	whole.Refund.Minor = 2870
	o := order.Decider.Replay(
		append(
			active, whole,
			order.RefundCompleted{Refund: seen, Returned: 2870, Before: order.StatusActive, Holds: []order.Hold{}, At: later},
		)...,
	)
	if len(o.Open()) != 0 {
		t.Errorf("still to come: %v", o.Open())
	}
}

func TestOnlyWhatIsLeftIsRefunded(t *testing.T) {
	asked := append(slices.Clone(active), requested)
	for amount, want := range map[string]string{
		"18.71":  "Ensure this value is less than or equal to 18.70.",
		"0.001":  "Ensure that there are no more than 2 decimal places.",
		"0":      "Ensure this value is greater than or equal to 0.01.",
		"-18.70": "Ensure this value is greater than or equal to 0.01.",
	} {
		given(t, asked...).When(ask(amount)).ThenRefused(domain.Invalid, "amount: "+want)
	}
	silent := ask("")
	silent.Reason = ""
	given(t, asked...).When(silent).ThenRefused(domain.Invalid, "reason: This field is required.")
	given(t, placed, opened).When(ask("")).ThenRefused(domain.Conflict, "The order is payment_processing and has nothing to be refunded.")
}

// What a provider does not allow in amounts is refused before it is asked for.
func TestARefundHasNoMorePlacesThanItsProviderAllows(t *testing.T) {
	forints := placed
	forints.Currency, forints.Decimals = "HUF", 0
	paid := confirmed
	paid.Payment.Currency = "HUF"
	history := []order.Event{forints, opened, paid}
	for amount, want := range map[string]string{
		"12.50": "Ensure that there are no more than 0 decimal places.",
		"0":     "Ensure this value is greater than or equal to 1.",
		"29":    "Ensure this value is less than or equal to 29.",
	} {
		given(t, history...).When(ask(amount)).ThenRefused(domain.Invalid, "amount: "+want)
	}
}

// T25: a refund that failed holds the order until an operator decides anew.
func TestARefundThatFailedIsDecidedAnew(t *testing.T) {
	asked := append(slices.Clone(active), requested)
	failed := order.RefundFailed{N: 1, Payment: "pay_1", Code: "refused", Holds: []order.Hold{order.RefundHold}, At: later}
	given(t, asked...).When(order.FailRefund{ID: id, N: 1, Code: "refused", At: later}).Then(failed)
	asked = append(asked, failed)
	given(t, asked...).When(order.FailRefund{ID: id, N: 1, Code: "refused", At: later}).Then()
	given(t, asked...).When(order.FailRefund{ID: id, N: 2, Code: "refused", At: later}).
		ThenRefused(domain.Conflict, "The order is active and has no such refund.")

	again := requested
	again.Refund.N = 2
	given(t, asked...).When(ask("10")).Then(again)

	// It came through after all: nothing is left to worry about.
	part := order.PartiallyRefunded{Refund: gone(order.RefundSucceeded, 1000), Returned: 1000, Holds: []order.Hold{}, At: later}
	given(t, asked...).When(truth(order.SessionComplete, back(refund(order.RefundSucceeded, 1000)))).Then(part)
}

// A refund may come back to us after it had counted as done.
func TestARefundThatComesBackIsHeld(t *testing.T) {
	part := order.PartiallyRefunded{Refund: gone(order.RefundSucceeded, 1000), Returned: 1000, Holds: []order.Hold{}, At: later}
	asked := append(slices.Clone(active), requested, part)
	returned := order.RefundFailed{N: 1, ID: "re_1", Payment: "pay_1", Code: "returned", Holds: []order.Hold{order.RefundHold}, At: later}
	given(t, asked...).When(truth(order.SessionComplete, back(refund(order.RefundStopped, 1000)))).Then(returned)
	if o := order.Decider.Replay(append(asked, returned)...); o.Net()["eur"] != 2870 || o.Left("pay_1") != 2870 {
		t.Errorf("%v, %d left", o.Net(), o.Left("pay_1"))
	}
}

// T11, T24: money that came otherwise than ordered is accepted or goes back.
func TestMoneyThatIsHeldIsAcceptedOrGoesBack(t *testing.T) {
	wrong := seen
	wrong.Minor = 2869
	found := order.PaymentMismatchFound{Payment: wrong, Differs: []string{"amount"}, At: noon}
	accept := order.Accept{ID: id, Reason: "one cent", At: later}
	accepted := order.PaymentAccepted{Payment: "pay_1", Reason: "one cent", Holds: []order.Hold{}, At: later}
	given(t, placed, opened, found).When(accept).Then(accepted, order.PaymentConfirmed{Payment: wrong, At: later})
	given(t, placed, opened, confirmed).When(accept).ThenRefused(
		domain.Conflict, "The order is paid and has no payment that could be accepted.",
	)
	given(t, placed, opened).When(accept).ThenRefused(
		domain.Conflict, "The order is payment_processing and has no payment that could be accepted.",
	)

	whole := requested
	whole.Refund.Minor, whole.Holds = 2869, []order.Hold{order.MismatchHold}
	given(t, placed, opened, found).When(ask("")).Then(whole)
	p := back(refund(order.RefundSucceeded, 2869))
	p.Minor = 2869
	given(t, placed, opened, found, whole).When(truth(order.SessionComplete, p)).Then(order.RefundCompleted{
		Refund: gone(order.RefundSucceeded, 2869), Returned: 2869, Before: order.StatusPaymentProcessing, Holds: []order.Hold{}, At: later,
	})
	given(t, placed, opened, found, whole).When(accept).
		ThenRefused(domain.Conflict, "The order is payment_processing and has no payment that could be accepted.")
}

// T21: the hold ends with the surplus.
func TestTheHoldEndsWhenTheSurplusIsBack(t *testing.T) {
	second := payment("pay_2", order.StatePaid)
	again := order.DuplicatePaymentFound{Payment: of(second), At: later}
	ask := order.RefundRequested{
		Refund: order.Ask{N: 1, Payment: "pay_2", Minor: 2870, Currency: "eur"}, Reason: order.RefundOfDuplicate,
		Holds: []order.Hold{order.DuplicateHold}, At: later,
	}
	second.Refunds = []order.Refund{refund(order.RefundSucceeded, 2870)}
	returned := gone(order.RefundSucceeded, 2870)
	returned.Payment = "pay_2"
	given(t, append(active, again, ask)...).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid), second)).
		Then(order.PartiallyRefunded{Refund: returned, Returned: 2870, Holds: []order.Hold{}, At: later})

	// The provider's own page was faster: nothing is asked for.
	second.Refunds[0].Reference, returned.N = "", 0
	given(t, active...).When(truth(order.SessionComplete, payment("pay_1", order.StatePaid), second)).
		Then(again, order.PartiallyRefunded{Refund: returned, Returned: 2870, Holds: []order.Hold{}, At: later})
}
