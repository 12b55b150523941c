package sagas

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// Migrations are the tables of this package.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Options are what a runner needs of the program around it.
type Options struct {
	Store  *eventstore.Store
	Times  Times            // zero: [Defaults]
	Limits map[string]int   // runs at once per queue; missing: as the queue was added
	Now    func() time.Time // business time; nil: that of the store
	Log    *slog.Logger     // nil: slog.Default
	Fault  func(Point, Run) error

	Installation string // of the panel, see [Runner]
}

// A Runner carries out sagas. Any number of processes may do so on one database;
// all are equal. It starts runs and reads the log; its executor works on runs,
// and its Operators let people look at them and overrule them.
type Runner struct {
	*wakes
	*incidents
	claims
	runs

	Operators *Operators
	Reactions *Reactions

	// Installation tells what this panel made elsewhere from what another one made: effects
	// carry it (docs/sagas.md, "Effects"). Empty: they carry none.
	Installation string

	store *eventstore.Store
	pool  *pgxpool.Pool
	times Times
	now   func() time.Time
	log   *slog.Logger
	fault faults

	definitions *definitions
	queues      *queues
	ledger      *ledger
	counts      *counts
	executor    *executor
	tasks       *tasks

	drill, joinedDrill Definition[struct{}]

	starters []func(context.Context, []eventstore.RecordedEvent) ([]eventstore.Start, error)
	loops    []func(ctx, work context.Context) // of tasks; what one has begun goes on in work
	chores   []chore
}

// LocalQueue is where steps wait that change only our own database.
const LocalQueue = "local"

// New prepares a runner; [Runner.Run] sets it going. Register all sagas and
// attach the runner to the store as its Starter before the first command is
// executed.
func New(o Options) *Runner {
	if o.Times == (Times{}) {
		o.Times = Defaults
	}
	if o.Now == nil {
		o.Now = o.Store.Clock().Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	pool := o.Store.Pool()
	s := &Runner{
		store: o.Store, pool: pool, times: o.Times, now: o.Now, log: o.Log, fault: o.Fault, claims: claims{pool}, runs: runs{o.Store},
		wakes:       &wakes{store: o.Store, poll: o.Times.Poll, fault: o.Fault, queues: map[string]chan struct{}{}},
		incidents:   &incidents{store: o.Store, now: o.Now, write: o.Times.Write, log: o.Log},
		definitions: &definitions{sagas: map[string]*definition{}, undo: o.Times.UndoPolicy()},
		queues:      &queues{limits: map[string]int{}, set: o.Limits},
		ledger:      &ledger{pool: pool, keys: o.Store.Keys(), keyLife: o.Times.KeyLife}, counts: &counts{},
		tasks: &tasks{}, Installation: o.Installation,
	}
	s.Operators = &Operators{
		store: o.Store, pool: pool, times: o.Times, now: o.Now, definitions: s.definitions, queues: s.queues,
		runs: s.runs, ledger: s.ledger,
		wakes: s.wakes, counts: s.counts, tasks: s.tasks,
	}
	s.Reactions = &Reactions{store: o.Store, poll: o.Times.Poll, now: o.Now, log: o.Log, incidents: s.incidents}
	s.executor = &executor{
		store: o.Store, pool: pool, times: o.Times, now: o.Now, log: o.Log, fault: o.Fault, definitions: s.definitions,
		runs: s.runs, ledger: s.ledger,
		wakes: s.wakes, incidents: s.incidents, counts: s.counts,
		worker: workerName(), leases: leases{holds: map[uuid.UUID]*hold{}}, slots: slots{queues: map[string]*served{}},
	}
	s.store.Hints().Hear(channel, s.heard)
	s.AddQueue(LocalQueue, localLimit)
	s.EachRound("attempts were not swept", s.sweepAttempts)
	s.registerDrills()
	return s
}

// workerName tells operators where a run is being worked on.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), uuid.NewString()[:8])
}

// AddQueue lets this process serve a queue, and says how many of its runs all
// processes work on at once. The first call counts; [Options.Limits] wins.
func (s *Runner) AddQueue(queue string, limit int) { s.queues.add(queue, limit) }

// OnAppend lets events start runs, in the append that records them (rule G-9).
// The starts that begin answers with come from [Runner.Starting].
func (s *Runner) OnAppend(begin func(context.Context, []eventstore.RecordedEvent) ([]eventstore.Start, error)) {
	s.starters = append(s.starters, begin)
}

