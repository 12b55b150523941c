package eventstore

import (
	"context"
	"encoding/json"
	"fmt"

	"hostpanel/domain"
)

// An Arg is an argument of a [TxStatement] that the store fills in.
type Arg int

// The arguments of a row that keeps what it was written for.
const (
	TheCause       Arg = iota // text; null: the request has none
	TheCorrelation            // uuid
)

// AnyRows lets the statement of a [TxStatement] touch as many rows as it likes.
const AnyRows = -1

// A TxStatement is one row beside the log that stands or falls with the facts of its
// request.
type TxStatement struct {
	// Key, such as "saga_run/6f1c…", gives all requests the same order in
	// which they lock rows, so that groups of them do not deadlock.
	Key      string
	SQL      string // one INSERT, UPDATE or DELETE, without RETURNING
	Args     []any
	WantRows int64 // how many rows it must touch
	ErrIfNot error // the answer to the request if it does not; nil: [ErrConflict]
}

// An appendRequest is what one request adds: facts of one or several streams, and
// the rows that belong to them.
type appendRequest struct {
	facts  []RecordedEvent
	before map[domain.Stream][]byte // hash of the last fact of each stream; nil: it is new
	rows   []TxStatement

	keys       map[subjectKey][]byte // that its events are sealed with; nil: destroyed
	drafts     []draft               // of the events, before they are sealed
	events     []row
	statements []Statement
}

// prepare encodes the events of a request and gets the keys of their personal
// texts. A number that only the transaction can give is filled in later.
func (s *Store) prepare(ctx context.Context, a *appendRequest) (err error) {
	a.drafts = make([]draft, len(a.facts))
	for i := range a.facts {
		d := &a.drafts[i]
		if *d, err = s.draft(a.facts[i]); err != nil {
			return err
		}
		for _, k := range d.keys {
			if err := s.subjects.use(ctx, a, k); err != nil {
				return err
			}
		}
		if err := s.blank(d, &a.facts[i], a.keys); err != nil {
			return err
		}
	}
	if a.numbered() {
		return nil
	}
	return s.encode(a)
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
func (s *Store) number(a *appendRequest, draw func(series string) (int64, error)) error {
	for i, r := range a.facts {
		n, ok := r.Event.(domain.Numbered)
		if !ok {
			continue
		}
		number, err := draw(n.Series())
		if err != nil {
			return fmt.Errorf("draw a number: %w", err)
		}
		a.facts[i].Event = n.WithNumber(number)
		if a.drafts[i], err = s.draft(a.facts[i]); err != nil {
			return err
		}
	}
	return s.encode(a)
}

// encode turns the facts into rows of the log, each chained to the one before
// it, and into statements for the read tables.
func (s *Store) encode(a *appendRequest) error {
	a.events, a.statements = make([]row, len(a.facts)), nil
	last := map[domain.Stream][]byte{}
	for stream, hash := range a.before {
		last[stream] = hash
	}
	for i, r := range a.facts {
		e, err := s.row(r, a.drafts[i].seal(r.ID, a.keys))
		if err != nil {
			return err
		}
		e.hash = e.chain(last[r.Stream])
		last[r.Stream] = e.hash
		a.events[i], a.facts[i].Hash = e, e.hash
		if s.projector != nil {
			a.statements = append(a.statements, s.projector.Project(a.facts[i])...)
		}
	}
	return nil
}

func (s *Store) row(r RecordedEvent, data []byte) (row, error) {
	if _, known := s.catalogue[r.Name]; !known {
		return row{}, fmt.Errorf("the event %s is not in the catalogue", r.Name)
	}
	if r.Metadata.Cause.IsZero() {
		return row{}, fmt.Errorf("the event %s of %s has no cause", r.Name, r.Stream)
	}
	m, err := json.Marshal(metaOf(r.Metadata))
	if err != nil {
		return row{}, fmt.Errorf("encode meta of %s: %w", r.Name, err)
	}
	return row{
		stream: r.Stream.String(), version: int32(r.Version), id: r.ID, name: r.Name, schema: int16(s.catalogue.Schema(r.Name)),
		tenant: pointer(r.Tenant), actor: r.Metadata.Actor, correlation: r.Metadata.Correlation, causation: pointer(r.Metadata.Cause.String()),
		saga: r.Metadata.Saga, data: data, meta: m,
	}, nil
}

// Append adds facts to one stream that stands at the given version, without
// asking its decider: for imports and measurements. It answers [ErrConflict]
// if the stream stands elsewhere.
func (s *Store) Append(ctx context.Context, cause domain.Metadata, stream domain.Stream, version int, before []byte, events ...domain.Event) (int64, error) {
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
	return position, err
}
