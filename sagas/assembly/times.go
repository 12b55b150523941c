package assembly

import (
	"time"

	"hostpanel/sagas"
)

const day = 24 * time.Hour

// Times are the durations that all areas live by: those of the runner and
// those of each area. Tests shrink them.
type Times struct {
	sagas.Times
	ProvisioningTimes
	PaymentTimes
	HostingTimes
	NotifyTimes
	OperationsTimes
}

// ProvisioningTimes are those of orders that become services, and end.
type ProvisioningTimes struct {
	RefundGrace time.Duration // for which a service that has ended is kept
}

// HostingTimes are those of resources at the hosting engine.
type HostingTimes struct {
	EngineBase, EngineCap time.Duration
	EngineBudget          time.Duration
	CertificateLook       time.Duration // between two looks at a certificate of which nothing is due
	SecretLife            time.Duration // of a password on its way to the engine
	SyncBudget            time.Duration // for a comparison with the engine, with all that it pushes
	BinLife               time.Duration // of what is in the bin
	BinLook               time.Duration // the longest pause between two looks into it
	ReadyBudget, VMBudget time.Duration
	ReadyFirst, ReadyLast time.Duration // between two looks
	Measure               time.Duration // between two measurements of what a tenant uses; 0: nothing is measured
	MeasurePoll           time.Duration // between two looks for tenants to measure
}

// NotifyTimes are those of mails, and of messages to endpoints of tenants.
type NotifyTimes struct {
	MailBase, MailCap time.Duration
	MailBudget        time.Duration // before the order goes on without
	LateBase, LateCap time.Duration // between later tries
	LateBudget        time.Duration // until the mail is given up
	MailUnanswered    time.Duration // before a mail that may have gone out is sent again
	LinkLife          time.Duration // of a one-time link, after its mail was accepted
	WebhookBase       time.Duration
	WebhookCap        time.Duration
	WebhookBudget     time.Duration // until a message to an endpoint is given up
}

// PaymentTimes are those of payments and of what watches over them.
type PaymentTimes struct {
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
	RefundBudget          time.Duration // until a refund needs an operator
	CaptureCheck          time.Duration // between two looks while the money is being fetched
	RefundCheck           time.Duration // and while some is on its way back
	RefundTTL             time.Duration // for how long such looks are taken
	SessionChecks         [3]time.Duration
	AfterExpiry           time.Duration
	SettlementCheck       time.Duration
	PaidChecks            [3]time.Duration
	CancelledChecks       [3]time.Duration
	KeepBodies            time.Duration // of webhooks
}

// OperationsTimes are those of checks that nobody asks for.
type OperationsTimes struct {
	VerifyRest  time.Duration // between two checks of the whole log; 0: it is not checked
	VerifyPause time.Duration // between two parts of one
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	Times:             sagas.Defaults,
	ProvisioningTimes: ProvisioningTimes{RefundGrace: 7 * day},
	HostingTimes: HostingTimes{
		EngineBase: time.Second, EngineCap: 10 * time.Minute, EngineBudget: day, SyncBudget: 2 * time.Minute, CertificateLook: day, SecretLife: 72 * time.Hour,
		BinLife: 30 * day, BinLook: 6 * time.Hour, ReadyBudget: 2 * time.Hour, VMBudget: 30 * time.Minute, ReadyFirst: 5 * time.Second, ReadyLast: 20 * time.Second,
		Measure: day, MeasurePoll: time.Minute,
	},
	NotifyTimes: NotifyTimes{
		MailBase: 2 * time.Second, MailCap: 30 * time.Second, MailBudget: 5 * time.Minute,
		LateBase: time.Minute, LateCap: time.Hour, LateBudget: 72 * time.Hour, MailUnanswered: 15 * time.Minute, LinkLife: 72 * time.Hour,
		WebhookBase: 5 * time.Second, WebhookCap: 10 * time.Hour, WebhookBudget: 72 * time.Hour,
	},
	PaymentTimes: PaymentTimes{
		SessionCall: 10 * time.Second, SessionPause: time.Second, SessionBudget: 20 * time.Second,
		InboxBase: time.Second, InboxCap: 10 * time.Minute, InboxMatch: 10 * time.Minute,
		CheckLease: 30 * time.Second, CheckCall: 15 * time.Second,
		DownBase: 30 * time.Second, DownCap: 10 * time.Minute, DownAlarm: 15 * time.Minute, DownPace: 200 * time.Millisecond,
		PendingTTL: 30 * time.Minute, OrderTTL: day, SessionLife: day - 5*time.Minute, SettlementTTL: 14 * day,
		SessionChecks: [3]time.Duration{2 * time.Minute, 10 * time.Minute, time.Hour}, AfterExpiry: time.Minute, SettlementCheck: day,
		PaymentCall: 15 * time.Second, PaymentBase: 2 * time.Second, CaptureCap: 2 * time.Minute, RefundCap: 10 * time.Minute,
		CaptureDeadline: 165 * time.Minute, RefundBudget: 72 * time.Hour,
		CaptureCheck: 5 * time.Minute, RefundCheck: day, RefundTTL: 14 * day,
		PaidChecks:      [3]time.Duration{day, 7 * day, 30 * day},
		CancelledChecks: [3]time.Duration{time.Hour, day, 72 * time.Hour},
		KeepBodies:      90 * day,
	},
	OperationsTimes: OperationsTimes{VerifyRest: day, VerifyPause: 250 * time.Millisecond},
}
