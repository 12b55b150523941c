package payments

import (
	"time"

	"hostpanel/domain/order"
)

// nextCheck is the pause until an order is checked again without a hint; nil: it
// is not checked any more. With every webhook lost, this alone brings an order
// to its end (rule J-1). A moment that passed during the check is due at once.
func (t Times) nextCheck(g paymentTimeline, now time.Time) *time.Duration {
	var moments []time.Time
	switch g.order.Status {
	case order.StatusPending:
		moments = []time.Time{g.order.PlacedAt.Add(t.PendingTTL)}
	case order.StatusPaymentProcessing:
		moments = t.whileUnpaid(g)
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed, order.StatusActive:
		moments = after(g.paid, t.PaidChecks)
	case order.StatusCancelled:
		if g.order.Session != "" {
			moments = after(g.order.CancelledAt, t.CancelledChecks)
		}
	default: // nothing changes any more
	}
	if until := g.refunded.Add(t.RefundTTL); g.moneyOnItsWay() && g.at.Before(until) {
		moments = append(moments, g.at.Add(t.RefundCheck), until)
	}
	return until(soonest(moments, g.at), now)
}

func (t Times) whileUnpaid(g paymentTimeline) []time.Time {
	switch {
	case g.order.Settling:
		return []time.Time{g.at.Add(t.SettlementCheck), t.payableUntil(g)}
	case !g.approved.IsZero() && g.at.Before(t.payableUntil(g)):
		return []time.Time{g.at.Add(t.CaptureCheck), t.payableUntil(g)}
	}
	moments := append(after(g.opened, t.SessionChecks), g.order.ExpiresAt.Add(t.AfterExpiry), g.placed.At.Add(t.OrderTTL))
	if soonest(moments, g.at).IsZero() { // held for a person: the truth may still change
		moments = append(moments, g.at.Add(t.SettlementCheck))
	}
	return moments
}

func after(from time.Time, delays [3]time.Duration) (moments []time.Time) {
	for _, d := range delays {
		moments = append(moments, from.Add(d))
	}
	return moments
}

// soonest is the first moment after the last check; zero: there is none.
func soonest(moments []time.Time, looked time.Time) (first time.Time) {
	for _, m := range moments {
		if m.After(looked) && (first.IsZero() || m.Before(first)) {
			first = m
		}
	}
	return first
}

func until(moment, now time.Time) *time.Duration {
	if moment.IsZero() {
		return nil
	}
	wait := max(0, moment.Sub(now))
	return &wait
}
