package sagas

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Migrations are the tables of this package.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Options are what sagas need of the program around them.
type Options struct {
	Store     *eventstore.Store
	Tables    *projections.Tables
	Payments  map[string]Payments // by name
	Engine    Engine
	Compute   Compute
	Mail      Mail
	Webhooks  Webhooks
	MailFrom  string           // sender of mails
	PublicURL func() string    // where customers reach us, without a slash at the end
	Times     Times            // zero: [Defaults]
	Limits    map[string]int   // per queue; missing: 16 local, 4 elsewhere
	Now       func() time.Time // for everything but leases; nil: time.Now
	Log       *slog.Logger     // nil: slog.Default

	// UnsubscribeKeys prove that a link in a mail is ours: the first signs.
	UnsubscribeKeys [][]byte
}

// Sagas carries out all sagas. Any number of processes may do so on one
// database; none of them is special.
type Sagas struct {
	store           *eventstore.Store
	pool            *pgxpool.Pool
	tables          *projections.Tables
	payments        map[string]Payments
	engine          Engine
	compute         Compute
	mail            Mail
	webhooks        Webhooks
	mailFrom        string
	publicURL       func() string
	unsubscribeKeys [][]byte
	times           Times
	now             func() time.Time
	log             *slog.Logger

	policies policies
	steps    map[string]step
	lists    map[string]saga
	defs     []string
	queues   map[string]int
	worker   string

	wakes   *wakes
	leases  leases
	paces   paces
	crowds  crowds
	workers sync.WaitGroup

	completed, fenced, rejected, checked atomic.Int64

	// Tests only: faults to order, and wake-ups to leave out.
	fault      func(point, claimed) error
	inboxFault func(id int64) error
	resetFault func(id uuid.UUID) error
	frozen     func() bool
	silent     bool
}

// The queues that do not depend on a server.
const (
	localQueue = "local"
	mailQueue  = "mail"
)

func engineQueue(e Engine) string   { return "engine:" + e.Server() }
func computeQueue(c Compute) string { return "compute:" + c.Server() }

