package hosting_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// The bin's run sleeps in one process; another one advances the clock. Polls are
// far apart, so what is done at once was woken by the advance.
func TestAnAdvanceOfTheClockEndsTheGraceInAnotherProcess(t *testing.T) {
	t.Parallel()
	patient := sagastest.Quick
	patient.Poll, patient.BinLook = 20*time.Second, sagastest.Day
	h := sagastest.NewHousehold(t, func(o *assembly.Options) { o.Times = patient })
	other := h.Node(h.URL(), func(o *assembly.Options) { o.Times = patient })
	h.Moves()
	h.Start(other)
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	_, err := other.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, s)
	h.Must(err)
	h.Stands(s.Ref, hosting.Running)
	_, err = other.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, hosting.MoveToBin{Ref: s.Ref})
	h.Must(err)
	h.Eventually("its run waits for the end of the grace", func() bool {
		return h.Count(`select count(*) from saga_run where key like 'grace:%' and status = 'waiting' and run_at > now()`) == 1
	})
	moved := lastEvent(h.World)
	begun := time.Now()
	h.Must(h.Store.Clock().Advance(t.Context(), 31*sagastest.Day))
	h.Stands(s.Ref, hosting.Gone)
	if took := time.Since(begun); took > patient.Poll/2 {
		t.Errorf("the bin was emptied after %v: the advance has not woken its run", took)
	}
	if aged := lastEvent(h.World).Sub(moved); aged < 31*sagastest.Day || aged > 31*sagastest.Day+time.Hour {
		t.Errorf("the log says that it took %s", aged)
	}
	h.Equal(
		"runs whose lease ends with the offset",
		h.Count(`select count(*) from saga_run where lease_until > now() + interval '1 day'`), 0,
	)
}

// A hesitant household looks and polls seldom. Its engine creates tenants once answers is
// closed. The run of its site has looked for the tenant when looked is closed, and records
// its wait once waits is.
type hesitantHousehold struct {
	*sagastest.Household
	patience               time.Duration
	looked, waits, answers chan struct{}
}

func newHesitantHousehold(t *testing.T) hesitantHousehold {
	t.Helper()
	h := hesitantHousehold{
		patience: 20 * time.Second, looked: make(chan struct{}), waits: make(chan struct{}),
		answers: make(chan struct{}),
	}
	patient, first := sagastest.Quick, once()
	patient.Poll, patient.ReadyLast, patient.EngineBase, patient.EngineCap = h.patience, h.patience, h.patience, h.patience
	h.Household = sagastest.NewHousehold(t, func(o *assembly.Options) {
		o.Times = patient
		o.Fault = func(p sagas.Point, r sagas.Run) error {
			if p == sagas.Waiting && strings.HasPrefix(r.Key, "engine:site-") && first() {
				close(h.looked)
				<-h.waits
			}
			return nil
		}
	})
	h.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "tenant/") {
			<-h.answers
		}
		return nil
	}, nil)
	return h
}

// asksForASite returns the site, once its run has looked for the tenant.
func (h hesitantHousehold) asksForASite() hosting.Request {
	h.T.Helper()
	h.Goes()
	s := h.Ask(h.Draw("site"), sagastest.Site("example.com"))
	_, err := h.Reconciler.Carry(h.T.Context(), domain.Metadata{Actor: "user:1"}, nil, s)
	h.Must(err)
	<-h.looked
	return s
}

// standsSoon: the site is made by a wake-up, and not by the next look.
func (h hesitantHousehold) standsSoon(s hosting.Request) {
	h.T.Helper()
	begun := time.Now()
	h.Stands(s.Ref, hosting.Running)
	if took := time.Since(begun); took > h.patience/2 {
		h.T.Errorf("the site was made after %v: its run waits for what has happened", took)
	}
}

func (h hesitantHousehold) siteWaits() bool {
	return h.Count(`select count(*) from saga_run where awaits <> '' and status = 'waiting'`) > 0
}

// A site waits for its tenant, and is made as soon as the tenant is confirmed.
func TestAConfirmationWakesWhatWaitsForIt(t *testing.T) {
	t.Parallel()
	h := newHesitantHousehold(t)
	s := h.asksForASite()
	close(h.waits)
	h.Eventually("the site waits", h.siteWaits)
	close(h.answers)
	h.standsSoon(s)
}

// The tenant is confirmed after its site's run has looked for it, and before that run
// waits: it is not woken, and has to see that there is nothing to wait for.
func TestAConfirmationBeforeTheWaitLetsTheRunGoOn(t *testing.T) {
	t.Parallel()
	h := newHesitantHousehold(t)
	s := h.asksForASite()
	close(h.answers)
	h.Eventually("the tenant's own run is done", func() bool {
		return h.RunOf(fmt.Sprintf("engine:tenant-%d/1", h.Tenant)).Status == sagas.StatusDone
	})
	close(h.waits)
	h.standsSoon(s)
}

// The run of a site begins to wait while the confirmation of its tenant is being
// committed: neither sees what the other has written.
func TestAWaitThatBeginsWhileItsEndIsCommittedIsNotMissed(t *testing.T) {
	t.Parallel()
	h := newHesitantHousehold(t)
	s := h.asksForASite()
	writer, err := eventstoretest.Owner(t, h.URL()).Begin(t.Context())
	h.Must(err)
	_, err = writer.Exec(t.Context(), `select pg_advisory_xact_lock(4801223014)`) // the writers' lock
	h.Must(err)
	blocked := func() int {
		return h.Count(`select count(*) from pg_locks where locktype = 'advisory' and not granted
			and database = (select oid from pg_database where datname = current_database())`)
	}
	close(h.answers)
	h.Eventually("the confirmation has released who waits, and waits for its commit", func() bool { return blocked() == 1 })
	close(h.waits)
	h.Eventually("the site's run begins to wait", func() bool { return blocked() == 2 || h.siteWaits() })
	h.Must(writer.Rollback(t.Context()))
	h.standsSoon(s)
}

// Each process is told the queue of a run that goes on. A release that finds none, as most do, wakes
// no worker.
func TestOnlyAReleaseThatFindsRunsIsTold(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	conn, err := eventstoretest.Owner(t, w.URL()).Acquire(t.Context())
	w.Must(err)
	defer conn.Release()
	for _, sql := range []string{
		`insert into saga_queue (queue, max_in_flight) values ('local', 4) on conflict do nothing`,
		`insert into saga_run (id, key, cause, correlation, definition, steps, input, queue, status, awaits, run_at)
			select gen_random_uuid(), 'drill:1', '', gen_random_uuid(), 'drill/1', '[]', '{}', 'local', 'waiting',
				'tenant-1', business_now() + interval '1 hour'`,
		`listen saga_due`, `select release_runs('tenant-2')`, `select release_runs('tenant-1')`,
	} {
		_, err := conn.Exec(t.Context(), sql)
		w.Must(err)
	}
	told, err := conn.Conn().WaitForNotification(t.Context())
	if err != nil || told.Payload != "\nlocal" {
		t.Error(told, err)
	}
	if due := w.Count(`select count(*) from saga_run where key = 'drill:1' and run_at <= business_now()`); due != 1 {
		t.Error("the run is not due")
	}
}

// lastEvent is when the newest event was recorded.
func lastEvent(w *sagastest.World) time.Time {
	w.T.Helper()
	_, at, err := w.Store.Reader().Head(w.T.Context())
	w.Must(err)
	return at
}

func planOf(t *testing.T, pool *pgxpool.Pool, sql string) string {
	t.Helper()
	rows, _ := pool.Query(t.Context(), "explain (costs off) "+sql)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
