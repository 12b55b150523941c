package sagas

import (
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// A glance is an order with the moments that its schedule depends on.
type glance struct {
	at     time.Time // when it was looked at
	order  order.Order
	placed order.Placed
	opened time.Time
	paid   time.Time

	approved time.Time // when the customer agreed to pay, where that is not yet the payment
	refunded time.Time // when money was last sent on its way back
	late     bool      // its own time to be paid has passed
}

func lookAt(history []eventstore.Recorded, at time.Time) glance {
	g := glance{at: at}
	for _, r := range history {
		g = g.after(r.Event.(order.Event))
	}
	return g
}

func (g glance) after(e order.Event) glance {
	g.order = order.Decider.Evolve(g.order, e)
	switch e := e.(type) {
	case order.Placed:
		g.placed = e
	case order.SessionOpened:
		g.opened = e.At
	case order.Approved:
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
	}
	return g
}

// moneyOnItsWay tells whether a refund has not come to an end.
func (g glance) moneyOnItsWay() bool {
	for _, r := range g.order.Refunds {
		if r.State == order.RefundPending {
			return true
		}
	}
	return len(g.order.Open()) > 0
}

// timeUp tells whether the order's own time to be paid had passed when it was
// looked at.
func (s *Sagas) timeUp(g glance) bool {
	return g.order.Status == order.StatusPaymentProcessing && !g.at.Before(s.payableUntil(g))
}

// payableUntil is when an order is given up if nobody has paid. One that the
// customer has agreed to pay gets all the time there is for fetching the money.
func (s *Sagas) payableUntil(g glance) time.Time {
	switch {
	case g.order.Settling:
		return g.placed.At.Add(s.times.SettlementTTL)
	case !g.approved.IsZero():
		return s.lastCapture(g).Add(2 * s.times.PaymentCall) // one that began just before it has ended by then
	}
	return g.placed.At.Add(s.times.OrderTTL)
}

// lastCapture is when the money is not fetched any more (rule P-8).
func (s *Sagas) lastCapture(g glance) time.Time { return g.approved.Add(s.times.CaptureDeadline) }
