package assembly_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Steps that join the one before them are one append with it (docs/sagas.md, "Steps
// together"). Each has events of its own, with the cause that it would have had alone.
func TestAnOrderIsRecordedInFewAppendsAndClaimedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{domain: "few.example.com"})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	run := sagas.StreamOf("provision:" + id.String())
	w.equal("events", w.count(`select count(*) from events where stream = $1`, run.String()), 10)
	w.equal("events whose cause is not the one before", w.count(`
		select count(*) from events where stream = $1 and version > 1 and causation <> 'event:' || stream || '/' || version - 1`, run.String()), 0)
	w.equal("events of the steps whose cause is no event of the run", w.text(`
		select coalesce(string_agg(name || ' ' || causation, ', '), '') from events where actor = 'system:provision' and saga = $1 and stream <> $2 and causation not like 'event:' || $2 || '/%'`, "provision:"+id.String(), run.String()), "")
	w.equal("what opened the account", w.text(`select causation from events where name = 'account.opened'`), "event:"+run.String()+"/1")
	w.equal("what granted the membership", w.text(`select causation from events where name = 'account.membership_granted'`), "event:"+run.String()+"/2")
	w.equal("appends", w.count(`select count(distinct xmin::text) from events where stream = $1`, run.String()), 5)
	w.equal("claims", w.count(`select lease_token from saga_run where id = $1`, run.ID), 1)
}

// An append of several steps is refused if one of them is. Then they are recorded one by
// one: the refused one is attempted again, and no other twice.
func TestARefusedStepIsFoundAmongThoseRecordedWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var once sync.Once
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.At().Name == "tenant" {
			once.Do(func() { // another process opens the account that the step before wants to open
				_, err := w.store.Execute(context.Background(), domain.Metadata{Actor: "user:1"}, w.someone(99, "joined@example.com", "en"))
				w.must(err)
			})
		}
		return nil
	})
	w.goes()
	id := w.buy(ordering{email: "joined@example.com"})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("accounts with the address", w.count(`select count(*) from users where email = 'joined@example.com'`), 1)
	w.equal("tenants", w.count(`select count(*) from events where name = 'hosting.requested'`), 1)
	w.equal("failed attempts", w.count(`select count(*) from saga_attempt where outcome = 'retry'`), 0)
	w.equal("the user of the order", w.count(`select (input ->> 'user')::int from saga_run where id = $1`, sagas.RunID("provision:"+id.String())), 99)
}

// A run that finds no room in its next queue waits there like any other, and what it did
// before is recorded.
func TestARunThatFindsNoRoomInItsNextQueueWaitsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pauses("engine:one")
	w.goes()
	id := w.buy(ordering{})
	w.eventually("it waits for the engine", func() bool { return w.runIs(id, "ready", "engine:one") })
	w.equal("the order", w.text(`select status from orders where id = $1`, id), string(order.StatusProvisioning))
	w.equal("intents", w.count(`select count(*) from effect where step = 'tenant.engine'`), 0)
	_, err := w.pool.Exec(t.Context(), `update saga_queue set paused = false`)
	w.must(err)
	w.becomes(id, order.StatusActive)
}

// Nothing is asked of a system outside before its queue has let the run in, also where the
// first step there has nothing to do.
func TestARunAsksNothingOfAQueueThatHasNotLetItIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pauses("engine:one")
	var asked atomic.Int32
	w.engine.tell(func(string, string) error { asked.Add(1); return nil }, nil)
	id := w.place(ordering{})
	_, err := w.pool.Exec(t.Context(), `
		insert into effect (key, saga_id, step, state, request_mac, external_id, token) values ($1, $2, 'tenant.engine', 'confirmed', '', '7', 0)`,
		sagas.EffectKey(id, "tenant.engine"), sagas.RunID("provision:"+id.String()))
	w.must(err)
	w.goes()
	w.paid(id)
	w.eventually("it waits for the engine", func() bool { return w.runIs(id, "ready", "engine:one") })
	w.equal("calls", asked.Load(), int32(0))
}

// A hand-over counts the runs of all processes, as a claim does.
func TestAHandOverKeepsTheLimitOfItsQueue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('compute:one', 1)`)
	w.must(err)
	var calls atomic.Int32
	waits := make(chan struct{})
	w.compute.tell(func(call, _ string) error {
		if call == "create" {
			calls.Add(1)
			<-waits
		}
		return nil
	}, nil)
	w.goes()
	first := w.buy(ordering{kind: "vps"})
	w.eventually("the first machine is asked for", func() bool { return calls.Load() == 1 })
	second := w.buy(ordering{kind: "vps"})
	w.eventually("the second waits for its turn", func() bool { return w.runIs(second, "ready", "compute:one") })
	w.equal("calls at once", calls.Load(), int32(1))
	close(waits)
	w.becomes(first, order.StatusActive)
	w.becomes(second, order.StatusActive)
}

// runIs tells whether the run of an order has this status in a queue.
func (w *world) runIs(id uuid.UUID, status, queue string) bool {
	return w.count(`select count(*) from saga_run where id = $1 and status = $2 and queue = $3`, sagas.RunID("provision:"+id.String()), status, queue) == 1
}

// text is the text that a query answers with.
func (w *world) text(sql string, args ...any) (text string) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&text))
	return text
}
