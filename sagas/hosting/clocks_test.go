package hosting_test

import (
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
