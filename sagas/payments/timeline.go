package payments

import (
	"slices"
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A Timeline is an order with the moments that its schedule depends on.
type Timeline struct {
	at     time.Time // of the check
	order  order.Order
	placed order.Placed
	opened time.Time
	paid   time.Time

	approved time.Time // when the customer agreed to pay, where that is not yet the payment
	refunded time.Time // when money was last sent on its way back
	late     bool      // its own time to be paid has passed

	version, setBy int // of the order, and of the event that has set the time of its next check
}

// TimelineOf folds the events of an order until a check.
func TimelineOf(history []eventstore.RecordedEvent, at time.Time) Timeline {
	timeline := Timeline{at: at}
	for _, r := range history {
		timeline = timeline.after(r.Event.(order.Event))
	}
	return timeline
}

func (timeline Timeline) after(e order.Event) Timeline {
	timeline.order = order.Decider.Evolve(timeline.order, e)
	timeline.version++
	switch e := e.(type) {
	case order.Placed:
		timeline.placed = e
	case order.PaymentSessionOpened:
		timeline.opened = e.At
	case order.PaymentApproved:
		timeline.approved = e.At
		if at := e.Payment.At; !at.IsZero() && at.Before(e.At) && !timeline.order.Charges() {
			timeline.approved = at
		}
	case order.RefundRequested:
		timeline.refunded = e.At
	case order.RefundStarted:
		timeline.refunded = e.At
	case order.PaymentConfirmed:
		timeline.paid = e.At
	case order.Reopened:
		timeline.paid = e.At
	case order.Cancelled: // its checks count from here
	default:
		return timeline
	}
	timeline.setBy = timeline.version
	return timeline
}

// claimed tells whether the provider has a dispute in its books that is not decided.
func (timeline Timeline) claimed() bool {
	return slices.ContainsFunc(timeline.order.Claimed(), func(d order.SeenDispute) bool {
		return d.State == order.DisputeOpen && !d.ByOperator()
	})
}

// moneyOnItsWay tells whether a refund has not come to an end.
func (timeline Timeline) moneyOnItsWay() bool {
	for _, r := range timeline.order.Refunds {
		if r.State == order.RefundPending {
			return true
		}
	}
	return len(timeline.order.Open()) > 0
}
