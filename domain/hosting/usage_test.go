package hosting_test

import (
	"testing"
	"time"

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
