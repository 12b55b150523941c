package payments

import (
	"time"

	"hostpanel/domain/order"
	"hostpanel/projections"
)

// NextCheck is the pause until an order is checked again without a hint; nil: it
// is not checked any more. With every webhook lost, this alone brings an order
// to its end (rule J-1). A moment that passed during the check is due at once.
func (t Times) NextCheck(timeline Timeline, now time.Time) *time.Duration {
	var moments []time.Time
	switch timeline.order.Status {
	case order.StatusPending:
		moments = []time.Time{timeline.order.PlacedAt.Add(t.PendingTTL)}
	case order.StatusPaymentProcessing:
		moments = t.whileUnpaid(timeline)
	case order.StatusPaid, order.StatusProvisioning, order.StatusFailed, order.StatusActive:
		moments = after(timeline.paid, t.PaidChecks)
	case order.StatusCancelled:
		if timeline.order.Session != "" {
			moments = after(timeline.order.CancelledAt, t.CancelledChecks)
		}
	default: // nothing changes any more
	}
	if until := timeline.refunded.Add(t.RefundTTL); timeline.moneyOnItsWay() && timeline.at.Before(until) {
		moments = append(moments, timeline.at.Add(t.RefundCheck), until)
	}
	if timeline.claimed() {
		moments = append(moments, timeline.at.Add(t.DisputeCheck))
	}
	return until(soonest(moments, timeline.at), now)
}

func (t Times) whileUnpaid(timeline Timeline) []time.Time {
	switch {
	case timeline.order.Settling:
		return []time.Time{timeline.at.Add(t.SettlementCheck), t.payableUntil(timeline)}
	case !timeline.approved.IsZero() && timeline.at.Before(t.payableUntil(timeline)):
		return []time.Time{timeline.at.Add(t.CaptureCheck), t.payableUntil(timeline)}
	}
	moments := append(
		after(timeline.opened, t.SessionChecks), timeline.order.ExpiresAt.Add(t.AfterExpiry),
		timeline.placed.At.Add(t.OrderTTL),
	)
	if soonest(moments, timeline.at).IsZero() { // held for a person: the truth may still change
		moments = append(moments, timeline.at.Add(t.SettlementCheck))
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

// firstCheck is the time until a session is looked at. That of one without a page leads to
// the charge.
func (t Times) firstCheck(o projections.Order) time.Duration {
	if o.KeptMethod != nil {
		return 0
	}
	return t.SessionChecks[0]
}
