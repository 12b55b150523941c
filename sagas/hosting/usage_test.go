package hosting_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// A gauged engine tells what tenants use.
type gauged struct {
	*sagastest.Engine
	mu    sync.Mutex
	asked []int64
	tells func(owner int64, nth int) (hosting.Usage, error)
}

func (g *gauged) Usage(_ context.Context, owner int64) (hosting.Usage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, owner)
	return g.tells(owner, len(g.asked))
}

func usage(w *sagastest.World, tenant int64) hosting.Measurement {
	w.T.Helper()
	m, err := w.Tables.For(projections.System).Hosting().Usage(w.T.Context(), tenant)
	w.Must(err)
	return m
}

func gauging(g *gauged) func(*assembly.Options) {
	return func(o *assembly.Options) {
		g.Engine = o.Engine.(*sagastest.Engine)
		o.Engine = g
		o.Times.Measure, o.Times.MeasurePoll = time.Hour, 10*time.Millisecond
	}
}

// Every tenant that the engine knows is measured, by one process at a time, and
// again when its turn comes.
func TestWhatATenantUsesIsMeasuredInTurn(t *testing.T) {
	t.Parallel()
	megabytes := func(n int64) *int64 { n <<= 20; return &n }
	g := &gauged{tells: func(owner int64, nth int) (hosting.Usage, error) {
		return hosting.Usage{
			ReadAt:  time.Now(),
			Storage: []hosting.Measure{{Kind: "site", Name: "a.example", Bytes: megabytes(owner)}},
			Traffic: map[string]int64{fmt.Sprint(nth, ".example"): 1 << 20},
		}, nil
	}}
	w := sagastest.NewWorld(t, gauging(g))
	w.Tenant(1, 11)
	w.Tenant(2, 0) // unknown to the engine
	w.Tenant(3, 33)
	w.Goes()
	w.Eventually("both are measured", func() bool { return !usage(w, 1).CollectedAt.IsZero() && !usage(w, 3).CollectedAt.IsZero() })
	w.Equal("storage of 1", usage(w, 1).StorageMB(), 11)
	w.Equal("storage of 3", usage(w, 3).StorageMB(), 33)
	w.Equal("storage of 2", usage(w, 2), hosting.Measurement{})
	first := usage(w, 1)
	_, err := w.Runner.Exec(t.Context(), "let time pass", `update tenant_usage set next_at = now() where tenant = 1`)
	w.Must(err)
	w.Eventually("1 is measured again", func() bool { return usage(w, 1).CollectedAt.After(first.CollectedAt) })
	w.Equal("traffic of 1, also that of a site which is off by now", usage(w, 1).TrafficMB(), 2)
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Equal("questions", len(g.asked), 3)
}

// A failure neither loses what is known nor keeps others waiting; a tenant that
// is gone is asked for no more.
func TestAnEngineThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	t.Parallel()
	failing := errors.New("no answer")
	g := &gauged{tells: func(owner int64, nth int) (hosting.Usage, error) {
		if owner == 11 && nth < 3 {
			return hosting.Usage{}, failing
		}
		return hosting.Usage{ReadAt: time.Now(), Traffic: map[string]int64{"a.example": 1}}, nil
	}}
	w := sagastest.NewWorld(t, gauging(g), func(o *assembly.Options) { o.Times.Lease = 50 * time.Millisecond })
	w.Tenant(1, 11)
	w.Tenant(3, 33)
	gone := w.Tenant(4, 44)
	_, err := w.Runner.Exec(t.Context(), "enlist", `insert into tenant_usage (tenant) values (4)`)
	w.Must(err)
	w.Does(hosting.Remove{Ref: gone})
	w.Goes()
	w.Eventually("all are measured", func() bool { return usage(w, 1).TrafficMB() == 1 && usage(w, 3).TrafficMB() == 1 })
	w.Eventually("the one that is gone is forgotten", func() bool {
		return w.Count(`select count(*) from tenant_usage where tenant = 4`) == 0
	})
	w.Eventually("no failure is kept", func() bool { return w.Count(`select count(*) from task where queue = 'usage'`) == 0 })
	if !w.Warned("the usage of a tenant was not measured") {
		t.Error("no user was told")
	}
}
