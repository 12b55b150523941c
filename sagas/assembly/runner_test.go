package assembly_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
)

func TestTheProgramRefusesRunsThatItCannotFinish(t *testing.T) { // G-11, G-12
	t.Parallel()
	w := newWorld(t)
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.must(w.webhook("evt_1", id))
	stop := w.start(w.instance)
	w.becomes(id, order.StatusActive)
	stop()
	_, err := w.pool.Exec(t.Context(), `update saga_run set status = 'parked', steps = steps || '[{"name": "teleport", "queue": "local"}]' where definition = $1`, "provision/1")
	w.must(err)
	err = w.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `unknown step "teleport" of provision/1 in 1 live runs`) {
		t.Errorf("got %v", err)
	}
	_, err = w.pool.Exec(t.Context(), `update saga_run set definition = 'provision/99', status = 'ready', run_at = now() where definition = $1`, "provision/1")
	w.must(err)
	w.start(w.instance)
	w.becomes(w.buy(ordering{}), order.StatusActive)
	w.equal("claims of a list that is not ours", w.count(`select count(*) from saga_run where definition = 'provision/99' and status <> 'ready'`), 0)
}

func TestAQueueWorksOnSoManyAndNoMore(t *testing.T) { // G-3, strict limit
	t.Parallel()
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('compute:one', 2)`)
	w.must(err)
	var now, most atomic.Int32
	w.compute.tell(func(call, _ string) error {
		if call == "create" {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(5 * time.Millisecond) // the hypervisor takes its time
			now.Add(-1)
		}
		return nil
	}, nil)
	w.goes()
	var ids []uuid.UUID
	for range 12 {
		ids = append(ids, w.buy(ordering{kind: "vps"}))
	}
	for _, id := range ids {
		w.becomes(id, order.StatusActive)
	}
	w.equal("most at once", most.Load() <= 2 && most.Load() > 0, true)
}

func TestABreakerLetsAQueueRest(t *testing.T) { // G-7
	t.Parallel()
	w := newWorld(t)
	var asked atomic.Int32
	w.engine.tell(func(call, _ string) error {
		if call == "create" && asked.Add(1) <= 7 {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	w.goes()
	id := w.buy(ordering{})
	w.eventually("the breaker opens", func() bool { return w.count(`select count(*) from saga_queue where open_until is not null`) == 1 })
	w.becomes(id, order.StatusActive)
	w.equal("failures in a row, after a success", w.count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 0)
	w.settled(id)
}

func TestAnOutageCountsOnceHoweverManyCallsAreInFlight(t *testing.T) { // G-7
	t.Parallel()
	const calls = 10
	w := newWorld(t, func(o *assembly.Options) {
		o.Limits["engine:one"] = calls
		o.Times.Call, o.Times.Lease = time.Minute, time.Minute // the first call waits for the last one
		o.Times.Break, o.Times.BreakMax = 10*time.Minute, 100*time.Minute
		o.Times.EngineBase, o.Times.EngineCap = time.Minute, time.Minute // no call is repeated before the last one has failed
	})
	var asked atomic.Int32
	all := make(chan struct{})
	w.engine.tell(func(call, _ string) error {
		if call != "create" {
			return nil
		}
		if asked.Add(1) == calls {
			close(all)
		}
		<-all // the outage meets all of them
		return domain.Fail(domain.Transient, "busy", errLie)
	}, nil)
	w.goes()
	for range calls {
		w.buy(ordering{})
	}
	w.eventually("all calls have failed", func() bool {
		return w.count(`select count(*) from saga_attempt where outcome = 'retry' and error_class = 'transient'`) == calls
	})
	w.equal("failures that count", w.count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 5)
	w.equal("the rest is the first one", w.count(`select count(*) from saga_queue where open_until <= real_now() + interval '10 minutes'`), 1)
}

// The first call after a rest decides: it counts, and doubles the next rest.
func TestACallAfterTheRestCounts(t *testing.T) { // G-7
	t.Parallel()
	w := newWorld(t)
	var down atomic.Bool
	down.Store(true)
	w.engine.tell(func(call, _ string) error {
		if call == "create" && down.Load() {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	w.goes()
	id := w.buy(ordering{})
	w.eventually("failures after the rest count", func() bool {
		return w.count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`) >= 8
	})
	down.Store(false)
	w.becomes(id, order.StatusActive)
	w.equal("failures in a row, after a success", w.count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 0)
}

