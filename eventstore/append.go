package eventstore

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// AnyRows lets the statement of a [Row] touch as many rows as it likes.
const AnyRows = -1

// A Row is one row beside the log that stands or falls with the facts of its
// request.
type Row struct {
	// Key, such as "saga_run/6f1c…", gives all requests the same order in
	// which they lock rows, so that groups of them do not deadlock.
	Key     string
	SQL     string // one INSERT, UPDATE or DELETE, without RETURNING
	Args    []any
	Touches int64 // how many rows it must touch
	Else    error // the answer to the request if it does not; nil: [ErrConflict]
}

// An addition is what one request adds: facts of one or several streams, and
// the rows that belong to them.
type addition struct {
	facts  []Recorded
	before map[domain.Stream][]byte // hash of the last fact of each stream; nil: it is new
	rows   []Row

	keys       map[subjectKey][]byte // that its facts are sealed with
	sealed     []domain.Event        // the facts as they are written
	events     []row
	statements []Statement
}

// prepare makes an addition ready to be sent. What depends on a number that
// only the transaction can give waits for it.
func (s *Store) prepare(ctx context.Context, a *addition) error {
	a.sealed = make([]domain.Event, len(a.facts))
	for i := range a.facts {
		var err error
		if a.sealed[i], err = s.seal(ctx, a, &a.facts[i]); err != nil {
			return err
		}
	}
	if a.numbered() {
		return nil
	}
	return s.encode(a)
}

func (a *addition) numbered() bool {
	for _, r := range a.facts {
		if _, ok := r.Event.(domain.Numbered); ok {
			return true
		}
	}
	return false
}

// number gives each numbered fact its number.
func (a *addition) number(draw func(series string) (int64, error)) error {
	for i, r := range a.facts {
		n, ok := r.Event.(domain.Numbered)
		if !ok {
			continue
		}
		number, err := draw(n.Series())
		if err != nil {
			return err
		}
		a.facts[i].Event = n.WithNumber(number)
		a.sealed[i] = a.sealed[i].(domain.Numbered).WithNumber(number)
	}
	return nil
}

// encode turns the facts into rows of the log, each chained to the one before
// it, and into statements for the read tables.
func (s *Store) encode(a *addition) error {
	a.events, a.statements = make([]row, len(a.facts)), nil
	last := map[domain.Stream][]byte{}
	for stream, hash := range a.before {
		last[stream] = hash
	}
	for i, r := range a.facts {
		e, err := s.row(r, a.sealed[i])
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

func (s *Store) row(r Recorded, sealed domain.Event) (row, error) {
	if _, known := s.catalogue[r.Name]; !known {
		return row{}, fmt.Errorf("the event %s is not in the catalogue", r.Name)
	}
	data, err := json.Marshal(sealed)
	if err != nil {
		return row{}, fmt.Errorf("encode %s: %w", r.Name, err)
	}
	m, err := json.Marshal(meta{Request: r.Cause.Request})
	if err != nil {
		return row{}, fmt.Errorf("encode meta of %s: %w", r.Name, err)
	}
	return row{
		stream: r.Stream.String(), version: int32(r.Version), id: r.ID, name: r.Name, schema: int16(s.catalogue.Schema(r.Name)),
		tenant: pointer(r.Tenant), actor: r.Cause.Actor, correlation: r.Cause.Correlation, causation: pointer(r.Cause.Causation),
		saga: r.Cause.Saga, data: data, meta: m,
	}, nil
}

// Append adds facts to one stream that stands at the given version, without
// asking its decider: for imports and measurements. It answers [ErrConflict]
// if the stream stands elsewhere.
func (s *Store) Append(ctx context.Context, cause domain.Cause, stream domain.Stream, version int, before []byte, events ...domain.Event) (int64, error) {
	if cause.ID == uuid.Nil {
		cause.ID = uuid.New()
	}
	b := branch{stream: stream, version: version, category: category{evolve: func(state any, _ domain.Event) any { return state }}}
	a := addition{before: map[domain.Stream][]byte{stream: before}}
	for _, e := range events {
		a.facts = append(a.facts, b.add(cause, e))
	}
	position, err := s.committer.add(ctx, a)
	if err == errLost { //nolint:errorlint // the committer answers with the error itself
		err = ErrConflict
	}
	return position, err
}
