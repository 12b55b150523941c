package sagas_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// Steps that join the one before them are one append with it (docs/sagas.md, "Steps
// together"). Each has events of its own, with the cause that it would have had alone.
func TestAnOrderIsRecordedInFewAppendsAndClaimedOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Domain: "few.example.com"})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	run := sagas.StreamOf("provision:" + id.String())
	w.Equal("events", w.Count(`select count(*) from events where stream = $1`, run.String()), 10)
	w.Equal("events whose cause is not the one before", w.Count(`
		select count(*) from events where stream = $1 and version > 1
			and causation <> 'event:' || stream || '/' || version - 1`, run.String()), 0)
	w.Equal("events of the steps whose cause is no event of the run", w.Text(`
		select coalesce(string_agg(name || ' ' || causation, ', '), '') from events where actor = 'system:provision'
			and saga = $1 and stream <> $2 and causation not like 'event:' || $2 || '/%'`, "provision:"+id.String(),
		run.String()), "")
	w.Equal("what opened the account", w.Text(`select causation from events where name = 'account.opened'`), "event:"+run.String()+"/1")
	w.Equal(
		"what granted the membership", w.Text(`select causation from events where name = 'account.membership_granted'`),
		"event:"+run.String()+"/2",
	)
	w.Equal("appends", w.Count(`select count(distinct xmin::text) from events where stream = $1`, run.String()), 5)
	w.Equal("claims", w.Count(`select lease_token from saga_run where id = $1`, run.ID), 1)
}

// An append of several steps is refused if one of them is. Then they are recorded one by
// one: the refused one is attempted again, and no other twice.
func TestARefusedStepIsFoundAmongThoseRecordedWithIt(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var once sync.Once
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.At().Name == "tenant" {
			once.Do(func() { // another process opens the account that the step before wants to open
				_, err := w.Store.Execute(context.Background(), domain.Metadata{Actor: "user:1"}, w.Someone(99, "joined@example.com", "en"))
				w.Must(err)
			})
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Email: "joined@example.com"})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("accounts with the address", w.Count(`select count(*) from users where email = 'joined@example.com'`), 1)
	w.Equal("tenants", w.Count(`select count(*) from events where name = 'hosting.requested'`), 1)
	w.Equal("failed attempts", w.Count(`select count(*) from saga_attempt where outcome = 'retry'`), 0)
	w.Equal(
		"the user of the order",
		w.Count(`select (input ->> 'user')::int from saga_run where id = $1`, sagas.RunID("provision:"+id.String())), 99,
	)
}

// Nothing is asked of a system outside before its queue has let the run in, also where the
// first step there has nothing to do.
func TestARunAsksNothingOfAQueueThatHasNotLetItIn(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses("engine:one")
	var asked atomic.Int32
	w.Engine.Tell(func(string, string) error { asked.Add(1); return nil }, nil)
	id := w.Place(sagastest.OrderForm{})
	_, err := w.Pool.Exec(t.Context(), `
		insert into effect (key, saga_id, step, state, request_mac, external_id, token) values ($1, $2, 'tenant.engine',
			'confirmed', '', '7', 0)`,
		sagas.EffectKey(id, "tenant.engine"), sagas.RunID("provision:"+id.String()))
	w.Must(err)
	w.Goes()
	w.Paid(id)
	w.Eventually("it waits for the engine", func() bool { return runIs(w, id, "ready", "engine:one") })
	w.Equal("calls", asked.Load(), int32(0))
}

// A hand-over counts the runs of all processes, as a claim does.
func TestAHandOverKeepsTheLimitOfItsQueue(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	_, err := w.Pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('compute:one', 1)`)
	w.Must(err)
	var calls atomic.Int32
	waits := make(chan struct{})
	w.Compute.Tell(func(call, _ string) error {
		if call == "create" {
			calls.Add(1)
			<-waits
		}
		return nil
	}, nil)
	w.Goes()
	first := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Eventually("the first machine is asked for", func() bool { return calls.Load() == 1 })
	second := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Eventually("the second waits for its turn", func() bool { return runIs(w, second, "ready", "compute:one") })
	w.Equal("calls at once", calls.Load(), int32(1))
	close(waits)
	w.Becomes(first, order.StatusActive)
	w.Becomes(second, order.StatusActive)
}

// runIs tells whether the run of an order has this status in a queue.
func runIs(w *sagastest.World, id uuid.UUID, status, queue string) bool {
	return w.Count(
		`select count(*) from saga_run where id = $1 and status = $2 and queue = $3`, sagas.RunID("provision:"+id.String()),
		status, queue,
	) == 1
}
