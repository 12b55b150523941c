// Package eventstore stores the log of all events in Postgres, and executes
// commands against it. docs/log.md describes how it works and why.
package eventstore

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"log/slog"
	"reflect"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/hints"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/stateform"
)

// A Store is the log. It executes commands, appends their events and reads them.
type Store struct {
	pool           *pgxpool.Pool
	log            *slog.Logger
	clock          *clock.Business
	reader         *Reader
	waker          *waker
	hints          *hints.Hints
	starter        Starter
	idempotencyKey func(domain.IdempotencyKey) TxStatement
	origin         domain.Cause // of commands without one; zero: they are refused
	states         *stateReader
	encoder        *encoder
	committer      *committer
	turns          turns
}

// A Projector updates the read tables in the transaction that appends the events.
type Projector interface {
	// Project returns what one event changes.
	Project(RecordedEvent) []Statement
	// Together joins the statements of all events of a commit, in their order, into
	// fewer ones that do the same.
	Together([]Statement) []Statement
}

// A Statement changes a read table for one event. In its SQL, recorded_at() is the
// time of the event.
type Statement struct {
	SQL  string
	Args []any
	// Taken are the refusals if the statement violates a unique index or a
	// check constraint, by the name of the constraint. Nothing is appended then.
	Taken map[string]error
	Form  any // what the projector joins it by
}

// A Starter returns the runs of sagas that events start. It is called before the
// transaction, and may read.
type Starter interface {
	Starts(ctx context.Context, events []RecordedEvent) ([]Start, error)
}

// A Start starts a run. Its first event and its rows are appended with the event
// that causes it. If the run exists already, the cause is appended alone.
type Start struct {
	Fact    int // index of the event that is the cause
	Command domain.Command
	Rows    []TxStatement
	Begun   func() // called after the commit; may be nil
}

// An Option configures a store.
type Option func(*Store)

// WithProjector sets the projector of the read tables.
func WithProjector(p Projector) Option { return func(s *Store) { s.encoder.projector = p } }

// WithStarter sets the starter of runs.
func WithStarter(st Starter) Option { return func(s *Store) { s.starter = st } }

// WithIdempotencyKeys stores the idempotency key of a request with its events.
func WithIdempotencyKeys(statement func(domain.IdempotencyKey) TxStatement) Option {
	return func(s *Store) { s.idempotencyKey = statement }
}

// WithCause is the cause of commands that have none, in tests and measurements.
// Without it they are refused.
func WithCause(c domain.Cause) Option { return func(s *Store) { s.origin = c } }

// WithSnapshots writes a snapshot of a stream about each so many events; 0: never. The
// default is 200.
func WithSnapshots(every int) Option { return func(s *Store) { s.states.snapshots.every = every } }

// WithLog sets the logger; the default is slog.Default.
func WithLog(log *slog.Logger) Option {
	return func(s *Store) { s.log, s.states.snapshots.log = log, log }
}

// Open gives access to the log in the database behind pool, which [Migrate]
// has prepared.
func Open(pool *pgxpool.Pool, c domain.Catalogue, keys *sealing.Keyring, options ...Option) *Store {
	s := &Store{
		pool: pool, log: slog.Default(), clock: clock.New(pool), waker: newWaker(), turns: turns{seed: maphash.MakeSeed()},
		reader: &Reader{pool: pool, catalogue: c, subjects: &subjectKeys{pool: pool, keys: keys}},
	}
	s.states = newStateReader(s.reader, s.log)
	s.encoder = &encoder{catalogue: c, subjects: s.reader.subjects}
	s.committer = &committer{pool: pool, encoder: s.encoder, grown: s.raise}
	for _, o := range options {
		o(s)
	}
	s.hints = hints.New(pool, s.log)
	s.hints.Hear(channel, s.grown)
	s.hints.Hear(clock.Channel, s.clock.Advanced)
	return s
}

// Attach applies options after Open, for options that need the store themselves.
func (s *Store) Attach(options ...Option) {
	for _, o := range options {
		o(s)
	}
}

// Pool is the database behind the log.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// Reader reads the log.
func (s *Store) Reader() *Reader { return s.reader }

// Hints are those of all channels.
func (s *Store) Hints() *hints.Hints { return s.hints }

// Clock is the business clock, in which events are dated.
func (s *Store) Clock() *clock.Business { return s.clock }

