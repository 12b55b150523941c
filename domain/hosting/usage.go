package hosting

import (
	"fmt"
	"slices"
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

// The traffic of a machine counts by the month, in UTC, and in both directions. Its owner is
// told at two marks; what happens at the second is a setting (docs/machines-console.md,
// "Traffic").

// The marks in percent.
const (
	TrafficNear = 80
	TrafficUsed = 100
)

// What happens to a machine whose traffic is used up, until the month ends.
const (
	TellTraffic = "tell" // its owner is told
	SlowTraffic = "slow" // it has [SlowMbit] in each direction
	StopTraffic = "stop" // it is switched off
)

// SlowMbit is the rate of a machine whose traffic is used up.
const SlowMbit = 10

// Terabyte is what traffic is limited in, in bytes.
const Terabyte = 1_000_000_000_000

// CountTraffic decides what follows from the traffic of a machine in a month. Doing it again
// changes nothing.
type CountTraffic struct {
	Ref
	Month   string // "2026-11"
	Bytes   int64
	LimitTB int64  // 0: none
	Excess  string // [TellTraffic], [SlowTraffic] or [StopTraffic]
	Rate    int64  // of the machine as it is wanted, in Mbit; 0: not limited
}

type (
	// TrafficReached: the machine has used so many percent of the traffic of a month.
	TrafficReached struct {
		Month   string `json:"month"`
		Percent int64  `json:"percent"`
		LimitTB int64  `json:"limit_tb"`
		Excess  string `json:"excess,omitempty"` // what happens now that all of it is used
	}
	// TrafficSlowed: the machine is slow until the month ends. Before is its rate else.
	TrafficSlowed struct {
		Before int64 `json:"before,omitempty"`
	}
	// TrafficFreed: the machine is as fast as before.
	TrafficFreed struct{}
)

// A TrafficState is what was decided about the traffic of a machine.
type TrafficState struct {
	Month   string `json:"month,omitempty"`
	Percent int64  `json:"percent,omitempty"` // the last mark of the month
	Slowed  bool   `json:"slowed,omitempty"`
	Before  int64  `json:"before,omitempty"`
}

func (TrafficReached) EventName() string { return "hosting.traffic_reached" }
func (TrafficSlowed) EventName() string  { return "hosting.traffic_slowed" }
func (TrafficFreed) EventName() string   { return "hosting.traffic_freed" }

func (e TrafficReached) Says() string {
	return fmt.Sprintf("%d %% of the traffic of %s are used", e.Percent, e.Month)
}
func (TrafficSlowed) Says() string { return "slow, because the traffic of the month is used up" }
func (TrafficFreed) Says() string  { return "as fast as before" }

func (c CountTraffic) decide(r Resource) ([]Event, error) {
	kind, _ := KindNamed(c.Kind)
	if r.Status == "" {
		return nil, kind.absent()
	}
	if r.ended() || r.Trashed {
		return nil, nil
	}
	mark, excess := c.mark(), ""
	if mark == TrafficUsed {
		excess = c.Excess
	}
	var events []Event
	if mark > 0 && (c.Month > r.Traffic.Month || c.Month == r.Traffic.Month && mark > r.Traffic.Percent) {
		events = append(events, TrafficReached{Month: c.Month, Percent: mark, LimitTB: c.LimitTB, Excess: excess})
	}
	return append(append(events, r.slowed(kind, excess == SlowTraffic, c.Rate)...), r.stopped(kind, excess == StopTraffic)...), nil
}

// mark is the last one that the machine has passed; 0: none.
func (c CountTraffic) mark() int64 {
	if c.LimitTB <= 0 {
		return 0
	}
	switch percent := c.Bytes / (c.LimitTB * Terabyte / 100); {
	case percent >= TrafficUsed:
		return TrafficUsed
	case percent >= TrafficNear:
		return TrafficNear
	}
	return 0
}

// slowed are the events that make a machine slow, or as fast as before.
func (r Resource) slowed(kind Kind, slow bool, rate int64) []Event {
	switch {
	case slow && !r.Traffic.Slowed && (rate == 0 || rate > SlowMbit):
		return append(kind.settled(Changed{Spec: rateSpec(SlowMbit)}), TrafficSlowed{Before: rate})
	case !slow && r.Traffic.Slowed:
		return append(kind.settled(Changed{Spec: rateSpec(r.Traffic.Before)}), TrafficFreed{})
	}
	return nil
}

// stopped are the events that switch a machine off, or on again.
func (r Resource) stopped(kind Kind, stop bool) []Event {
	is := slices.Contains(r.DisabledBy, ByTraffic)
	switch {
	case stop && !is:
		return kind.settled(Disabled{ByTraffic})
	case !stop && is:
		return kind.settled(Enabled{ByTraffic})
	}
	return nil
}

func rateSpec(mbit int64) field.Values {
	m := Machine{RateMbit: mbit}
	return m.Fields().Only("rate_mbit").Values()
}

func (e TrafficReached) evolve(r Resource) Resource {
	r.Traffic.Month, r.Traffic.Percent = e.Month, e.Percent
	return r
}

func (e TrafficSlowed) evolve(r Resource) Resource {
	r.Traffic.Slowed, r.Traffic.Before = true, e.Before
	return r
}

func (TrafficFreed) evolve(r Resource) Resource {
	r.Traffic.Slowed, r.Traffic.Before = false, 0
	return r
}

// A MachineUsage is what a machine uses, as it was read last.
type MachineUsage struct {
	ReadAt   *time.Time // nil: it was not read yet
	Cores    *float64   // that it was busy with on average since the reading before; nil: not known
	MemoryMB int64      // 0: not told
	DiskMB   int64      // 0: not told
	Month    string     // of the traffic
	Received int64      // bytes of the month
	Sent     int64
}

// MachineRef names a machine.
func MachineRef(id int64) Ref { return Ref{Kind: machines.Name, ID: id} }
