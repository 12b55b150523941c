//go:build system

package sagas_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// N-13: an idle process polls each queue and each reader twice a second at most.
// Its times are those of production.
func TestAnIdleProcessPollsTwiceASecondAtMost(t *testing.T) {
	seen := &pollCount{seen: map[string]int{}}
	w := sagastest.NewWorld(
		t, sagastest.Traced(t, &eventstoretest.Tracer{Statement: seen.count}),
		func(o *assembly.Options) { o.Times = assembly.Defaults },
	)
	w.Goes()
	w.Becomes(w.Buy(sagastest.OrderForm{}), order.StatusActive)
	w.Eventually("nothing is left to do", func() bool {
		return w.Count(`select count(*) from saga_run where status not in ('done', 'undone')`) == 0 &&
			w.Count(`select count(*) from events where position > (select min(position) from readers)`) == 0
	})
	seen.fourTimes(w) // the last wake-ups are over
	const locks = `select max(xmax::text::bigint) from saga_queue`
	locked := w.Count(locks)
	before, begun := seen.sofar(), time.Now()
	seen.fourTimes(w)
	after, took := seen.sofar(), time.Since(begun)
	if w.Count(locks) != locked {
		t.Error("a process without work locks its queues")
	}
	for q, n := range after {
		if polls := n - before[q]; float64(polls) > 2*took.Seconds()+1 {
			t.Errorf("%d times in %v: %s", polls, took, q)
		}
	}
}

// A call has five sixths of the lease at most, and ends when the lease is lost.
func TestACallEndsWithItsLease(t *testing.T) { // G-1, G-2
	t.Parallel()
	e := silentEngine{Engine: sagastest.NewEngine(), asked: make(chan error, 2), gaveUp: make(chan error, 1), answers: &atomic.Bool{}}
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		o.Engine, o.Times.Lease, o.Times.Call = e, 3*time.Second, time.Minute
	}).Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Must(<-e.asked)
	_, err := w.Pool.Exec(
		t.Context(),
		`update saga_run set lease_token = lease_token + 1 where status = 'running' and queue = 'engine:one'`,
	)
	w.Must(err)
	if cause := <-e.gaveUp; !errors.Is(cause, sagas.ErrFenced) {
		t.Errorf("the call ended with %v", cause)
	}
	w.Becomes(id, order.StatusActive) // in another attempt, after the lease
}

// Read tables that are built anew, and a log that is read from its first event, cause
// no mail, no call and no webhook, though all workers run.
func TestReplayingTheWholeLogReachesNothingOutside(t *testing.T) {
	t.Parallel()
	w, tenants := sagastest.ListeningWorld(t)
	w.Goes()
	const address = "replayed@example.com"
	id := w.Buy(sagastest.OrderForm{Kind: "hosting", Domain: "ana.example.com", Email: address})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	tenant := w.Provision(id).Job.Tenant
	sagastest.Listens(w, 1, tenant)
	sagastest.Sends(w, 1, tenant)
	w.Eventually("the tenant's message has arrived", func() bool { return len(tenants.Heard(sagastest.URLOf(1))) > 0 })
	w.AllTold()
	outside := func() string {
		opened := w.Pay.Openings(id)
		w.Pay.Mu.Lock()
		defer w.Pay.Mu.Unlock()
		return fmt.Sprint(len(w.Mail.To(address)), w.Engine.Creations("site/ana.example.com"), opened,
			w.Pay.Captured[sagastest.SessionOf(id)], len(w.Pay.Refunded), len(tenants.Heard(sagastest.URLOf(1))))
	}
	before := outside()

	log := eventstore.Open(w.Owner(), sagastest.Catalogue, eventstoretest.Keys(t)).Reader()
	for _, o := range []projections.Options{{Check: true}, {KeepOld: true}} {
		result, err := projections.Rebuild(t.Context(), w.Owner(), log, projections.Names(), o)
		w.Must(err)
		w.Equal("rows that are not what the log says", result.Different, int64(0))
	}
	events := 0
	w.Must(w.Store.Reader().Replay(t.Context(), 0, func(eventstore.RecordedEvent) error { events++; return nil }))
	if events < 20 {
		t.Errorf("the log has %d events", events)
	}

	// What follows from a later event has been done, and so would that from earlier ones.
	later := w.Buy(sagastest.OrderForm{Kind: "hosting", Domain: "eva.example.com"})
	w.Becomes(later, order.StatusActive)
	w.Settled(later)
	w.AllTold()
	w.Equal("mails, objects, sessions and webhooks of the first order", outside(), before)
}
