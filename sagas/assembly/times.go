package assembly

import (
	"time"

	"hostpanel/sagas"
	"hostpanel/sagas/audit"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/hosting/reconcile"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/operations"
	"hostpanel/sagas/payments"
)

const day = 24 * time.Hour

// OperationsTimes are those of checks that run by themselves.
type OperationsTimes = operations.Times

// AuditTimes are those of what is kept beside the log.
type AuditTimes = audit.Times

// PaymentTimes are those of payments.
type PaymentTimes = payments.Times

// Times are the durations that all areas live by: those of the runner and
// those of each area. Tests shrink them.
type Times struct {
	sagas.Times
	ProvisioningTimes
	PaymentTimes
	ReconcileTimes
	HostingTimes
	NotifyTimes
	OperationsTimes
	AuditTimes
	BillingTimes
}

// BillingTimes are those of renewals.
type BillingTimes struct {
	BillingLook time.Duration // between two looks at which subscriptions are due
}

// ProvisioningTimes are those of orders that become services, and end.
type ProvisioningTimes struct {
	RefundGrace time.Duration // for which a service that has ended is kept
}

// ReconcileTimes are those of resources on their way to the hosting engine.
type ReconcileTimes = reconcile.Times

// HostingTimes are those of hosting resources after they were made.
type HostingTimes = hosting.Times

// NotifyTimes are those of mails, and of messages to endpoints of tenants.
type NotifyTimes = notices.Times

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	Times:             sagas.Defaults,
	ProvisioningTimes: ProvisioningTimes{RefundGrace: 7 * day},
	ReconcileTimes: ReconcileTimes{
		EngineBase: time.Second, EngineCap: 10 * time.Minute, EngineBudget: day, SecretLife: 72 * time.Hour,
		ReadyBudget: 2 * time.Hour, VMBudget: 30 * time.Minute, ReadyFirst: 5 * time.Second, ReadyLast: 20 * time.Second,
	},
	HostingTimes: HostingTimes{
		SyncBudget: 2 * time.Minute, CertificateLook: day, BinLife: 30 * day, BinLook: 6 * time.Hour, Measure: day,
		MeasurePoll: time.Minute,
		Compare:     day, ComparePoll: time.Minute, CompareLease: 10 * time.Minute,
	},
	NotifyTimes:     notices.Defaults,
	PaymentTimes:    payments.Defaults,
	OperationsTimes: operations.Defaults,
	AuditTimes:      audit.Defaults,
	BillingTimes:    BillingTimes{BillingLook: time.Minute},
}
