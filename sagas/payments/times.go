package payments

import (
	"time"

	"hostpanel/sagas"
)

const day = 24 * time.Hour

// Times are the durations of payments, and of the checks that watch over them
// (docs/sagas.md, "Times"). Tests shrink them.
type Times struct {
	SessionCall           time.Duration
	SessionPause          time.Duration
	SessionBudget         time.Duration // for all tries to open a session
	InboxBase, InboxCap   time.Duration
	InboxMatch            time.Duration // how long a webhook may wait for its order
	CheckLease            time.Duration // of a watch row
	CheckCall             time.Duration
	DownBase, DownCap     time.Duration // while a provider does not answer
	DownAlarm             time.Duration
	DownPace              time.Duration // between two calls to a provider that is down
	PendingTTL            time.Duration // for an order without a session
	OrderTTL              time.Duration // for an order that is not paid
	SessionLife           time.Duration // a little less
	SettlementTTL         time.Duration // for one that waits for a bank
	PaymentCall           time.Duration // to a payment provider
	PaymentBase           time.Duration
	CaptureCap, RefundCap time.Duration
	CaptureDeadline       time.Duration // after an approval nothing is captured any more
	RefundBudget          time.Duration // until a refund needs an operator
	CaptureCheck          time.Duration // between two checks during a capture
	DisputeCheck          time.Duration // during a dispute that the provider shows
	RefundCheck           time.Duration // and during a refund
	RefundTTL             time.Duration // for how long a pending refund is checked
	SessionChecks         [3]time.Duration
	AfterExpiry           time.Duration
	SettlementCheck       time.Duration
	PaidChecks            [3]time.Duration
	CancelledChecks       [3]time.Duration
	KeepBodies            time.Duration // of webhooks
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	SessionCall: 10 * time.Second, SessionPause: time.Second, SessionBudget: 20 * time.Second,
	InboxBase: time.Second, InboxCap: 10 * time.Minute, InboxMatch: 10 * time.Minute,
	CheckLease: 30 * time.Second, CheckCall: 15 * time.Second,
	DownBase: 30 * time.Second, DownCap: 10 * time.Minute, DownAlarm: 15 * time.Minute, DownPace: 200 * time.Millisecond,
	PendingTTL: 30 * time.Minute, OrderTTL: day, SessionLife: day - 5*time.Minute, SettlementTTL: 14 * day,
	SessionChecks: [3]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour}, AfterExpiry: time.Minute, SettlementCheck: day,
	PaymentCall: 15 * time.Second, PaymentBase: 2 * time.Second, CaptureCap: 2 * time.Minute, RefundCap: 10 * time.Minute,
	CaptureDeadline: 165 * time.Minute, RefundBudget: 72 * time.Hour,
	CaptureCheck: 5 * time.Minute, DisputeCheck: day, RefundCheck: day, RefundTTL: 14 * day,
	PaidChecks:      [3]time.Duration{day, 7 * day, 30 * day},
	CancelledChecks: [3]time.Duration{time.Hour, day, 72 * time.Hour},
	KeepBodies:      90 * day,
}

// capturePolicy says how long and how often a capture is tried (docs/sagas.md,
// "Policies").
func (t Times) capturePolicy(quarantine time.Duration) sagas.Policy {
	return sagas.Policy{
		Timeout: t.PaymentCall, Budget: t.CaptureDeadline, Base: t.PaymentBase, Cap: t.CaptureCap, Quarantine: quarantine, Defer: true,
	}
}

// refundPolicy is that of refunds.
func (t Times) refundPolicy(quarantine time.Duration) sagas.Policy {
	return sagas.Policy{Timeout: t.PaymentCall, Budget: t.RefundBudget, Base: t.PaymentBase, Cap: t.RefundCap, Quarantine: quarantine}
}
