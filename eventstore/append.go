package eventstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// An Arg is an argument of a [TxStatement] that the store fills in.
type Arg int

// The arguments of a row that keeps what it was written for.
const (
	TheCause       Arg = iota // text; null: the request has none
	TheCorrelation            // uuid
	TheSubjects               // uuid[]: of the personal texts in the request's events
)

// AnyRows lets the statement of a [TxStatement] touch any number of rows.
const AnyRows = -1

// A TxStatement changes rows beside the log, in the transaction that appends the
// events of its request.
type TxStatement struct {
	// Key, such as "saga_run/6f1c…", gives all requests the same order in
	// which they lock rows, so that groups of them do not deadlock.
	Key  string
	SQL  string // one INSERT, UPDATE or DELETE, without RETURNING; with [AnyRows] also the SELECT of a function
	Args []any
	// Columns, such as "id uuid, step int", lets one statement do the work of all of
	// its kind in a group: the arguments are a row of arg, and SQL reads that. With
	// [AnyRows], equal rows of one key are one.
	Columns  string
	WantRows int64 // number of rows that it must touch
	ErrIfNot error // the error if it touches another number; nil: [ErrConflict]
}

// An encoder turns events into rows of the log and statements for the read tables.
type encoder struct {
	catalogue domain.Catalogue
	subjects  *subjectKeys
	projector Projector // may be nil
}

// An appendRequest holds what one request adds: events of one or several streams,
// and the statements of the same transaction.
type appendRequest struct {
	facts  []RecordedEvent
	before map[domain.Stream][]byte // hash of the last event of each stream; nil: a new stream
	rows   []TxStatement

	keys       map[subjectKey][]byte // keys that seal the personal texts; nil: destroyed
	made       map[subjectKey][]byte // those of them that the request inserts
	drafts     []draft               // the events before sealing
	events     []row
	statements []Statement
}

// prepare encodes the events of a request and gets the keys of their personal
// texts. Numbers drawn in the transaction are filled in later.
func (n *encoder) prepare(ctx context.Context, a *appendRequest) (err error) {
	a.drafts = make([]draft, len(a.facts))
	for i := range a.facts {
		d := &a.drafts[i]
		if *d, err = n.draft(a.facts[i]); err != nil {
			return err
		}
		for _, k := range d.keys {
			if err := n.subjects.use(ctx, a, k); err != nil {
				return err
			}
		}
		if err := n.blank(d, &a.facts[i], a.keys); err != nil {
			return err
		}
	}
	a.nameSubjects()
	if a.numbered() {
		return nil
	}
	return n.encode(a)
}

// nameSubjects fills in [TheSubjects].
func (a *appendRequest) nameSubjects() {
	subjects := []uuid.UUID{}
	for k := range a.keys {
		subjects = append(subjects, k.subject)
	}
	for i, r := range a.rows {
		if at := slices.Index(r.Args, any(TheSubjects)); at >= 0 {
			a.rows[i].Args = slices.Clone(r.Args)
			a.rows[i].Args[at] = subjects
		}
	}
}

func (a *appendRequest) numbered() bool {
	for _, r := range a.facts {
		if _, ok := r.Event.(domain.Numbered); ok {
			return true
		}
	}
	return false
}

// number gives each numbered event its number.
func (n *encoder) number(a *appendRequest, draw func(series string) (int64, error)) error {
	for i, r := range a.facts {
		numbered, ok := r.Event.(domain.Numbered)
		if !ok {
			continue
		}
		number, err := draw(numbered.Series())
		if err != nil {
			return fmt.Errorf("draw a number: %w", err)
		}
		a.facts[i].Event = numbered.WithNumber(number)
		if a.drafts[i], err = n.draft(a.facts[i]); err != nil {
			return err
		}
	}
	return n.encode(a)
}

// encode turns the events into rows of the log, each chained by hash to the one
// before, and into statements for the read tables.
func (n *encoder) encode(a *appendRequest) error {
	a.events, a.statements = make([]row, len(a.facts)), nil
	last := map[domain.Stream][]byte{}
	for stream, hash := range a.before {
		last[stream] = hash
	}
	for i, r := range a.facts {
		e, err := n.row(r, a.drafts[i].seal(r.ID, a.keys))
		if err != nil {
			return err
		}
		e.hash = e.chain(last[r.Stream])
		last[r.Stream] = e.hash
		a.events[i], a.facts[i].Hash = e, e.hash
		if n.projector != nil {
			a.statements = append(a.statements, n.projector.Project(a.facts[i])...)
		}
	}
	return nil
}

func (n *encoder) row(r RecordedEvent, data []byte) (row, error) {
	if _, known := n.catalogue[r.Name]; !known {
		return row{}, fmt.Errorf("the event %s is not in the catalogue", r.Name)
	}
	if _, err := domain.ParseCause(r.Metadata.Cause.String()); err != nil { // which a reader could not read either
		return row{}, fmt.Errorf("the event %s of %s has no cause: %w", r.Name, r.Stream, err)
	}
	m, err := json.Marshal(metaOf(r.Metadata))
	if err != nil {
		return row{}, fmt.Errorf("encode meta of %s: %w", r.Name, err)
	}
	return row{
		stream: r.Stream.String(), version: int32(r.Version), id: r.ID, name: r.Name, schema: int16(n.catalogue.Schema(r.Name)),
		tenant: domain.OrNull(r.Tenant), actor: r.Metadata.Actor, correlation: r.Metadata.Correlation,
		causation: domain.OrNull(r.Metadata.Cause.String()),
		saga:      r.Metadata.Saga, data: data, meta: m,
	}, nil
}

// Append adds events to one stream at the expected version without its decider,
// for imports and benchmarks. It returns [ErrConflict] if the stream has another
// version.
func (s *Store) Append(
	ctx context.Context, cause domain.Metadata, stream domain.Stream, version int, before []byte,
	events ...domain.Event,
) (int64, error) {
	cause = s.complete(ctx, cause)
	b := streamState{stream: stream, version: version, category: category{evolve: func(state any, _ domain.Event) any { return state }}}
	a := appendRequest{before: map[domain.Stream][]byte{stream: before}}
	for _, e := range events {
		a.facts = append(a.facts, b.add(cause, e))
		cause.Traceparent = ""
	}
	position, err := s.committer.add(ctx, a)
	if err == errLost { //nolint:errorlint // the committer answers with the error itself
		err = ErrConflict
	}
	if err == nil {
		s.states.snapshots.passed([]*streamState{&b})
	}
	return position, err
}
