package payments

import (
	"time"

	"hostpanel/domain/order"
)

// timeUp tells whether the order's time to be paid had passed at the check.
func (t Times) timeUp(timeline Timeline) bool {
	return timeline.order.Status == order.StatusPaymentProcessing && !timeline.at.Before(t.payableUntil(timeline))
}

// payableUntil is when an order without a payment is given up. An order that the
// customer has approved gets all the time that a capture may take.
func (t Times) payableUntil(timeline Timeline) time.Time {
	switch {
	case timeline.order.Settling:
		return timeline.placed.At.Add(t.SettlementTTL)
	case !timeline.approved.IsZero():
		return t.lastCapture(timeline).Add(2 * t.PaymentCall) // one that began just before it has ended by then
	}
	return timeline.placed.At.Add(t.OrderTTL)
}

// lastCapture is when no capture is tried any more (rule P-8).
func (t Times) lastCapture(timeline Timeline) time.Time {
	return timeline.approved.Add(t.CaptureDeadline)
}
