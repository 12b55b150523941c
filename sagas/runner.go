package sagas

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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
}

// A Runner carries out sagas. Any number of processes may do so on one database;
// all are equal. It starts runs and reads the log; its executor works on runs,
// and its Operators let people look at them and overrule them.
type Runner struct {
	*core
	Operators
	executor *executor

	drill, joinedDrill Definition[struct{}]

	starters  []func(context.Context, []eventstore.RecordedEvent) ([]eventstore.Start, error)
	reactions []reaction
	loops     []func(ctx, work context.Context)
	chores    []chore
	limits    map[string]int
}

// core is what the parts of a runner share: the log and the tables, clock, times
// and log lines, the definitions, and the queues with their wake-ups.
type core struct {
	store *eventstore.Store
	pool  *pgxpool.Pool
	times Times
	now   func() time.Time
	log   *slog.Logger
	fault func(Point, Run) error // nil outside tests

	definitions map[string]*definition
	queues      map[string]int
	wakes       *wakes

	queuesStand       atomic.Bool // those that this process serves have their rows
	completed, fenced atomic.Int64
}

// LocalQueue is where steps wait that change only our own database.
const LocalQueue = "local"

// How many runs of a queue are worked on at once, unless more is said.
const (
	localLimit  = 16
	remoteLimit = 4
)

// New prepares a runner; [Runner.Run] sets it going. Register all sagas and
// attach the runner to the store as its Starter before the first command is
// executed.
func New(o Options) *Runner {
	c := &core{
		store: o.Store, pool: o.Store.Pool(), times: o.Times, now: o.Now, log: o.Log, fault: o.Fault,
		definitions: map[string]*definition{}, queues: map[string]int{}, wakes: newWakes(),
	}
	if c.times == (Times{}) {
		c.times = Defaults
	}
	if c.now == nil {
		c.now = o.Store.Clock().Now
	}
	if c.log == nil {
		c.log = slog.Default()
	}
	s := &Runner{
		core: c, Operators: Operators{c}, limits: o.Limits,
		executor: &executor{core: c, worker: workerName(), leases: leases{holds: map[uuid.UUID]*hold{}}, slots: slots{queues: map[string]*served{}}},
	}
	c.store.Hints().Hear(channel, s.heard)
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
func (s *Runner) AddQueue(queue string, limit int) {
	if _, added := s.queues[queue]; added {
		return
	}
	if set, ok := s.limits[queue]; ok {
		limit = set
	}
	s.queues[queue] = limit
}

// OnAppend lets events start runs, in the append that records them (rule G-9).
// The starts that begin answers with come from [Runner.Starting].
func (s *Runner) OnAppend(begin func(context.Context, []eventstore.RecordedEvent) ([]eventstore.Start, error)) {
	s.starters = append(s.starters, begin)
}

// OnEvent adds a reaction to events of these names; without any, to all. It may be called
// more than once for an event, and does database work only (docs/sagas.md, "Reactions").
func (s *Runner) OnEvent(react func(context.Context, eventstore.RecordedEvent) error, names ...string) {
	s.reactions = append(s.reactions, reaction{names, react})
}

// Background adds a loop that lasts until ctx ends. What it has begun by then goes on
// in the context work, which ends some time later; leases are taken in it, too.
func (s *Runner) Background(loop func(ctx, work context.Context)) { s.loops = append(s.loops, loop) }

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
	return s.oneQueueRow(starts), nil
}

// Starting is the start of a run with the event of this index.
func (s *Runner) Starting(event int, run Start) eventstore.Start {
	first := Decider.Evolve(Run{}, Started(run))
	return eventstore.Start{Fact: event, Command: run, Rows: s.startRows(first), Begun: func() { s.Wake(first.At().Queue) }}
}

