package eventstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
)

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