func TestAGracefulStopLosesNothingAndCostsNoAttempt(t *testing.T) { // G-8, F-30
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Grace = 100 * time.Millisecond })
	called := make(chan struct{})
	var once sync.Once
	w.engine.tell(func(call, _ string) error {
		if call == "create" {
			once.Do(func() { close(called) })
			time.Sleep(300 * time.Millisecond) // longer than the grace
			return domain.Fail(domain.Unknown, "cut", context.Canceled)
		}
		return nil
	}, nil)
	w.goes()
	id := w.buy(ordering{})
	<-called
	w.end()
	w.equal("released", w.count(`select count(*) from saga_run where status = 'waiting' and attempt = 0 and lease_until is null`), 1)
	w.equal("noted", w.count(`select count(*) from saga_attempt where outcome = 'released'`), 1)
	w.engine.tell(nil, nil)
	w.goes()
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.onlyOnce(id)
}

// Work that is being leased when the program is told to stop is done: another process takes
// it only when its lease has ended.
func TestWhatIsLeasedDuringAStopIsDone(t *testing.T) { // G-8
	t.Parallel()
	for _, story := range []struct {
		what, table, leased string // the table, and how a lease shows in it
		given               func(*world)
		left                string
	}{
		{"a run", "saga_run", "old.status <> 'running' and new.status = 'running'", func(w *world) {
			w.must(w.Drill(t.Context(), "one"))
		}, `select count(*) from saga_run where status <> 'done'`},
		{"a check", "payment_watch", "old.lease_token <> new.lease_token", func(w *world) {
			w.place(ordering{})
			_, err := w.pool.Exec(t.Context(), `update payment_watch set next_at = '-infinity'`)
			w.must(err)
		}, `select count(*) from payment_watch where next_at < business_now() or lease_until is not null`},
		{"a request for a new password", "reset_request", "old.attempts <> new.attempts", func(w *world) {
			w.must(w.Accounts.AskReset(t.Context(), "unknown@example.com"))
		}, `select count(*) from reset_request`},
	} {
		t.Run(story.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *assembly.Options) { o.Times.Grace = time.Minute })
			story.given(w)
			w.stopsWhileLeasing(story.table, story.leased)
			w.equal(story.what+" that is left", w.count(story.left), 0)
		})
	}
}

// stopsWhileLeasing runs the program, and ends it while it leases rows of a table.
func (w *world) stopsWhileLeasing(table, leased string) {
	w.t.Helper()
	held, err := w.owner().Begin(w.t.Context())
	w.must(err)
	defer func() { _ = held.Rollback(context.WithoutCancel(w.t.Context())) }()
	_, err = held.Exec(w.t.Context(), `
		create function wait_for_the_story() returns trigger language plpgsql as
			$$ begin perform pg_advisory_xact_lock_shared(20); return new; end $$;
		create trigger wait_for_the_story before update on `+table+` for each row when (`+leased+`) execute function wait_for_the_story();
		commit;
		begin;
		select pg_advisory_xact_lock(20)`)
	w.must(err)
	ctx, stop := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	w.eventually("a lease is being taken", func() bool {
		return w.count(`select count(*) from pg_locks where locktype = 'advisory' and objid = 20 and not granted and database = (select oid from pg_database where datname = current_database())`) > 0
	})
	stop()
	w.must(held.Rollback(w.t.Context()))
	w.must(<-ended)
}
