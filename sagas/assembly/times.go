package assembly

import (
	"time"

	"hostpanel/sagas"
	"hostpanel/sagas/notify"
	"hostpanel/sagas/operations"
	"hostpanel/sagas/payments"
)

const day = 24 * time.Hour

// OperationsTimes are those of checks that run by themselves.
type OperationsTimes = operations.Times

// PaymentTimes are those of payments.
type PaymentTimes = payments.Times

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
type NotifyTimes = notify.Times

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	Times:             sagas.Defaults,
	ProvisioningTimes: ProvisioningTimes{RefundGrace: 7 * day},
	HostingTimes: HostingTimes{
		EngineBase: time.Second, EngineCap: 10 * time.Minute, EngineBudget: day, SyncBudget: 2 * time.Minute, CertificateLook: day, SecretLife: 72 * time.Hour,
		BinLife: 30 * day, BinLook: 6 * time.Hour, ReadyBudget: 2 * time.Hour, VMBudget: 30 * time.Minute, ReadyFirst: 5 * time.Second, ReadyLast: 20 * time.Second,
		Measure: day, MeasurePoll: time.Minute,
	},
	NotifyTimes:     notify.Defaults,
	PaymentTimes:    payments.Defaults,
	OperationsTimes: operations.Defaults,
}
