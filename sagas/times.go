package sagas

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Times are the durations that sagas live by (docs/sagas.md, "Times"). Tests
// shrink them; nobody else should have to.
type Times struct {
	Lease    time.Duration // how long a run belongs to a worker that says nothing
	Poll     time.Duration // how often work is looked for without being told
	Grace    time.Duration // for calls that are running when the program stops
	Call     time.Duration // of a step whose policy names no other limit
	Write    time.Duration // of a transaction
	Floor    time.Duration // the least pause between two attempts
	Break    time.Duration // a queue rests after failures in a row, at first
	BreakMax time.Duration // and at last

	Quarantine time.Duration // before "not found" is proof

	LocalBase, LocalCap   time.Duration
	EngineBase, EngineCap time.Duration
	EngineBudget          time.Duration
	CertificateLook       time.Duration // between two looks at a certificate of which nothing is due
	SecretLife            time.Duration // of a password on its way to the engine
	SyncBudget            time.Duration // for a comparison with the engine, with all that it pushes
	BinLife               time.Duration // of what is in the bin
	BinLook               time.Duration // the longest pause between two looks into it
	RefundGrace           time.Duration // for which a service that has ended is kept
	UndoBase, UndoCap     time.Duration // of taking back
	UndoBudget            time.Duration // until it needs a person
	ReadyBudget, VMBudget time.Duration
	ReadyFirst, ReadyLast time.Duration // between two looks
	MailBase, MailCap     time.Duration
	MailBudget            time.Duration // before the order goes on without
	LateBase, LateCap     time.Duration // between later tries
	LateBudget            time.Duration // until the mail is given up
	MailUnanswered        time.Duration // before a mail that may have gone out is sent again
	LinkLife              time.Duration // of a one-time link, after its mail was accepted
	WebhookBase           time.Duration
	WebhookCap            time.Duration
	WebhookBudget         time.Duration // until a message to an endpoint is given up
	SessionCall           time.Duration
	SessionPause          time.Duration
	SessionBudget         time.Duration // for all tries to open a session
	InboxBase, InboxCap   time.Duration
	InboxMatch            time.Duration // how long a webhook may wait for its order
	CheckLease            time.Duration // of a watch row
	CheckCall             time.Duration
	DownBase, DownCap     time.Duration // while a provider does not answer
	DownAlarm             time.Duration
	DownPace              time.Duration // between two questions to a provider that is down
	PendingTTL            time.Duration // for an order without a session
	OrderTTL              time.Duration // for an order that is not paid
	SessionLife           time.Duration // a little less
	SettlementTTL         time.Duration // for one that waits for a bank
	PaymentCall           time.Duration // to a payment provider
	PaymentBase           time.Duration
	CaptureCap, RefundCap time.Duration
	CaptureDeadline       time.Duration // after an approval nothing is captured any more
	RefundBudget          time.Duration // until a refund needs a person
	KeyLife               time.Duration // of a key at a payment provider
	CaptureCheck          time.Duration // between two looks while the money is being fetched
	RefundCheck           time.Duration // and while some is on its way back
	RefundTTL             time.Duration // for how long such looks are taken
	SessionChecks         [3]time.Duration
	AfterExpiry           time.Duration
	SettlementCheck       time.Duration
	PaidChecks            [3]time.Duration
	CancelledChecks       [3]time.Duration
	Keep                  time.Duration // of the bodies of webhooks, and of attempts
	Sweep                 time.Duration // between two rounds of the janitor
	Measure               time.Duration // between two measurements of what a tenant uses; 0: nothing is measured
	MeasurePoll           time.Duration // between two looks for tenants to measure
	VerifyRest            time.Duration // between two checks of the whole log; 0: it is not checked
	VerifyPause           time.Duration // between two parts of one
}

