package hosting_test

import (
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

func known(n int64) *int64 { return &n }

// What the engine does not know at the moment is what it knew before, and
// traffic counts by the month.
func TestAMeasurementKeepsWhatTheEngineDoesNotKnow(t *testing.T) {
	at := func(day string) time.Time {
		parsed, err := time.Parse(time.DateTime, day)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	const mb = 1 << 20
	var m hosting.Measurement
	for _, asked := range []struct {
		what             string
		usage            hosting.Usage
		storage, traffic int64
	}{
		{"at first nothing is known", hosting.Usage{
			ReadAt: at("2026-11-29 10:00:00"), Storage: []hosting.Measure{{Kind: "site", Name: "a.example"}},
		}, 0, 0},
		{"a byte more is a megabyte more", hosting.Usage{
			ReadAt: at("2026-11-30 10:00:00"),
			Storage: []hosting.Measure{
				{"site", "a.example", known(5*mb + 1)},
				{"mailbox", "a@a.example", known(0)},
				{"database", "c1_a", known(2 * mb)},
			},
			Traffic: map[string]int64{"a.example": 3 * mb, "b.example": 4 * mb},
		}, 8, 7},
		{"what is unknown keeps its value, what is gone does not; a site that is off has had its traffic", hosting.Usage{
			ReadAt:  at("2026-11-30 23:59:59"),
			Storage: []hosting.Measure{{Kind: "site", Name: "a.example"}, {"mailbox", "a@a.example", known(mb)}},
			Traffic: map[string]int64{"b.example": 6 * mb},
		}, 7, 9},
		{"in another month traffic begins anew", hosting.Usage{
			ReadAt:  at("2026-12-01 00:00:01"),
			Storage: []hosting.Measure{{Kind: "site", Name: "a.example"}},
			Traffic: map[string]int64{"b.example": 1},
		}, 6, 1},
		{"in the same month of another year too", hosting.Usage{ReadAt: at("2027-12-01 00:00:01")}, 0, 0},
	} {
		m = m.Then(asked.usage)
		if m.StorageMB() != asked.storage || m.TrafficMB() != asked.traffic || !m.CollectedAt.Equal(asked.usage.ReadAt) {
			t.Errorf("%s: %d and %d MB at %v", asked.what, m.StorageMB(), m.TrafficMB(), m.CollectedAt)
		}
	}
}

// counted is the traffic of a machine that may use two terabytes a month.
func counted(month string, gigabytes int64, excess string) hosting.CountTraffic {
	return hosting.CountTraffic{Ref: vm, Month: month, Bytes: gigabytes * 1_000_000_000, LimitTB: 2, Excess: excess}
}

func reached(month string, percent int64, excess ...string) hosting.TrafficReached {
	return hosting.TrafficReached{Month: month, Percent: percent, LimitTB: 2, Excess: strings.Join(excess, "")}
}

func TestAnOwnerIsToldOfTrafficOnceAMonthAtEachMark(t *testing.T) {
	given(t, vmWanted, vmMade).When(counted("2026-11", 1599, "tell")).Then()
	given(t, vmWanted, vmMade).When(counted("2026-11", 1600, "tell")).Then(reached("2026-11", 80))
	given(t, vmWanted, vmMade, reached("2026-11", 80)).When(counted("2026-11", 1999, "tell")).Then()
	given(t, vmWanted, vmMade, reached("2026-11", 80)).When(counted("2026-11", 2000, "tell")).Then(reached("2026-11", 100, "tell"))
	given(t, vmWanted, vmMade).When(counted("2026-11", 5000, "tell")).Then(reached("2026-11", 100, "tell"))
	given(t, vmWanted, vmMade, reached("2026-11", 100)).When(counted("2026-11", 9000, "tell")).Then()
	given(t, vmWanted, vmMade, reached("2026-11", 100)).When(counted("2026-12", 1700, "tell")).Then(reached("2026-12", 80))
	given(t, vmWanted, vmMade, reached("2026-12", 80)).When(counted("2026-11", 2000, "tell")).Then() // late
	unlimited := counted("2026-11", 9000, "stop")
	unlimited.LimitTB = 0
	given(t, vmWanted, vmMade).When(unlimited).Then()
	given(t, vmWanted, vmMade, leaving).When(counted("2026-11", 2000, "stop")).Then()
	given(t).When(counted("2026-11", 2000, "tell")).ThenRefused(domain.NotFound, "No VM matches the given query.")
}

func TestAMachineWhoseTrafficIsUsedUpIsSlowUntilTheMonthEnds(t *testing.T) {
	full, slow := reached("2026-11", 100, "slow"), hosting.Changed{Spec: values(`{"rate_mbit":10}`)}
	count := counted("2026-11", 2000, "slow")
	count.Rate = 500
	fast := hosting.Changed{Spec: values(`{"rate_mbit":500}`)}
	slowed := hosting.TrafficSlowed{Before: 500}
	given(t, vmWanted, vmMade).When(count).Then(full, slow, slowed)
	count.Rate = 10
	given(t, vmWanted, vmMade, full, slow, slowed).When(count).Then()
	next := counted("2026-12", 1, "slow")
	next.Rate = 10
	given(t, vmWanted, vmMade, full, slow, slowed).When(next).Then(fast, hosting.TrafficFreed{})
	more := count // the plan has more by now
	more.LimitTB = 4
	given(t, vmWanted, vmMade, full, slow, slowed).When(more).Then(fast, hosting.TrafficFreed{})
	given(t, vmWanted, vmMade).When(count).Then(full) // it is as slow already
}

func TestAMachineWhoseTrafficIsUsedUpIsOffUntilTheMonthEnds(t *testing.T) {
	full, off := reached("2026-11", 100, "stop"), hosting.Disabled{By: hosting.ByTraffic}
	given(t, vmWanted, vmMade).When(counted("2026-11", 2000, "stop")).Then(full, off)
	given(t, vmWanted, vmMade, full, off).When(counted("2026-11", 2000, "stop")).Then()
	given(t, vmWanted, vmMade, full, off).When(counted("2026-12", 0, "stop")).Then(hosting.Enabled{By: hosting.ByTraffic})
	given(t, vmWanted, vmMade, full, off).When(counted("2026-11", 2000, "tell")).Then(hosting.Enabled{By: hosting.ByTraffic}) // it was set
	given(t, vmWanted, vmMade, full, off, halted).When(counted("2026-12", 0, "stop")).Then(hosting.Enabled{By: hosting.ByTraffic})
}
