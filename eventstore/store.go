// Package eventstore keeps the log of everything that has happened, in
// Postgres, and carries out commands against it. docs/log.md describes how it
// works and why.
package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/sealing"
)

// A Store is the log: it carries out commands, adds their events and reads them.
type Store struct {
	*Reader
	*waker
	pool           *pgxpool.Pool
	clock          *clock.Business
	projector      Projector
	starter        Starter
	idempotencyKey func(domain.IdempotencyKey) TxStatement
	origin         domain.Cause // of commands without one; zero: they are refused
	categories     map[string]category
	committer      *committer
	recent         streamCache
	turns          [1024]sync.Mutex
	seed           maphash.Seed
}

// A Projector keeps read tables in step with the log, inside the transaction
// that adds to it.
type Projector interface {
	Project(RecordedEvent) []Statement
}

// A Statement changes a read table for one fact. In its SQL, recorded_at() is
// the time of the fact.
type Statement struct {
	SQL  string
	Args []any
	// Taken are the refusals that callers get if the statement breaks a
	// unique index or a condition on a row, by the name of that. Nothing has
	// happened then.
	Taken map[string]error
}

// A Starter says which runs of sagas begin with a fact. It is asked before
// the transaction, and may read.
type Starter interface {
	Starts(ctx context.Context, facts []RecordedEvent) ([]Start, error)
}

// A Start begins a run: its first fact and its rows go into the append of the
// fact that causes it. If the run's stream exists already, the cause is
// appended alone.
type Start struct {
	Fact    int // which of the facts is the cause
	Command domain.Command
	Rows    []TxStatement
	Begun   func() // called once it has been committed; nil: nobody waits for it
}

// An Option fits a store with what reacts inside its transactions.
type Option func(*Store)

// WithProjector keeps read tables up to date.
func WithProjector(p Projector) Option { return func(s *Store) { s.projector = p } }

// WithStarter begins runs of sagas.
func WithStarter(st Starter) Option { return func(s *Store) { s.starter = st } }

// WithIdempotencyKeys stores the idempotency key of a request with its events.
func WithIdempotencyKeys(statement func(domain.IdempotencyKey) TxStatement) Option {
	return func(s *Store) { s.idempotencyKey = statement }
}

// WithCause is the cause of commands that have none, in tests and measurements.
// Without it they are refused.
func WithCause(c domain.Cause) Option { return func(s *Store) { s.origin = c } }

// WithLog sends what the store has to say to log; the default is slog.Default.
func WithLog(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// Open gives access to the log in the database behind pool, which [Migrate]
// has prepared.
func Open(pool *pgxpool.Pool, c domain.Catalogue, keys *sealing.Keyring, options ...Option) *Store {
	s := &Store{
		Reader: &Reader{pool: pool, catalogue: c, subjects: &subjectKeys{pool: pool, keys: keys}},
		waker:  newWaker(pool), pool: pool, clock: clock.New(pool), categories: map[string]category{}, seed: maphash.MakeSeed(),
	}
	s.committer = &committer{store: s}
	for _, o := range options {
		o(s)
	}
	return s
}

// Attach fits the store after it was opened: what reacts to the log often
// needs the store itself first.
func (s *Store) Attach(options ...Option) {
	for _, o := range options {
		o(s)
	}
}

// Pool is the database behind the log.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Clock is the business clock, in which events are dated.
func (s *Store) Clock() *clock.Business { return s.clock }

// Follow tells other processes of appends made here, and wakes this one for
// theirs, until ctx ends. Without it, polling alone carries the news. An offset
// of the business clock is followed as well.
func (s *Store) Follow(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { s.follow(ctx) })
	wg.Go(func() { s.clock.Follow(ctx) })
	wg.Wait()
}

// Keys are the secret keys of the installation.
func (s *Store) Keys() *sealing.Keyring { return s.subjects.keys }

// Subject returns the subject of an e-mail address, and creates one for a new
// address. Subjects are random; a keyed hash of the address leads to them.
func (s *Store) Subject(ctx context.Context, email string) (uuid.UUID, error) {
	return s.subjects.of(ctx, email)
}

// category carries out the commands for one category of streams. States are
// values of the decider's own type.
type category struct {
	zero   any
	last   bool // of a stream only the last fact is read: it has no state
	evolve func(state any, e domain.Event) any
	decide func(state any, c domain.Command) ([]domain.Event, error)
}

// Serve lets the store carry out the commands for one category of streams.
func Serve[S any, C domain.Command, E domain.Event](s *Store, name string, d domain.Decider[S, C, E]) {
	var zero S
	s.categories[name] = category{
		zero:   zero,
		evolve: func(state any, e domain.Event) any { return d.Evolve(state.(S), e.(E)) },
		decide: func(state any, c domain.Command) ([]domain.Event, error) {
			facts, err := d.Decide(state.(S), c.(C))
			events := make([]domain.Event, len(facts))
			for i, e := range facts {
				events[i] = e
			}
			return events, err
		},
	}
}

// Journal is [Serve] for streams that only grow, such as what a user has tried
// at the doors: they have no state, so a command is decided on the zero state,
// and only the last fact is read, however many there are. A repeat of a
// request is recognised as long as its facts are the last ones.
func Journal[S any, C domain.Command, E domain.Event](s *Store, name string, d domain.Decider[S, C, E]) {
	Serve(s, name, d)
	served := s.categories[name]
	served.last, served.evolve = true, func(state any, _ domain.Event) any { return state }
	s.categories[name] = served
}