// New prepares sagas; [Sagas.Run] sets them going. Attach the result to the
// store as its Starter before the first command is executed.
func New(o Options) *Sagas {
	s := &Sagas{
		store: o.Store, pool: o.Store.Pool(), tables: o.Tables, payments: o.Payments, engine: o.Engine, compute: o.Compute,
		mail: o.Mail, webhooks: o.Webhooks, crowds: crowds{at: map[string]*crowd{}}, mailFrom: o.MailFrom, publicURL: o.PublicURL, unsubscribeKeys: o.UnsubscribeKeys, times: o.Times, now: o.Now, log: o.Log,
		worker: workerName(), wakes: newWakes(), leases: leases{holds: map[uuid.UUID]*hold{}}, paces: paces{next: map[string]time.Time{}, until: map[string]time.Time{}},
	}
	if s.times == (Times{}) {
		s.times = Defaults
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.Default()
	}
	s.policies = policiesOf(s.times)
	s.declare(
		slices.Concat(s.provisioningSteps(), s.engineSteps(), s.machineSteps(), s.graceSteps(), s.endingSteps(), s.certificateSteps(), s.jobSteps(), s.moneySteps(), []step{s.deliverStep(), s.newsStep(), s.drillStep()}),
		slices.Concat(s.provisioningSagas(), s.engineSagas(), s.jobSagas(), s.moneySagas(), []saga{{name: "deprovision", def: endingDef}, {name: "renewal", def: renewalDef}, {name: "webhook", def: webhookDef}, {name: "drill", def: drillDef}}))
	s.limit(o.Limits)
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

func (s *Sagas) declare(steps []step, lists []saga) {
	s.steps, s.lists = map[string]step{}, map[string]saga{}
	for _, step := range steps {
		s.steps[step.name] = step
	}
	for _, list := range lists {
		s.lists[list.name] = list
		s.defs = append(s.defs, list.def)
	}
}

func (s *Sagas) limit(limits map[string]int) {
	s.queues = map[string]int{localQueue: 16, mailQueue: 4, webhookQueue: deliveriesAtOnce}
	for _, step := range s.steps {
		if _, ok := s.queues[step.queue]; !ok && step.queue != "" {
			s.queues[step.queue] = 4
		}
	}
	for provider := range s.payments {
		s.queues[paymentQueue(provider)] = 4
	}
	for queue, limit := range limits {
		s.queues[queue] = limit
	}
}

// Starts says which runs begin with these facts (rule G-9): provisioning with
// the money, a capture with the customer's word, a refund with the decision to give money back, a run for each mail with a one-time link or of a notification, and those that bring
// what was asked of hosting resources to the engine.
func (s *Sagas) Starts(ctx context.Context, facts []eventstore.Recorded) (starts []eventstore.Start, err error) {
	for i, fact := range facts {
		var run Start
		begins := false
		switch e := fact.Event.(type) {
		case order.PaymentConfirmed, order.Reopened:
			begins = true
			run, err = s.provision(ctx, uuid.MustParse(fact.Stream.ID))
		case order.RefundCompleted, order.DisputeClosed, order.Cancelled:
			if begins = ends(fact.Event); begins {
				run, err = s.ending(ctx, uuid.MustParse(fact.Stream.ID))
			}
		case order.WelcomeMailRequested:
			begins = true
			run, err = s.resent(ctx, fact)
		case order.WelcomeMailDelayed:
			run, begins, err = s.lateMail(ctx, uuid.MustParse(fact.Stream.ID), facts)
		case account.LinkRequested:
			run, begins = s.linkMail(fact, e)
		case notice.MailRequested:
			run, begins = s.noticeMail(fact)
		case hosting.OperationQueued:
			run, begins = s.jobRun(fact, e)
		default:
			run, begins = s.renewalOf(fact)
		}
		if err != nil {
			return nil, fmt.Errorf("start a run for %s: %w", fact.Stream, err)
		}
		if begins {
			first := Decider.Evolve(Run{}, Started(run))
			starts = append(starts, eventstore.Start{Fact: i, Command: run, Rows: s.startRows(first)})
		}
	}
	money, err := s.moneyStarts(ctx, facts)
	if err != nil {
		return nil, fmt.Errorf("start runs about money: %w", err)
	}
	deliveries, err := s.deliveryStarts(ctx, facts)
	if err != nil {
		return nil, fmt.Errorf("start deliveries: %w", err)
	}
	return slices.Concat(starts, s.engineStarts(facts), money, deliveries), nil
}

// watchers and readers are how many checks and webhooks one process works on
// at once.
const (
	watchers = 8
	readers  = 4
)

// Run carries out sagas until ctx ends, then lets calls that are running
// finish for a while and gives everything else back. It refuses to start if
// the database holds runs that this program cannot finish.
func (s *Sagas) Run(ctx context.Context) error {
	react, err := s.prepared(ctx)
	if ctx.Err() != nil { // ended before it began
		return nil
	}
	if err != nil {
		return err
	}
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var claimers, checks, others sync.WaitGroup
	for queue, limit := range s.queues {
		claimers.Go(func() { s.serve(ctx, work, queue, limit) })
	}
	for range readers {
		checks.Go(func() { s.readInbox(ctx) })
	}
	checks.Go(func() { s.watch(ctx, work) })
	checks.Go(func() { s.answerResets(ctx) })
	for _, do := range []func(context.Context){s.notify, s.listen, s.janitor, s.measure, s.verify, react} {
		others.Go(func() { do(ctx) })
	}
	renewing, end := context.WithCancel(work)
	others.Go(func() { s.renewLeases(renewing) })
	<-ctx.Done()
	claimers.Wait()
	s.drain(stop, &checks)
	end()
	others.Wait()
	return nil
}

// prepared makes sure that all runs can be finished, and is what reads the log
// for reactions.
func (s *Sagas) prepared(ctx context.Context) (react func(context.Context), err error) {
	if err := errors.Join(s.known(ctx), s.ensureQueues(ctx)); err != nil {
		return nil, err
	}
	return s.router(ctx)
}

// drain waits for what is running; what takes too long is stopped and given
// back (rule G-8).
func (s *Sagas) drain(stop context.CancelCauseFunc, checks *sync.WaitGroup) {
	idle := make(chan struct{})
	go func() {
		s.workers.Wait()
		checks.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-time.After(s.times.Grace):
		stop(errStopping)
		<-idle
	}
}

// known checks that every live run of our lists can be finished (rule G-12).
// Lists that we do not know belong to newer or older programs (G-11).
func (s *Sagas) known(ctx context.Context) error {
	rows, err := s.pool.Query(ctx, `
		select p ->> 'name', count(*), bool_or(def = any($1)) from saga_run, jsonb_array_elements(steps) p
		where status not in ('done', 'undone') group by 1 order by 1`, s.defs)
	if err != nil {
		return sqlError(err, "look for live runs")
	}
	defer rows.Close()
	var missing []string
	for rows.Next() {
		var name string
		var runs int64
		var ours bool
		if err := rows.Scan(&name, &runs, &ours); err != nil {
			return fmt.Errorf("look for live runs: %w", err)
		}
		if _, known := s.steps[name]; !known && ours {
			missing = append(missing, fmt.Sprintf("unknown step %q in %d live runs", name, runs))
		} else if !known {
			s.alarm(ctx, "live runs wait for another version of the program", "step", name, "runs", runs)
		}
	}
	if err := rows.Err(); err != nil {
		return sqlError(err, "look for live runs")
	}
	if len(missing) > 0 {
		return errors.New("sagas: " + strings.Join(missing, "; "))
	}
	return nil
}

// Serve lets the store carry out the commands on runs, and write down what
// operators ask for.
func Serve(store *eventstore.Store) {
	eventstore.Serve(store, Category, Decider)
	eventstore.Journal(store, ReviewCategory, reviews)
}

// userNamed finds the account of an address.
func (s *Sagas) userNamed(ctx context.Context, email string) (int64, bool, error) {
	user, known, err := s.tables.For(projections.System).UserByEmail(ctx, email)
	return user.ID, known, err
}

// Queues are the names of the queues that this process serves.
func (s *Sagas) Queues() []string {
	names := make([]string, 0, len(s.queues))
	for name := range s.queues {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var _ eventstore.Starter = (*Sagas)(nil)
