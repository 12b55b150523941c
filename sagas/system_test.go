//go:build system

package sagas_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
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

func TestWorkRowsFollowFromTheLog(t *testing.T) { // V8
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Mail.Tell(func(string, string) error { return domain.Fail(domain.Transient, "greylisted", sagastest.ErrLie) }, nil)
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/") {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	w.Becomes(w.Buy(sagastest.OrderForm{Domain: "broken.example.com"}), order.StatusFailed)
	w.Becomes(w.Buy(sagastest.OrderForm{Kind: "vps"}), order.StatusActive)
	waiting := w.Buy(sagastest.OrderForm{})
	w.Becomes(waiting, order.StatusActive)
	w.Must(w.Runner.Operators.Pause(t.Context(), sagastest.Operator, sagas.RunID("mail:"+sagas.EffectKey(waiting, "welcome")), "wait"))
	w.Heard()
	w.End()
	const derived = `
		select coalesce(json_agg(json_build_array(id, key, definition, steps, input, order_id, direction,
			case when status in ('running', 'waiting') then 'ready' else status end, step, queue, cancel_requested, stream_version,
			step_deadline is null) order by key)::text, '') from saga_run`
	rows := func() (text string) {
		w.Must(w.Pool.QueryRow(t.Context(), derived).Scan(&text))
		return text
	}
	before := rows()
	_, err := w.Pool.Exec(t.Context(), `delete from saga_run`)
	w.Must(err)
	runs := w.Count(`select count(distinct stream) from events where stream like 'saga-%'`)
	rebuilt := func() int64 {
		n, err := w.Runner.Operators.RebuildRuns(t.Context(), sagastest.Operator, "the rows were lost")
		w.Must(err)
		return n
	}
	w.Equal("rebuilt", rebuilt(), runs)
	w.Equal("rebuilt, once more", rebuilt(), 0)
	_, err = w.Pool.Exec(
		t.Context(), `update saga_run set stream_version = stream_version - 1 where key = $1`,
		"mail:"+sagas.EffectKey(waiting, "welcome"),
	)
	w.Must(err)
	w.Equal("rebuilt of a row that is wrong", rebuilt(), 1)
	_, err = w.Runner.Operators.RebuildRuns(t.Context(), sagastest.Operator, "")
	w.Equal("without a reason", domain.CodeOf(err), domain.Invalid)
	if after := rows(); after != before || len(before) < 500 {
		t.Errorf("rebuilt rows differ\nbefore %s\nafter  %s", before, after)
	}
	w.Mail.Tell(nil, nil)
	w.Goes()
	w.Must(w.Runner.Operators.Continue(t.Context(), sagastest.Operator, sagas.RunID("mail:"+sagas.EffectKey(waiting, "welcome")), "go on"))
	w.Eventually("the rebuilt runs go on", func() bool { return w.Order(waiting).Mail == order.MailSent })
}

