// Package traffic makes operations at random and carries them out: one after the other, on
// the model and on the engine in a real Postgres.
package traffic

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/payments"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/trips"
)

// virtual puts the real clock of the database into a table, so that nothing depends on how
// fast a machine is.
const virtual = `
create table virtual_clock (at timestamptz not null);
insert into virtual_clock values ('2026-01-01T00:00:00Z');
grant select, update on virtual_clock to hostpanel_app;
create or replace function real_now() returns timestamptz language sql stable parallel safe as $$ select at from public.virtual_clock $$;
create or replace function real_statement() returns timestamptz language sql stable parallel safe as $$ select at
	from public.virtual_clock $$;
create or replace function real_clock() returns timestamptz language sql volatile parallel safe as $$ select at
	from public.virtual_clock $$;
create or replace function business_now() returns timestamptz language sql stable parallel safe as
	$$ select at + ahead from public.virtual_clock, public.business_clock_ahead $$;
create or replace function business_clock() returns timestamptz language sql volatile parallel safe as
	$$ select at + ahead from public.virtual_clock, public.business_clock_ahead $$`

// epoch is when the virtual clock begins.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func prepare(ctx context.Context, url string) error {
	owner, err := eventstore.ConnectOwner(ctx, url)
	if err != nil {
		return err
	}
	defer owner.Close()
	if err := eventstore.Migrate(ctx, owner, eventstore.Migration{Area: "sagas", Files: sagas.Migrations}); err != nil {
		return err
	}
	if err := clock.Install(ctx, owner); err != nil {
		return err
	}
	if _, err := owner.Exec(ctx, virtual); err != nil {
		return err
	}
	for queue, most := range model.Queues {
		if _, err := owner.Exec(ctx, `insert into saga_queue (queue, max_in_flight) values ($1, $2)`, queue, most); err != nil {
			return err
		}
	}
	return nil
}

// A Process is one process of the program: its caches, its workers.
type Process struct {
	Store    *eventstore.Store
	Runner   *sagas.Runner
	Payments *payments.Service
}

// An Engine is the real one: two processes on one database, and all outside of it.
type Engine struct {
	t       testing.TB
	Pool    *pgxpool.Pool
	Procs   [2]*Process
	Outside *trips.Outside
	Now     time.Time
	Ahead   time.Duration
	Fault   func(sagas.Point, sagas.Run) error
}

// NewEngine is an engine on a database of its own.
func NewEngine(t testing.TB) *Engine {
	t.Helper()
	e := &Engine{
		t: t, Pool: eventstoretest.Pool(t, eventstoretest.Database(t, "robustness", prepare)),
		Outside: trips.NewOutside(), Now: epoch,
	}
	for n := range e.Procs {
		e.Restart(n)
	}
	return e
}

// Restart begins a process anew. What the old one knew is lost.
func (e *Engine) Restart(n int) {
	store := eventstore.Open(
		e.Pool, domain.NewCatalogue(sagas.EventTypes, operations.IncidentEventTypes), eventstoretest.Keys(e.t),
		eventstoretest.Caused(),
	)
	eventstore.Serve(store, sagas.Category, sagas.Decider)
	eventstore.Serve(store, operations.IncidentCategory, operations.Incidents)
	p := &Process{Store: store, Runner: sagas.New(sagas.Options{
		Store: store, Times: trips.Times, Now: e.business, Log: slog.New(slog.DiscardHandler), Fault: e.faultAt,
	})}
	p.Payments = payments.New(payments.Deps{
		Runner: p.Runner, Store: store, Providers: map[string]order.Provider{model.Provider: bank{}}, Times: model.PaymentTimes,
	})
	for _, definition := range []string{trips.Alone, trips.Joining} {
		sagas.Register(p.Runner, e.saga(p, definition))
	}
	p.Runner.OnAppend(func(_ context.Context, events []eventstore.RecordedEvent) ([]eventstore.Start, error) {
		return sagas.StartEach(p.Runner, events, func(r eventstore.RecordedEvent) (sagas.Start, bool, error) {
			start, begins := trips.Begins(r.Event)
			return start, begins, nil
		})
	})
	store.Attach(eventstore.WithStarter(p.Runner))
	e.Procs[n] = p
}

func (e *Engine) business() time.Time { return e.Now.Add(e.Ahead) }

func (e *Engine) faultAt(p sagas.Point, r sagas.Run) error {
	if e.Fault == nil {
		return nil
	}
	return e.Fault(p, r)
}

// Pass lets real time pass.
func (e *Engine) Pass(ctx context.Context, d time.Duration) error {
	e.Now = e.Now.Add(d)
	e.Outside.Pass(d)
	_, err := e.Pool.Exec(ctx, `update virtual_clock set at = $1`, e.Now)
	return err
}

// Advance advances the panel's clock.
func (e *Engine) Advance(ctx context.Context, p *Process, d time.Duration) error {
	e.Ahead += d
	return p.Store.Clock().Advance(ctx, d)
}

// Start starts a run by itself.
func (p *Process) Start(ctx context.Context, meta domain.Metadata, start sagas.Start) (domain.Receipt, error) {
	begin := p.Runner.Starting(0, start)
	return p.Store.ExecuteWith(ctx, meta, begin.Rows, begin.Command)
}

// Append adds an event at an expected version.
func (p *Process) Append(ctx context.Context, meta domain.Metadata, at domain.Stream, version int, event domain.Event) error {
	var before []byte
	history, err := p.Store.Read(ctx, at)
	if err != nil {
		return err
	}
	if len(history) > 0 {
		before = history[len(history)-1].Hash
	}
	_, err = p.Store.Append(ctx, meta, at, version, before, event)
	return err
}

// SetQueue is what operators change of a queue.
func (e *Engine) SetQueue(ctx context.Context, queue string, most int, paused bool) error {
	_, err := e.Pool.Exec(ctx, `update saga_queue set max_in_flight = $2, paused = $3 where queue = $1`, queue, most, paused)
	return err
}

// Events are those of the log after a position.
func (e *Engine) Events(ctx context.Context, after int64) ([]eventstore.RecordedEvent, error) {
	return e.Procs[0].Store.Reader().After(ctx, after, 1000)
}