// Keys are the secret keys of the installation.
func (s *Store) Keys() *sealing.Keyring { return s.reader.subjects.keys }

// Subject returns the subject of an e-mail address, and creates one for a new
// address. Subjects are random; a keyed hash of the address leads to them.
func (s *Store) Subject(ctx context.Context, email string) (uuid.UUID, error) {
	return s.reader.subjects.of(ctx, email)
}

// category holds the decider of one category of streams. States are values of the
// decider's own type.
type category struct {
	zero     any
	last     bool   // a journal: only the last event of a stream is read
	personal bool   // states hold personal texts
	fold     string // of snapshots; empty: there are none
	evolve   func(state any, e domain.Event) any
	decide   func(state any, c domain.Command) ([]domain.Event, error)
	decode   func(state []byte) (any, error)
}

// Serve registers the decider of one category of streams. Its long streams have
// snapshots, unless states are personal or JSON does not keep all of them.
func Serve[S any, C domain.Command, E domain.Event](s *Store, name string, d domain.Decider[S, C, E]) {
	var zero S
	fold := ""
	if shape, exact := stateform.Shape(reflect.TypeFor[S]()); exact && !d.Personal {
		fold = fmt.Sprintf("%d:%s", d.Fold, shape)
	}
	s.states.categories[name] = category{
		zero: zero, personal: d.Personal, fold: fold,
		decode: func(state []byte) (any, error) { return stateform.Decode[S](state) },
		evolve: func(state any, e domain.Event) any { return d.Evolve(state.(S), e.(E)) },
		decide: func(state any, c domain.Command) ([]domain.Event, error) {
			decided, err := d.Decide(state.(S), c.(C))
			events := make([]domain.Event, len(decided))
			for i, e := range decided {
				events[i] = e
			}
			return events, err
		},
	}
}

// Journal is [Serve] for streams without a state, such as a user's sign-in
// attempts. Commands are decided on the zero state, and only the last event is
// read. A repeated request is recognised while its events are the last ones.
func Journal[S any, C domain.Command, E domain.Event](s *Store, name string, d domain.Decider[S, C, E]) {
	Serve(s, name, d)
	served := s.states.categories[name]
	served.last, served.fold, served.evolve = true, "", func(state any, _ domain.Event) any { return state }
	s.states.categories[name] = served
}

// Fold reads a stream of a decider that is served, and folds it into its present state
// and version. The caller changes nothing in the state: the next decisions begin with it.
func Fold[S any, C domain.Command, E domain.Event](
	ctx context.Context, s *Store, _ domain.Decider[S, C, E], stream domain.Stream,
) (state S, version int, err error) {
	if _, served := s.states.categories[stream.Category]; !served {
		return state, 0, errNotServed(stream)
	}
	if f, known := s.states.cache.since(stream, sinceOf(ctx)); known {
		return f.state.(S), f.version, nil
	}
	loaded, err := s.states.load(ctx, stream)
	if err != nil {
		return state, 0, err
	}
	s.states.note(stream, loaded[0])
	return loaded[0].state.(S), loaded[0].version, nil
}

// Execute decides commands against their streams' histories and appends the
// events, all or none. It returns the first refusal of a command, [ErrConflict]
// after conflicts in all attempts, or [ErrUnavailable].
func (s *Store) Execute(ctx context.Context, cause domain.Metadata, commands ...domain.Command) (domain.Receipt, error) {
	return s.ExecuteWith(ctx, cause, nil, commands...)
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
	return domain.OrNull(s.Origin(ctx).Cause.String())
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

func (s *Store) try(
	ctx context.Context, cause domain.Metadata, rows []TxStatement, commands []domain.Command, try int,
) (domain.Receipt, error) {
	defer s.turns.take(commands, try > 0 || s.states.isJournal(commands))()
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
	a := d.addition(cause, filled(rows, cause, 0))
	if cause.IdempotencyKey != nil {
		a.rows = append(a.rows, s.idempotencyKey(*cause.IdempotencyKey))
	}
	if len(a.facts) == 0 && len(a.rows) == 0 {
		return d.receipt(), nil
	}
	position, err := s.committer.add(ctx, a)
	if err != nil {
		s.states.cache.forget(d)
		return domain.Receipt{}, err
	}
	s.states.cache.keep(d)
	s.states.snapshots.passed(d.branches)
	d.begun()
	receipt := d.receipt()
	receipt.Position = position
	return receipt, nil
}
