package payments

import (
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A paymentTimeline is an order with the moments that its schedule depends on.
type paymentTimeline struct {
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

func timelineOf(history []eventstore.RecordedEvent, at time.Time) paymentTimeline {
	g := paymentTimeline{at: at}
	for _, r := range history {
		g = g.after(r.Event.(order.Event))
	}
	return g
}

func (g paymentTimeline) after(e order.Event) paymentTimeline {
	g.order = order.Decider.Evolve(g.order, e)
	g.version++
	switch e := e.(type) {
	case order.Placed:
		g.placed = e
	case order.PaymentSessionOpened:
		g.opened = e.At
	case order.PaymentApproved:
		g.approved = e.At
		if at := e.Payment.At; !at.IsZero() && at.Before(e.At) {
			g.approved = at
		}
	case order.RefundRequested:
		g.refunded = e.At
	case order.RefundStarted:
		g.refunded = e.At
	case order.PaymentConfirmed:
		g.paid = e.At
	case order.Reopened:
		g.paid = e.At
	case order.Cancelled: // its checks count from here
	default:
		return g
	}
	g.setBy = g.version
	return g
}

// moneyOnItsWay tells whether a refund has not come to an end.
func (g paymentTimeline) moneyOnItsWay() bool {
	for _, r := range g.order.Refunds {
		if r.State == order.RefundPending {
			return true
		}
	}
	return len(g.order.Open()) > 0
}

// timeUp tells whether the order's time to be paid had passed at the check.
func (t Times) timeUp(g paymentTimeline) bool {
	return g.order.Status == order.StatusPaymentProcessing && !g.at.Before(t.payableUntil(g))
}

// payableUntil is when an order without a payment is given up. An order that the
// customer has approved gets all the time that a capture may take.
func (t Times) payableUntil(g paymentTimeline) time.Time {
	switch {
	case g.order.Settling:
		return g.placed.At.Add(t.SettlementTTL)
	case !g.approved.IsZero():
		return t.lastCapture(g).Add(2 * t.PaymentCall) // one that began just before it has ended by then
	}
	return g.placed.At.Add(t.OrderTTL)
}

// lastCapture is when no capture is tried any more (rule P-8).
func (t Times) lastCapture(g paymentTimeline) time.Time {
	return g.approved.Add(t.CaptureDeadline)
}
