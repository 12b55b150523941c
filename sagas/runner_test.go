package sagas_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestTheProgramRefusesRunsThatItCannotFinish(t *testing.T) { // G-11, G-12
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	w.Must(w.Webhook("evt_1", id))
	stop := w.Start(w.Instance)
	w.Becomes(id, order.StatusActive)
	stop()
	_, err := w.Pool.Exec(
		t.Context(),
		`update saga_run set status = 'parked', steps = steps || '[{"name": "teleport", "queue": "local"}]' where definition = $1`,
		"provision/1",
	)
	w.Must(err)
	err = w.Runner.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), `unknown step "teleport" of provision/1 in 1 live runs`) {
		t.Errorf("got %v", err)
	}
	_, err = w.Pool.Exec(
		t.Context(),
		`update saga_run set definition = 'provision/99', status = 'ready', run_at = now() where definition = $1`,
		"provision/1",
	)
	w.Must(err)
	w.Start(w.Instance)
	w.Becomes(w.Buy(sagastest.OrderForm{}), order.StatusActive)
	w.Equal(
		"claims of a list that is not ours",
		w.Count(`select count(*) from saga_run where definition = 'provision/99' and status <> 'ready'`), 0,
	)
}

func TestABreakerLetsAQueueRest(t *testing.T) { // G-7
	t.Parallel()
	w := sagastest.NewWorld(t)
	var asked atomic.Int32
	w.Engine.Tell(func(call, _ string) error {
		if call == "create" && asked.Add(1) <= 7 {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Eventually("the breaker opens", func() bool { return w.Count(`select count(*) from saga_queue where open_until is not null`) == 1 })
	w.Becomes(id, order.StatusActive)
	w.Equal("failures in a row, after a success", w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 0)
	w.Settled(id)
}

func TestAnOutageCountsOnceHoweverManyCallsAreInFlight(t *testing.T) { // G-7
	t.Parallel()
	const calls = 10
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		o.Limits["engine:one"] = calls
		o.Times.Call, o.Times.Lease = time.Minute, time.Minute // the first call waits for the last one
		o.Times.Break, o.Times.BreakMax = 10*time.Minute, 100*time.Minute
		o.Times.EngineBase, o.Times.EngineCap = time.Minute, time.Minute // no call is repeated before the last one has failed
	})
	var asked atomic.Int32
	all := make(chan struct{})
	w.Engine.Tell(func(call, _ string) error {
		if call != "create" {
			return nil
		}
		if asked.Add(1) == calls {
			close(all)
		}
		<-all // the outage meets all of them
		return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
	}, nil)
	w.Goes()
	for range calls {
		w.Buy(sagastest.OrderForm{})
	}
	w.Eventually("all calls have failed", func() bool {
		return w.Count(`select count(*) from saga_attempt where outcome = 'retry' and error_class = 'transient'`) == calls
	})
	w.Equal("failures that count", w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 5)
	w.Equal(
		"the rest is the first one",
		w.Count(`select count(*) from saga_queue where open_until <= real_now() + interval '10 minutes'`), 1,
	)
}

// Work that is being leased when the program is told to stop is done: another process takes
// it only when its lease has ended.
func TestWhatIsLeasedDuringAStopIsDone(t *testing.T) { // G-8
	t.Parallel()
	for _, story := range []struct {
		what, table, leased string // the table, and how a lease shows in it
		given               func(*sagastest.World)
		left                string
	}{
		{"a run", "saga_run", "old.status <> 'running' and new.status = 'running'", func(w *sagastest.World) {
			w.Must(w.Runner.Drill(t.Context(), "one"))
		}, `select count(*) from saga_run where status <> 'done'`},
		{"a check", "payment_watch", "old.lease_token <> new.lease_token", func(w *sagastest.World) {
			w.Place(sagastest.OrderForm{})
			_, err := w.Pool.Exec(t.Context(), `update payment_watch set next_at = '-infinity'`)
			w.Must(err)
		}, `select count(*) from payment_watch where next_at < business_now() or lease_until is not null`},
		{"a request for a new password", "task", "new.queue = 'resets'", func(w *sagastest.World) {
			w.Must(w.Accounts.AskReset(t.Context(), "unknown@example.com"))
		}, `select count(*) from reset_request`},
	} {
		t.Run(story.what, func(t *testing.T) {
			t.Parallel()
			w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Grace = time.Minute })
			story.given(w)
			stopsWhileLeasing(w, story.table, story.leased)
			w.Equal(story.what+" that is left", w.Count(story.left), 0)
		})
	}
}

// stopsWhileLeasing runs the program, and ends it while it leases rows of a table.
func stopsWhileLeasing(w *sagastest.World, table, leased string) {
	w.T.Helper()
	held, err := w.Owner().Begin(w.T.Context())
	w.Must(err)
	defer func() { _ = held.Rollback(context.WithoutCancel(w.T.Context())) }()
	_, err = held.Exec(w.T.Context(), `
		create function wait_for_the_story() returns trigger language plpgsql as
			$$ begin perform pg_advisory_xact_lock_shared(20); return new; end $$;
		create trigger wait_for_the_story before `+map[bool]string{
		true: "insert", false: "update",
	}[table == "task"]+` on `+table+` for each row when (`+leased+`) execute function wait_for_the_story();
		commit;
		begin;
		select pg_advisory_xact_lock(20)`)
	w.Must(err)
	ctx, stop := context.WithCancel(w.T.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.Runner.Run(ctx) }()
	w.Eventually("a lease is being taken", func() bool {
		return w.Count(
			`select count(*) from pg_locks where locktype = 'advisory' and objid = 20 and not granted
				and database = (select oid from pg_database where datname = current_database())`,
		) > 0
	})
	stop()
	w.Must(held.Rollback(w.T.Context()))
	w.Must(<-ended)
}