// Fold reads a stream and folds it into its present state and version.
func Fold[S any, C domain.Command, E domain.Event](ctx context.Context, s *Store, d domain.Decider[S, C, E], stream domain.Stream) (state S, version int, err error) {
	history, err := s.Read(ctx, stream)
	for _, r := range history {
		state = d.Evolve(state, r.Event.(E))
	}
	return state, len(history), err
}

// errLost means that somebody else was faster: decide again.
var errLost = errors.New("another writer was faster")

// How often a decision is made anew. What is written into a journal never
// depends on what stands there, so it is worth many tries to be next.
const (
	usualTries   = 4
	journalTries = 32
)

func (s *Store) tries(commands []domain.Command) int {
	if s.isJournal(commands) {
		return journalTries
	}
	return usualTries
}

// ErrConflict is the refusal for a request that lost every race.
var ErrConflict error = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "conflict"}

// Execute decides commands against their streams' histories and adds the
// facts to the log, all or none. It answers with the refusal of the first
// command that is refused, with [ErrConflict] if others were always faster,
// or with [ErrUnavailable].
func (s *Store) Execute(ctx context.Context, cause domain.Metadata, commands ...domain.Command) (domain.Receipt, error) {
	return s.ExecuteWith(ctx, cause, nil, commands...)
}

// ExecuteWith is Execute with rows that stand or fall with the facts. Without
// commands the rows are carried out alone.
func (s *Store) ExecuteWith(ctx context.Context, cause domain.Metadata, rows []TxStatement, commands ...domain.Command) (domain.Receipt, error) {
	cause = s.complete(ctx, cause)
	for try := range s.tries(commands) {
		receipt, err := s.try(ctx, cause, rows, commands, try)
		if !errors.Is(err, errLost) {
			return receipt, err
		}
	}
	return domain.Receipt{}, ErrConflict
}

// Origin is what the work of a context is done for.
func (s *Store) Origin(ctx context.Context) domain.Origin {
	origin := domain.OriginOf(ctx)
	origin.Cause = cmp.Or(origin.Cause, s.origin)
	return origin
}

// StoredCause is the text of the cause of what a context stands for; nil: it is
// not known.
func (s *Store) StoredCause(ctx context.Context) *string {
	return pointer(s.Origin(ctx).Cause.String())
}

// complete adds what the metadata of a command leaves to its context.
func (s *Store) complete(ctx context.Context, m domain.Metadata) domain.Metadata {
	origin := s.Origin(ctx)
	if m.ID == uuid.Nil {
		m.ID = uuid.New()
	}
	m.Cause = cmp.Or(m.Cause, origin.Cause)
	m.Correlation = cmp.Or(m.Correlation, origin.Correlation, m.ID)
	return m
}

func (s *Store) try(ctx context.Context, cause domain.Metadata, rows []TxStatement, commands []domain.Command, try int) (domain.Receipt, error) {
	if s.takesTurns(try, commands) {
		turn := &s.turns[maphash.String(s.seed, commands[0].Stream().String())%uint64(len(s.turns))]
		turn.Lock()
		defer turn.Unlock()
	}
	d, err := s.decide(ctx, cause, commands, try == 0)
	if d.mayBeStale(err) {
		d, err = s.decide(ctx, cause, commands, false)
	}
	if err != nil || d.repeated {
		return d.receipt(), err
	}
	if err := s.start(ctx, cause, d); err != nil {
		return domain.Receipt{}, err
	}
	a := d.addition(cause, filled(rows, cause))
	if cause.IdempotencyKey != nil {
		a.rows = append(a.rows, s.idempotencyKey(*cause.IdempotencyKey))
	}
	if len(a.facts) == 0 && len(a.rows) == 0 {
		return d.receipt(), nil
	}
	position, err := s.committer.add(ctx, a)
	if err != nil {
		s.recent.forget(d)
		return domain.Receipt{}, err
	}
	s.recent.keep(d, position)
	d.begun()
	receipt := d.receipt()
	receipt.Position = position
	return receipt, nil
}

// takesTurns tells whether a request waits for others of this process that
// concern the same stream: it has lost a race, or writes into a journal, where
// many would lose and break each other's groups.
func (s *Store) takesTurns(try int, commands []domain.Command) bool {
	return len(commands) > 0 && try > 0 || s.isJournal(commands)
}

// queryOf returns the query for what a decision needs of a stream.
func (s *Store) queryOf(stream domain.Stream) string {
	if s.categories[stream.Category].last {
		return lastEvent
	}
	return oneStream
}

func (s *Store) isJournal(commands []domain.Command) bool {
	return len(commands) > 0 && s.categories[commands[0].Stream().Category].last
}

// NextIDs draws numbers for records, one for each name: tenant, user, site,
// vm, plan, widget. A number that is not used is lost, which does no harm.
func (s *Store) NextIDs(ctx context.Context, names ...string) ([]int64, error) {
	ids := make([]int64, 0, len(names))
	rows, _ := s.pool.Query(ctx, `select nextval((name || '_id')::regclass) from unnest($1::text[]) with ordinality as n(name, i) order by i`, names)
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("draw numbers for %v: %w", names, err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("draw numbers for %v: %w", names, Unavailable(err))
	}
	return ids, nil
}