// StartEach asks of each event whether a run begins with it. It helps functions
// that are given to [Runner.OnAppend].
func StartEach(s *Runner, events []eventstore.RecordedEvent, begin func(eventstore.RecordedEvent) (run Start, begins bool, err error)) (starts []eventstore.Start, err error) {
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

// oneQueueRow leaves out the rows of queues that stand, and of others but the first of
// each: one append may start hundreds of runs.
func (s *Runner) oneQueueRow(starts []eventstore.Start) []eventstore.Start {
	seen := map[string]bool{}
	if s.queuesStand.Load() {
		for queue := range s.queues {
			seen[queueRow(queue)] = true
		}
	}
	for i, start := range starts {
		if queue := start.Rows[0].Key; seen[queue] {
			starts[i].Rows = start.Rows[1:]
		} else {
			seen[queue] = true
		}
	}
	return starts
}

// Run carries out sagas until ctx ends, then lets calls that are running
// finish for a while and gives everything else back. It refuses to start if
// the database holds runs that this program cannot finish.
func (s *Runner) Run(ctx context.Context) error {
	err := errors.Join(s.refuseUnknownSteps(ctx), s.ensureQueues(ctx))
	if ctx.Err() != nil { // ended before it began
		return nil
	}
	if err != nil {
		return err
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var claimers, loops, others sync.WaitGroup
	for queue, limit := range s.queues {
		claimers.Go(func() { s.executor.serve(ctx, work, queue, limit) })
	}
	for _, loop := range s.loops {
		loops.Go(func() { loop(ctx, work) })
	}
	for _, do := range []func(context.Context){s.wakeOnAdvance, s.janitor, s.reactToEvents} {
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

// refuseUnknownSteps checks that every live run of our definitions can be
// finished (rule G-12). Other definitions belong to newer or older programs
// (G-11).
func (s *Runner) refuseUnknownSteps(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, `
		select definition, p ->> 'name', count(*) from `+LiveRuns+`, jsonb_array_elements(steps) p
		group by 1, 2 order by 1, 2`)
	if err != nil {
		return SQLError(err, "look for live runs")
	}
	defer rows.Close()
	var missing []string
	others := map[string]bool{}
	for rows.Next() {
		var definition, name string
		var runs int64
		if err := rows.Scan(&definition, &name, &runs); err != nil {
			return fmt.Errorf("look for live runs: %w", err)
		}
		d, ours := s.definitions[definition]
		if !ours && !others[definition] {
			others[definition] = true
			s.Alarm(ctx, "live runs wait for another version of the program", "definition", definition, "runs", runs)
		}
		if _, known := d.step(name); ours && !known {
			missing = append(missing, fmt.Sprintf("unknown step %q of %s in %d live runs", name, definition, runs))
		}
	}
	if err := rows.Err(); err != nil {
		return SQLError(err, "look for live runs")
	}
	if len(missing) > 0 {
		return errors.New("sagas: " + strings.Join(missing, "; "))
	}
	return nil
}

// definitionNames are those of all registered sagas.
func (s *core) definitionNames() []string {
	return slices.Sorted(maps.Keys(s.definitions))
}

// Queues are the names of the queues that this process serves.
func (s *Runner) Queues() []string {
	names := make([]string, 0, len(s.queues))
	for name := range s.queues {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Alarm writes a log line that an operator has to act on. It names things by
// their ids only.
func (s *core) Alarm(ctx context.Context, what string, about ...any) {
	s.log.ErrorContext(ctx, what, append([]any{slog.Bool("alarm", true)}, about...)...)
}

// Log is where the runner logs.
func (s *core) Log() *slog.Logger { return s.log }

// Times are the runner's own times.
func (s *core) Times() Times { return s.times }

// Now is the business time.
func (s *core) Now() time.Time { return s.now() }

// System is the cause of what the program does of its own accord, for an order
// unless that is zero.
func System(what string, order uuid.UUID) domain.Metadata {
	return domain.Metadata{ID: uuid.New(), Actor: "system:" + what, Correlation: order}
}

var _ eventstore.Starter = (*Runner)(nil)
