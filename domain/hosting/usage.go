package hosting

import (
	"time"

	"hostpanel/domain/field"
)

// A Measurement is what a tenant uses, as the engine said when it was last
// asked (docs/tenants.md, "Figures").
type Measurement struct {
	CollectedAt time.Time        `json:"collected_at"`
	Storage     map[string]int64 `json:"storage"` // bytes, by kind and name
	Traffic     map[string]int64 `json:"traffic"` // bytes of the month, by domain
}

// Then is the measurement after the engine was asked again. What it does not
// know at the moment is what it knew before; traffic counts from the first of
// the month (UTC), also that of a site that is off or gone by now.
func (m Measurement) Then(u Usage) Measurement {
	next := Measurement{CollectedAt: u.ReadAt.UTC(), Storage: map[string]int64{}, Traffic: map[string]int64{}}
	for _, one := range u.Storage {
		key := one.Kind + " " + one.Name
		if one.Bytes != nil {
			next.Storage[key] = *one.Bytes
		} else if before, known := m.Storage[key]; known {
			next.Storage[key] = before
		}
	}
	if month(m.CollectedAt) == month(next.CollectedAt) {
		for domain, bytes := range m.Traffic {
			next.Traffic[domain] = bytes
		}
	}
	for domain, bytes := range u.Traffic {
		next.Traffic[domain] = bytes
	}
	return next
}

func month(at time.Time) string { return at.UTC().Format("2006-01") }

// StorageMB and TrafficMB are what is used in whole megabytes, rounded up.
func (m Measurement) StorageMB() int64 { return megabytes(m.Storage) }

// TrafficMB is the traffic of the month, rounded up.
func (m Measurement) TrafficMB() int64 { return megabytes(m.Traffic) }

func megabytes(parts map[string]int64) int64 {
	const megabyte = 1 << 20
	var sum int64
	for _, bytes := range parts {
		sum += bytes
	}
	return (sum + megabyte - 1) / megabyte
}

// Usage is what a tenant uses at the engine, by the engine's own figures. They
// carry no time of their own: ReadAt is when they were asked for.
type Usage struct {
	ReadAt  time.Time
	Storage []Measure        // sites, mailboxes, databases
	Traffic map[string]int64 // bytes this month by domain; a site that is off is missing: its last value stands
}

// A Measure is the storage that one resource uses.
type Measure struct {
	Kind  string // "site", "mailbox", "database"
	Name  string // natural key
	Bytes *int64 // nil: the engine does not know
}

// StorageBytes adds up what is known.
func (u Usage) StorageBytes() (sum int64) {
	for _, m := range u.Storage {
		if m.Bytes != nil {
			sum += *m.Bytes
		}
	}
	return sum
}

const (
	noQuota  = -1
	mostMB   = 10 << 20 // ten terabytes
	tooSmall = 1
)

// quotaMB is how much storage a part of a tenant may take: -1 is without
// bounds, which only tenants without bounds may give.
func quotaMB(at *int64, preset int64) field.Field {
	return field.Int("quota_mb", at).Between(tooSmall, mostMB).Or(noQuota).Default(preset).
		Doc("Megabytes; -1 is without limit, and not for tenants whose storage has one.")
}

// completeQuota bounds what was left out where the tenant's storage is bounded.
func completeQuota(quota *int64, p Place) {
	if p.New() && !p.Sent.Has("quota_mb") && *quota == noQuota && p.Limits.Of(StorageMB) != Unlimited {
		*quota = min(max(p.Limits.Of(StorageMB), tooSmall), mostMB)
	}
}

func checkQuota(quota int64, p Place, wrong *field.Errors) {
	if p.Sent.Has("quota_mb") && quota == noQuota && p.Limits.Of(StorageMB) != Unlimited {
		wrong.Add("quota_mb", field.TooSmall(tooSmall))
	}
}
