package hosting

import (
	"time"

	"hostpanel/domain/hosting"
)

const day = 24 * time.Hour

// Times are those of hosting resources after they were made.
type Times struct {
	CertificateLook time.Duration // between two looks at a certificate of which nothing is due
	SyncBudget      time.Duration // for a comparison with the engine, with all that it pushes
	BinLife         time.Duration // of what is in the bin
	BinLook         time.Duration // the longest pause between two looks into it
	Measure         time.Duration // between two measurements of what a tenant uses; 0: nothing is measured
	MeasurePoll     time.Duration // between two looks for tenants to measure
	Compare         time.Duration // in which every tenant is compared with the engine once; 0: none is
	ComparePoll     time.Duration // between two looks for the next tenant to compare, and the most between two tenants
	CompareLease    time.Duration // for which a process has a tenant to compare
}

// Defaults are the times of docs/sagas.md.
var Defaults = Times{
	SyncBudget: 2 * time.Minute, CertificateLook: day, BinLife: hosting.BinLife, BinLook: 6 * time.Hour, Measure: day,
	MeasurePoll: time.Minute,
	Compare:     day, ComparePoll: time.Minute, CompareLease: 10 * time.Minute,
}
