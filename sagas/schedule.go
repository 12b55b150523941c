package sagas

import (
	"time"

	"hostpanel/domain/order"
)

// nextLook is how long to wait until an order is looked at again if nobody
// gives a hint; nil: for ever. With every webhook lost, this alone brings an
// order to its end (rule J-1). What fell due while the order was looked at is
// due at once: the look came too early for it.
func (s *Sagas) nextLook(g glance) *time.Duration {
	var moments []time.Time
	switch g.order.Status {
	case order.StatusPending:
		moments = []time.Time{g.order.PlacedAt.Add(s.times.PendingTTL)}
	case order.StatusPaymentProcessing:
		moments = s.whileUnpaid(g)
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed, order.StatusActive:
		moments = after(g.paid, s.times.PaidChecks)
	case order.StatusCancelled:
		if g.order.Session != "" {
			moments = after(g.order.CancelledAt, s.times.CancelledChecks)
		}
	default: // nothing changes any more
	}
	if until := g.refunded.Add(s.times.RefundTTL); g.moneyOnItsWay() && g.at.Before(until) {
		moments = append(moments, g.at.Add(s.times.RefundCheck), until)
	}
	return s.until(soonest(moments, g.at))
}

func (s *Sagas) whileUnpaid(g glance) []time.Time {
	switch {
	case g.order.Settling:
		return []time.Time{g.at.Add(s.times.SettlementCheck), s.payableUntil(g)}
	case !g.approved.IsZero() && g.at.Before(s.payableUntil(g)):
		return []time.Time{g.at.Add(s.times.CaptureCheck), s.payableUntil(g)}
	}
	moments := append(after(g.opened, s.times.SessionChecks), g.order.ExpiresAt.Add(s.times.AfterExpiry), g.placed.At.Add(s.times.OrderTTL))
	if soonest(moments, g.at).IsZero() { // held for a person: the truth may still change
		moments = append(moments, g.at.Add(s.times.SettlementCheck))
	}
	return moments
}

func after(t time.Time, delays [3]time.Duration) (moments []time.Time) {
	for _, d := range delays {
		moments = append(moments, t.Add(d))
	}
	return moments
}

// soonest is the first moment after the last look; zero: there is none.
func soonest(moments []time.Time, looked time.Time) (first time.Time) {
	for _, m := range moments {
		if m.After(looked) && (first.IsZero() || m.Before(first)) {
			first = m
		}
	}
	return first
}

func (s *Sagas) until(moment time.Time) *time.Duration {
	if moment.IsZero() {
		return nil
	}
	wait := max(0, moment.Sub(s.now()))
	return &wait
}