// OnEvent adds a reaction to events of these names; without any, to all. It may be called
// more than once for an event, and does database work only (docs/sagas.md, "Reactions").
func (s *Runner) OnEvent(react func(context.Context, eventstore.RecordedEvent) error, names ...string) {
	s.Reactions.list = append(s.Reactions.list, reaction{names, react})
}

// Starts says which runs begin with new events. It implements
// [eventstore.Starter].
func (s *Runner) Starts(ctx context.Context, events []eventstore.RecordedEvent) (starts []eventstore.Start, err error) {
	for _, begin := range s.starters {
		more, err := begin(ctx, events)
		if err != nil {
			return nil, fmt.Errorf("start runs: %w", err)
		}
		starts = append(starts, more...)
	}
	return s.queues.oneRow(starts), nil
}

// Starting is the start of a run with the event of this index.
func (s *Runner) Starting(event int, run Start) eventstore.Start {
	first := Decider.Evolve(Run{}, Started(run))
	queue := first.At().Queue
	return eventstore.Start{
		Fact: event, Command: run, Rows: s.definitions.startRows(first, s.queues.limits[queue]), Begun: func() { s.Wake(queue) },
	}
}

// StartEach asks of each event whether a run begins with it. It helps functions
// that are given to [Runner.OnAppend].
func StartEach(
	s *Runner, events []eventstore.RecordedEvent,
	begin func(eventstore.RecordedEvent) (run Start, begins bool, err error),
) (starts []eventstore.Start, err error) {
	for i, r := range events {
		run, begins, err := begin(r)
		if err != nil {
			return nil, err
		}
		if begins {
			starts = append(starts, s.Starting(i, run))
		}
	}
	return starts, nil
}

// Run carries out sagas until ctx ends, then lets calls that are running
// finish for a while and gives everything else back. It refuses to start if
// the database holds runs that this program cannot finish.
func (s *Runner) Run(ctx context.Context) error {
	err := errors.Join(s.definitions.refuseUnknownSteps(ctx, s.pool, s.log), s.queues.ensure(ctx, s.pool))
	if ctx.Err() != nil { // ended before it began
		return nil
	}
	if err != nil {
		return err
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var claimers, loops, others sync.WaitGroup
	for queue, limit := range s.queues.limits {
		claimers.Go(func() { s.executor.serve(ctx, work, queue, limit) })
	}
	for _, loop := range s.loops {
		loops.Go(func() { loop(ctx, work) })
	}
	for _, do := range []func(context.Context){s.onAdvance, s.janitor, s.Reactions.run} {
		others.Go(func() { do(ctx) })
	}
	renewing, end := context.WithCancel(work)
	others.Go(func() { s.executor.renewLeases(renewing) })

	<-ctx.Done()
	claimers.Wait()
	s.executor.drain(stop, &loops)
	end()
	others.Wait()
	return nil
}

// drain waits for what is running; what takes too long is stopped and given
// back (rule G-8).
func (s *executor) drain(stop context.CancelCauseFunc, loops *sync.WaitGroup) {
	idle := make(chan struct{})
	go func() {
		s.workers.Wait()
		loops.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(s.times.Grace):
		stop(errStopping)
		<-idle
	}
}

// Alarm writes a log line that an operator has to act on. It names things by
// their ids only.
func (s *Runner) Alarm(ctx context.Context, what string, about ...any) {
	alarm(ctx, s.log, what, about...)
}

func alarm(ctx context.Context, log *slog.Logger, what string, about ...any) {
	log.ErrorContext(ctx, what, append([]any{slog.Bool("alarm", true)}, about...)...)
}

// Log is where the runner logs.
func (s *Runner) Log() *slog.Logger { return s.log }

// Times are the runner's own times.
func (s *Runner) Times() Times { return s.times }

// Now is the business time.
func (s *Runner) Now() time.Time { return s.now() }

// Says tells steps of a definition in the customer's words, one a line.
func (s *Runner) Says(definition string, names ...string) string {
	return s.definitions.says(definition, names...)
}

// Effect reads one row of the ledger. An effect without a row has the state "".
func (s *Runner) Effect(ctx context.Context, key string) (LedgerEntry, error) {
	return s.ledger.Effect(ctx, key)
}

// System is the cause of what the program does of its own accord, for an order
// unless that is zero.
func System(what string, order uuid.UUID) domain.Metadata {
	return domain.Metadata{ID: uuid.New(), Actor: "system:" + what, Correlation: order}
}

var _ eventstore.Starter = (*Runner)(nil)
