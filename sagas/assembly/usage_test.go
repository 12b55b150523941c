package assembly_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// A gauged engine tells what tenants use.
type gauged struct {
	*fakeEngine
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

// tenant adds one; with a client the engine knows it.
func (w *world) tenant(id, client int64) hosting.Ref {
	w.t.Helper()
	ref := hosting.Ref{Kind: "tenant", ID: id}
	spec := hosting.Tenant{Name: fmt.Sprint("T", id), Email: "a@example.com", Slug: fmt.Sprint("t", id), Username: fmt.Sprint("t", id), Status: hosting.InService, IsActive: true, Limits: hosting.NoLimits()}
	w.does(hosting.Request{Ref: ref, Tenant: id, Spec: spec.Fields().Values(), For: "test"})
	if client != 0 {
		w.does(hosting.Confirm{Ref: ref, EngineID: client})
	}
	return ref
}

func (w *world) does(commands ...domain.Command) {
	w.t.Helper()
	_, err := w.store.Execute(w.t.Context(), domain.Metadata{Actor: "test"}, commands...)
	w.must(err)
}

func (w *world) usage(tenant int64) hosting.Measurement {
	w.t.Helper()
	m, err := w.tables.For(projections.System).Usage(w.t.Context(), tenant)
	w.must(err)
	return m
}

func gauging(g *gauged) func(*assembly.Options) {
	return func(o *assembly.Options) {
		g.fakeEngine = o.Engine.(*fakeEngine)
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
	w := newWorld(t, gauging(g))
	w.tenant(1, 11)
	w.tenant(2, 0) // unknown to the engine
	w.tenant(3, 33)
	w.goes()
	w.eventually("both are measured", func() bool { return !w.usage(1).CollectedAt.IsZero() && !w.usage(3).CollectedAt.IsZero() })
	w.equal("storage of 1", w.usage(1).StorageMB(), 11)
	w.equal("storage of 3", w.usage(3).StorageMB(), 33)
	w.equal("storage of 2", w.usage(2), hosting.Measurement{})
	first := w.usage(1)
	_, err := w.Exec(t.Context(), "let time pass", `update tenant_usage set next_at = now() where tenant = 1`)
	w.must(err)
	w.eventually("1 is measured again", func() bool { return w.usage(1).CollectedAt.After(first.CollectedAt) })
	w.equal("traffic of 1, also that of a site which is off by now", w.usage(1).TrafficMB(), 2)
	g.mu.Lock()
	defer g.mu.Unlock()
	w.equal("questions", len(g.asked), 3)
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
	w := newWorld(t, gauging(g), func(o *assembly.Options) { o.Times.Lease = 50 * time.Millisecond })
	w.tenant(1, 11)
	w.tenant(3, 33)
	gone := w.tenant(4, 44)
	_, err := w.Exec(t.Context(), "enlist", `insert into tenant_usage (tenant) values (4)`)
	w.must(err)
	w.does(hosting.Remove{Ref: gone})
	w.goes()
	w.eventually("all are measured", func() bool { return w.usage(1).TrafficMB() == 1 && w.usage(3).TrafficMB() == 1 })
	w.eventually("the one that is gone is forgotten", func() bool { return w.count(`select count(*) from tenant_usage where tenant = 4`) == 0 })
	w.equal("failures that are kept", w.count(`select sum(fails) from tenant_usage`), 0)
	if !w.warned("the usage of a tenant was not measured") {
		t.Error("no user was told")
	}
}