const day = 24 * time.Hour

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	Lease: 30 * time.Second, Poll: time.Second, Grace: 15 * time.Second, Call: 20 * time.Second, Write: 5 * time.Second, Floor: 200 * time.Millisecond,
	Break: 30 * time.Second, BreakMax: 5 * time.Minute, Quarantine: time.Minute,
	LocalBase: 200 * time.Millisecond, LocalCap: 5 * time.Second,
	EngineBase: time.Second, EngineCap: 10 * time.Minute, EngineBudget: day, SyncBudget: 2 * time.Minute, CertificateLook: day, BinLife: 30 * day, BinLook: 6 * time.Hour,
	RefundGrace: 7 * day, UndoBase: 5 * time.Second, UndoCap: 10 * time.Minute, UndoBudget: 7 * day, SecretLife: 72 * time.Hour,
	ReadyBudget: 2 * time.Hour, VMBudget: 30 * time.Minute, ReadyFirst: 5 * time.Second, ReadyLast: 20 * time.Second,
	MailBase: 2 * time.Second, MailCap: 30 * time.Second, MailBudget: 5 * time.Minute,
	LateBase: time.Minute, LateCap: time.Hour, LateBudget: 72 * time.Hour, MailUnanswered: 15 * time.Minute, LinkLife: 72 * time.Hour,
	WebhookBase: 5 * time.Second, WebhookCap: 10 * time.Hour, WebhookBudget: 72 * time.Hour,
	SessionCall: 10 * time.Second, SessionPause: time.Second, SessionBudget: 20 * time.Second,
	InboxBase: time.Second, InboxCap: 10 * time.Minute, InboxMatch: 10 * time.Minute,
	CheckLease: 30 * time.Second, CheckCall: 15 * time.Second,
	DownBase: 30 * time.Second, DownCap: 10 * time.Minute, DownAlarm: 15 * time.Minute, DownPace: 200 * time.Millisecond,
	PendingTTL: 30 * time.Minute, OrderTTL: day, SessionLife: day - 5*time.Minute, SettlementTTL: 14 * day,
	SessionChecks: [3]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour}, AfterExpiry: time.Minute, SettlementCheck: day,
	PaymentCall: 15 * time.Second, PaymentBase: 2 * time.Second, CaptureCap: 2 * time.Minute, RefundCap: 10 * time.Minute,
	CaptureDeadline: 165 * time.Minute, RefundBudget: 72 * time.Hour, KeyLife: 23 * time.Hour,
	CaptureCheck: 5 * time.Minute, RefundCheck: day, RefundTTL: 14 * day,
	PaidChecks:      [3]time.Duration{day, 7 * day, 30 * day},
	CancelledChecks: [3]time.Duration{time.Hour, day, 72 * time.Hour},
	Keep:            90 * day, Sweep: time.Minute,
	Measure: day, MeasurePoll: time.Minute, VerifyRest: day, VerifyPause: 250 * time.Millisecond,
}

// backOff is the pause after the n-th failure in a row: longer each time,
// spread at random so that many do not come back at once.
func backOff(least, base, limit time.Duration, n int) time.Duration {
	most := limit
	if n < 30 && base<<(max(n, 1)-1) < limit {
		most = base << (max(n, 1) - 1)
	}
	return max(least, rand.N(max(most, 1)))
}

// jittered is d, give or take a fifth.
func jittered(d time.Duration) time.Duration {
	return d*4/5 + rand.N(max(d*2/5, 1))
}

// pause waits for d, for a wake-up, or for the end of ctx.
func pause(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-woken:
	case <-ctx.Done():
	}
}

// alarm is a log line that somebody has to act on. It names things by their
// ids only.
func (s *Sagas) alarm(ctx context.Context, what string, about ...any) {
	s.log.LogAttrs(ctx, slog.LevelError, what, append([]slog.Attr{slog.Bool("alarm", true)}, attrs(about)...)...)
}

func attrs(pairs []any) []slog.Attr {
	var r slog.Record
	r.Add(pairs...)
	out := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool { out = append(out, a); return true })
	return out
}