// The first call after a rest decides: it counts, and doubles the next rest.
func TestACallAfterTheRestCounts(t *testing.T) { // G-7
	t.Parallel()
	w := sagastest.NewWorld(t)
	var down atomic.Bool
	down.Store(true)
	w.Engine.Tell(func(call, _ string) error {
		if call == "create" && down.Load() {
			return domain.Fail(domain.Transient, "busy", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Eventually("failures after the rest count", func() bool {
		return w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`) >= 8
	})
	down.Store(false)
	w.Becomes(id, order.StatusActive)
	w.Equal("failures in a row, after a success", w.Count(`select coalesce(sum(fails), 0) from saga_queue where queue = 'engine:one'`), 0)
}

func TestATurnedRunTakesBackWhatItHasDone(t *testing.T) { // F-2
	t.Parallel()
	for _, at := range []sagas.Point{"", sagas.Answered} {
		sagastest.TurnedRun(t, at)
	}
}

// N-13: a process under load sends a hundred NOTIFYs a second at most.
func TestABusyProcessNotifiesAHundredTimesASecondAtMost(t *testing.T) {
	w := sagastest.NewWorld(t)
	conn, err := pgx.ConnectConfig(t.Context(), w.Pool.Config().ConnConfig)
	w.Must(err)
	defer func() { _ = conn.Close(context.Background()) }()
	_, err = conn.Exec(t.Context(), "listen saga_due; listen hostpanel_log")
	w.Must(err)
	heard := make(chan int, 1)
	ctx, end := context.WithCancel(t.Context())
	go func() {
		n := 0
		for ; ; n++ {
			if _, err := conn.WaitForNotification(ctx); err != nil {
				heard <- n
				return
			}
		}
	}()
	w.Goes()
	begun := time.Now()
	for n := range 200 {
		w.Must(w.Runner.Drill(t.Context(), fmt.Sprint(n)))
		for _, queue := range []string{"local", "mail", "engine:one"} {
			w.Runner.Wake(queue)
		}
	}
	w.Eventually("the drills are over", func() bool { return w.Count(`select count(*) from saga_run where status = 'done'`) == 200 })
	took := time.Since(begun)
	end()
	n := <-heard
	t.Logf("%d in %v", n, took)
	if n == 0 || float64(n) > 100*took.Seconds()+2 {
		t.Errorf("%d NOTIFYs in %v", n, took)
	}
}

// A worker whose call fails after its run was taken over tells the tenant of no attempt.
func TestAWorkerWithoutItsLeaseTellsNothing(t *testing.T) { // G-1
	t.Parallel()
	r := sagastest.NewEndpoints()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Webhooks, o.Times.Lease = r, 500*time.Millisecond })
	sagastest.Listens(w, 1, 17)
	taken, over := make(chan struct{}), make(chan struct{})
	r.Answers(sagastest.URLOf(1), func(_ context.Context, nth int) (int, error) {
		if nth == 1 {
			<-taken
			return sagastest.Answer(500)
		}
		w.Frozen.To(false) // the second worker keeps its lease
		close(taken)
		<-over
		return 204, nil
	})
	w.Frozen.To(true)
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	w.Eventually("the first worker has told, or found out", func() bool {
		return w.Runner.Fenced() > 0 || w.Often(webhook.DeliveryStream(id), "webhook.delivery_attempted") > 0
	})
	close(over)
	sagastest.Delivered(w, id, webhook.Succeeded)
	w.Equal("attempts that failed", w.Often(webhook.DeliveryStream(id), "webhook.delivery_attempted"), 0)
}

// An event is passed only after it was handled: if its handling fails for longer than it
// is repeated, the event comes again, before those behind it in its stream.
func TestAnEventThatIsNotHandledYetIsNotPassed(t *testing.T) { // W-5
	t.Parallel()
	w := sagastest.NewWorld(t)
	var calls, handled, passed atomic.Int64 // passed: position of the first event that came too early
	var waiting atomic.Int64
	var stream sagastest.Control[domain.Stream]
	w.Runner.OnEvent(func(_ context.Context, r eventstore.RecordedEvent) error {
		switch before := waiting.Load(); {
		case r.Name == "order.activated" && calls.Add(1) <= 5:
			stream.To(r.Stream)
			waiting.Store(r.Position)
			return eventstore.ErrUnavailable
		case r.Position == before:
			handled.Store(r.Position)
		case before > 0 && handled.Load() == 0 && r.Stream == stream.Now():
			passed.CompareAndSwap(0, r.Position)
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	_, err := w.Store.Execute(t.Context(), sagastest.Operator, order.ResendMail{ID: id, Reason: "it comes behind", At: w.Runner.Now()})
	w.Must(err)
	w.Eventually("the event is handled, or passed", func() bool { return handled.Load() > 0 || passed.Load() > 0 })
	w.Equal("came before the event was handled", passed.Load(), 0)
}

func TestAQueueWorksOnSoManyAndNoMore(t *testing.T) { // G-3, strict limit
	t.Parallel()
	w := sagastest.NewWorld(t)
	_, err := w.Pool.Exec(t.Context(), `insert into saga_queue (queue, max_in_flight) values ('compute:one', 2)`)
	w.Must(err)
	var now, most atomic.Int32
	w.Compute.Tell(func(call, _ string) error {
		if call == "create" {
			n := now.Add(1)
			for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
			}
			time.Sleep(5 * time.Millisecond) // the hypervisor takes its time
			now.Add(-1)
		}
		return nil
	}, nil)
	w.Goes()
	var ids []uuid.UUID
	for range 12 {
		ids = append(ids, w.Buy(sagastest.OrderForm{Kind: "vps"}))
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
	}
	w.Equal("most at once", most.Load() <= 2 && most.Load() > 0, true)
}

// Runs that have ended are not read for figures, nor at a start.
func TestEndedRunsAreNotReadForTheLiveOnes(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	for _, sql := range []string{
		`insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing`,
		`insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation)
			select gen_random_uuid(), 'old:' || n, 'old/1', '[]', '{}', case when n > 19990 then (array['ready',
				'waiting', 'running', 'parked', 'paused'])[1 + n % 5] else 'done' end,
				'local', 'test', gen_random_uuid() from generate_series(1, 20000) n`,
		`analyze saga_run`,
	} {
		_, err := w.Pool.Exec(t.Context(), sql)
		w.Must(err)
	}
	w.Equal("live runs", w.Count(`select count(*) from `+sagas.LiveRuns), 10)
	rows, err := w.Pool.Query(t.Context(), `explain select status, run_at, steps from `+sagas.LiveRuns)
	w.Must(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.Must(err)
	if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
		t.Errorf("all runs are read:\n%s", text)
	}
	g, err := w.Gauges(t.Context())
	w.Must(err)
	w.Equal("parked", g.Parked, 2)
	w.Equal("running", g.Running, 2)
}

func TestAGracefulStopLosesNothingAndCostsNoAttempt(t *testing.T) { // G-8, F-30
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Grace = 100 * time.Millisecond })
	called := make(chan struct{})
	var once sync.Once
	w.Engine.Tell(func(call, _ string) error {
		if call == "create" {
			once.Do(func() { close(called) })
			time.Sleep(300 * time.Millisecond) // longer than the grace
			return domain.Fail(domain.Unknown, "cut", context.Canceled)
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	<-called
	w.End()
	w.Equal("released", w.Count(`select count(*) from saga_run where status = 'waiting' and attempt = 0 and lease_until is null`), 1)
	w.Equal("noted", w.Count(`select count(*) from saga_attempt where outcome = 'released'`), 1)
	w.Engine.Tell(nil, nil)
	w.Goes()
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
}

// A database that cannot serve reactions when the workers start delays them, and
// stops no one of them for good.
func TestReactionsBeginAsSoonAsTheDatabaseServesThem(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	owner := eventstoretest.Owner(t, w.Pool.Config().ConnString())
	run := func(sql string) {
		_, err := owner.Exec(t.Context(), sql)
		w.Must(err)
	}
	run(`alter table readers rename to readers_elsewhere`)
	w.Goes()
	w.Eventually(
		"the reactions could not begin",
		func() bool { return strings.Contains(w.Logged.String(), "no event is handled; it is tried again") },
	)
	run(`alter table readers_elsewhere rename to readers`)
	id := w.Place(sagastest.OrderForm{})
	w.Paid(id)
	w.Becomes(id, order.StatusActive)
}

// A process that tells the others nothing may still append, and a hint may get lost. So
// every reader of the log also looks by itself.
func TestReadersFindByPollingWhatTheyWereNotToldOf(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Passing(w.Node(w.URL())) // it works; the one that appends does not tell it
	w.Opens(1, "ana@example.com", "en")
	w.Eventually("the readers have begun", func() bool { return w.Count(`select count(*) from readers where position > 0`) == 2 })
	w.Opens(2, "eva@example.com", "en")
	w.Eventually("all have come to the end", func() bool {
		return w.Count(`select count(*) from readers where position < (select max(position) from events)`) == 0
	})
}

// A worker that has lost its lease writes nothing: the row belongs to another claim by then.
func TestATaskWhoseLeaseIsLostIsFenced(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	l := newLedger(w, "fencing")
	var tries atomic.Int32
	late, over := make(chan struct{}), make(chan struct{})
	sagas.AddTasks(w.Runner, l.queueOf(func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
		if tries.Add(1) == 1 {
			<-late
			return sagas.TaskDone, nil // without its lease: it does not count
		}
		<-over
		return sagas.TaskDone, l.pays(ctx, task.Key, "second")
	}), nil)
	l.owes("one")
	w.Goes()
	w.Eventually("it is in work", func() bool { return tries.Load() == 1 })
	_, err := w.Pool.Exec(t.Context(), `update task set lease_until = real_now() - interval '1 second' where queue = 'fencing'`)
	w.Must(err)
	w.Eventually("another claim has it", func() bool { return tries.Load() == 2 })
	close(late)
	w.Eventually("the late end is dropped", func() bool { return w.Runner.Fenced() == 1 })
	w.Equal("rows", w.Count(`select count(*) from task where queue = 'fencing' and lease_until is not null`), 1)
	close(over)
	w.Eventually("it is done", func() bool { return l.done("one") == 1 })
}

// The old key is removed while an engine is away: the requests under it cannot be
// compared any more, and are no other requests for that.
func TestRunsGoOnAfterTheOldSecretKeyWasRemoved(t *testing.T) {
	t.Parallel()
	w := &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	url := sagastest.Database(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	process := func(keys string) *sagastest.Instance {
		var err error
		w.Keys, err = sealing.ParseKeyring(keys)
		w.Must(err)
		return w.Node(url)
	}
	w.Instance = process(old)
	w.Engine.Tell(func(string, string) error { return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie) }, nil)
	stop := w.Start(w.Instance)
	id := w.Buy(sagastest.OrderForm{Domain: "between.example.com"})
	w.Eventually("the engine has been asked", func() bool {
		return w.Count(
			`select count(*) from effect where step <> 'session' and state in ('intended', 'unknown', 'absent') and sends > 0`,
		) > 0
	})
	stop()
	during := process(fresh + "," + old)
	w.Must(during.Store.Sweep(t.Context()))
	w.Must(credentials.Open(during.Pool, during.Store.Keys()).Sweep(t.Context()))
	w.Instance = process(fresh)
	w.Engine.Tell(nil, nil)
	w.Goes()
	w.Becomes(id, order.StatusActive)
	w.OnlyOnce(id)
}

func TestAReactionThatFailsForGoodIsMovedOutOfTheWay(t *testing.T) { // W-8, F-24
	t.Parallel()
	w := sagastest.NewWorld(t)
	broken := uuid.New()
	_, err := w.Store.Append(t.Context(), domain.Metadata{Actor: "test"}, order.Stream(broken), 0, nil, order.Activated{At: w.Runner.Now()})
	w.Must(err)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Eventually("the customer behind it is told", func() bool {
		return w.Count(`select count(*) from notifications where notification_type = 'success'`) == 1
	})
	w.Equal("poisoned", w.Count(`select count(*) from poisoned`), 1)
	handled := int64(w.Count(`select position from events where name = 'order.activated' and stream = $1`, order.Stream(id).String()))
	w.Must(w.Runner.Reactions.Requeue(t.Context(), sagastest.Operator, handled, "once more"))
	w.Equal("notifications after a repeat", w.Count(`select count(*) from notifications where notification_type = 'success'`), 1)
	w.Equal(
		"an event that never was", domain.CodeOf(w.Runner.Reactions.Requeue(t.Context(), sagastest.Operator, 1<<40, "try")),
		domain.NotFound,
	)
}

func TestAStepThatPanicsIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var once sync.Once
	w.Compute.Tell(func(call, _ string) error {
		if call == "create" {
			once.Do(func() { panic("a mistake in an adapter") })
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
	w.Equal("noted", w.Count(`select count(*) from saga_attempt where error like 'panic: a mistake in an adapter%'`), 1)
}

// A run that finds no room in its next queue waits there like any other, and what it did
// before is recorded.
func TestARunThatFindsNoRoomInItsNextQueueWaitsThere(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses("engine:one")
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Eventually("it waits for the engine", func() bool { return runIs(w, id, "ready", "engine:one") })
	w.Equal("the order", w.Text(`select status from orders where id = $1`, id), string(order.StatusProvisioning))
	w.Equal("intents", w.Count(`select count(*) from effect where step = 'tenant.engine'`), 0)
	_, err := w.Pool.Exec(t.Context(), `update saga_queue set paused = false`)
	w.Must(err)
	w.Becomes(id, order.StatusActive)
}

// What an append to a stream does for the runs that may wait for it does not depend on how
// many wait for other streams.
func TestRunsThatWaitAreFoundByTheirStream(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	_, err := w.Pool.Exec(t.Context(), `
		with q as (insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing)
		insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation, awaits)
			select gen_random_uuid(), 'waits:' || n, 'waits/1', '[]', '{}', 'waiting', 'local', 'test',
				gen_random_uuid(), 'site-' || n from generate_series(1, 4000) n`)
	w.Must(err)
	_, err = w.Pool.Exec(t.Context(), `analyze saga_run`)
	w.Must(err)
	eventstoretest.ReadsAtMost(t, w.Pool, "saga_run", 20, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `select release_runs('site-17')`)
		return err
	})
}

func TestWhatIsUsedUpIsLookedForOnceMore(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.EngineBudget = 100 * time.Millisecond })
	w.Compute.Tell(func(call, _ string) error {
		if call == "create" {
			time.Sleep(120 * time.Millisecond) // until the budget is used up
		}
		return nil
	}, func(string, string) error { return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie) })
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
}

// A worker dies before its call, after its call, and after its step: nothing is made twice.
func TestAWorkerThatDiesLeavesOneOfEach(t *testing.T) { // F-1
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	deaths := sagastest.NewDeaths[uuid.UUID](w)
	w.Fault.To(func(p sagas.Point, r sagas.Run) error { return deaths.At(r.Order, r.At().Name, p, false) })
	w.Goes()
	var ids []uuid.UUID
	for _, c := range []sagastest.Crash{
		{Kind: "hosting", Step: "tenant.engine", At: sagas.Answered},
		{Kind: "hosting", Step: "activate", At: sagas.AfterComplete},
		{Kind: "vps", Step: "vm", At: sagas.AfterIntent},
	} {
		id := w.Place(sagastest.OrderForm{Kind: c.Kind})
		deaths.Plan(id, c)
		w.Paid(id)
		ids = append(ids, id)
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		w.Eventually("its run is done", func() bool { return w.Provision(id).Status == sagas.StatusDone })
		w.Settled(id)
		w.OnlyOnce(id)
	}
	deaths.Came()
}
