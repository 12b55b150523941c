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
	late   bool // its own time to be paid has passed
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
	case order.PaymentConfirmed:
		g.paid = e.At
	case order.Reopened:
		g.paid = e.At
	}
	return g
}

// timeUp tells whether the order's own time to be paid had passed when it was
// looked at.
func (s *Sagas) timeUp(g glance) bool {
	limit := s.times.OrderTTL
	if g.order.Settling {
		limit = s.times.SettlementTTL
	}
	return g.order.Status == order.StatusPaymentProcessing && !g.at.Before(g.placed.At.Add(limit))
}
