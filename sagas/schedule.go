package sagas

import (
	"time"

	"hostpanel/domain/order"
)

// nextLook is how long to wait until an order is looked at again if nobody
// gives a hint; nil: for ever. With every webhook lost, this alone brings an
// order to its end (rule J-1).
func (s *Sagas) nextLook(g glance) *time.Duration {
	now := s.now()
	var moments []time.Time
	switch g.order.Status {
	case order.StatusPending:
		moments = []time.Time{g.order.PlacedAt.Add(s.times.PendingTTL)}
	case order.StatusPaymentProcessing:
		moments = s.whileUnpaid(g, now)
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed, order.StatusActive:
		moments = after(g.paid, s.times.PaidChecks)
	case order.StatusCancelled:
		if g.order.Session != "" {
			moments = after(g.order.CancelledAt, s.times.CancelledChecks)
		}
	default: // nothing changes any more
	}
	return soonest(moments, now)
}

func (s *Sagas) whileUnpaid(g glance, now time.Time) []time.Time {
	if g.order.Settling {
		return []time.Time{now.Add(s.times.SettlementCheck), g.placed.At.Add(s.times.SettlementTTL)}
	}
	moments := append(after(g.opened, s.times.SessionChecks), g.order.ExpiresAt.Add(s.times.AfterExpiry), g.placed.At.Add(s.times.OrderTTL))
	if soonest(moments, now) == nil { // held for a person: the truth may still change
		moments = append(moments, now.Add(s.times.SettlementCheck))
	}
	return moments
}

func after(t time.Time, delays [3]time.Duration) (moments []time.Time) {
	for _, d := range delays {
		moments = append(moments, t.Add(d))
	}
	return moments
}

// soonest is the time until the first moment that is still to come.
func soonest(moments []time.Time, now time.Time) *time.Duration {
	var best *time.Duration
	for _, m := range moments {
		if d := m.Sub(now); d > 0 && (best == nil || d < *best) {
			best = &d
		}
	}
	return best
}
