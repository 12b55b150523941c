package assembly

import (
	"time"

	"hostpanel/sagas"
	"hostpanel/sagas/audit"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/hosting/reconcile"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/operations"
	"hostpanel/sagas/orders"
	"hostpanel/sagas/payments"
)

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
	ProvisioningTimes: ProvisioningTimes{RefundGrace: orders.RefundGrace},
	ReconcileTimes:    reconcile.Defaults,
	HostingTimes:      hosting.Defaults,
	NotifyTimes:       notices.Defaults,
	PaymentTimes:      payments.Defaults,
	OperationsTimes:   operations.Defaults,
	AuditTimes:        audit.Defaults,
	BillingTimes:      BillingTimes{BillingLook: time.Minute},
}
