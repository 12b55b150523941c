// Package robustness holds the engine against a model of it (docs/reliability.md, "The
// oracle").
package robustness

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hostpanel/eventstore/clock"
	"hostpanel/tests/robustness/report"
	"hostpanel/tests/robustness/traffic"
)

// session is the number of operations of a session. Each has a database of its own: the
// tables stay small, and a seed is repeated quickly.
const session = 1000

// complete is the number of operations from which on a run has to see every cell.
const complete = 100_000

// setting is a number of the environment.
func setting(t *testing.T, name string, usual uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The engine answers each operation as the model does, and its tables are the model's.
// With HOSTPANEL_ROBUSTNESS_OPS it goes on until all has been seen that can be; less than
// [complete] repeat a seed, and need not see all.
func TestTheEngineDoesWhatTheModelDoes(t *testing.T) {
	wanted, most := usual, 1
	sessions := setting(t, "HOSTPANEL_ROBUSTNESS_OPS", 0) / session
	switch {
	case sessions == 0:
		sessions = 4
	case sessions*session < complete:
		wanted = nil
	default:
		wanted, most = append(wanted, rare...), 2
	}
	seed := setting(t, "HOSTPANEL_ROBUSTNESS_SEED", 1)
	t.Logf("%d sessions of %d operations, from seed %d", sessions, session, seed)
	coverage, began, done := &report.Coverage{}, clock.Now(), uint64(0)
	missing := wanted
	for round := 0; round < most && (round == 0 || len(missing) > 0) && !t.Failed(); round++ {
		t.Run("sessions", func(t *testing.T) { compare(t, coverage, seed+done, sessions) })
		done += sessions
		missing = coverage.Missing(wanted)
	}
	t.Logf("%d operations, %.0f a second; seen:\n%s", done*session, float64(done*session)/clock.Since(began).Seconds(), coverage.Table())
	if !t.Failed() && len(missing) > 0 {
		t.Errorf("never seen:\n%s", strings.Join(missing, "\n"))
	}
}

// compare carries out sessions, as many at once as there are processors.
func compare(t *testing.T, coverage *report.Coverage, seed, sessions uint64) {
	t.Helper()
	for n := range sessions {
		t.Run(strconv.FormatUint(seed+n, 10), func(t *testing.T) {
			t.Parallel()
			if err := traffic.NewSession(t, seed+n, coverage).Run(t.Context(), session); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The same seed leads to the same operations, answers and events.
func TestASeedTellsTheSameStoryTwice(t *testing.T) {
	t.Parallel()
	var traces [2][]string
	for n := range traces {
		s := traffic.NewSession(t, 7, &report.Coverage{})
		if err := s.Run(t.Context(), 300); err != nil {
			t.Fatal(err)
		}
		traces[n] = s.Trace
	}
	if !slices.Equal(traces[0], traces[1]) {
		t.Errorf("two runs of seed 7 differ:\n%q\n%q", traces[0], traces[1])
	}
}
