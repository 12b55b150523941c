// Package model is what the engine ought to do, in memory: the log, the runs, the
// ledger of effects, the queues and the inbox of webhooks. It has no database, no
// concurrency and no clock of its own. The deciders are those of the program; the
// protocol around them is written a second time here (docs/reliability.md, "The oracle").
package model

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// An Event is one entry of the log, as far as it does not depend on chance.
type Event struct {
	Stream      domain.Stream
	Version     int
	ID          uuid.UUID // zero: drawn by chance
	Actor, Saga string
	Correlation uuid.UUID
	Cause       domain.Cause
	At          time.Time
	Event       domain.Event
}

// A Receipt is the answer to a command.
type Receipt struct {
	Position int
	Versions map[domain.Stream]int
}

// A row is a change beside the log: it is checked first, and made with the events.
type row struct {
	holds func() bool
	err   error // if it does not hold
	make  func()
}

// stream is one stream of the log, folded.
type stream struct {
	state  any
	events []int // positions
}

// Execute decides commands, all or none, as the log does.
func (m *Model) Execute(meta domain.Metadata, commands ...domain.Command) (Receipt, error) {
	return m.executeWith(meta, nil, commands...)
}

func (m *Model) executeWith(meta domain.Metadata, rows []row, commands ...domain.Command) (Receipt, error) {
	if meta.Cause == (domain.Cause{}) {
		meta.Cause = m.Origin
	}
	if meta.Correlation == uuid.Nil {
		meta.Correlation = meta.ID
	}
	d := decision{m: m, meta: meta, states: map[domain.Stream]any{}, added: map[domain.Stream]int{}}
	for _, c := range commands {
		if err := d.decide(c); err != nil {
			return Receipt{}, err
		}
	}
	if d.repeated {
		return d.receipt(d.position), nil
	}
	rows = append(rows, d.starts()...)
	for _, r := range rows {
		if r.holds != nil && !r.holds() {
			return Receipt{}, r.err
		}
	}
	if len(d.events) == 0 && len(rows) == 0 {
		return d.receipt(0), nil
	}
	m.write(rows, d)
	return d.receipt(len(m.Events)), nil
}

func (m *Model) write(rows []row, d decision) {
	for _, r := range rows {
		r.make()
	}
	for _, e := range d.events {
		if e.At = m.Business(); len(m.Events) > 0 && m.Events[len(m.Events)-1].At.After(e.At) {
			e.At = m.Events[len(m.Events)-1].At
		}
		m.Events = append(m.Events, e)
		s := m.stream(e.Stream)
		s.events, s.state = append(s.events, len(m.Events)), d.states[e.Stream]
	}
}

func (m *Model) stream(at domain.Stream) *stream {
	if m.streams[at] == nil {
		m.streams[at] = &stream{}
	}
	return m.streams[at]
}

// Version is the number of events of a stream.
func (m *Model) Version(at domain.Stream) int { return len(m.stream(at).events) }

// A decision holds what commands add.
type decision struct {
	m        *Model
	meta     domain.Metadata
	states   map[domain.Stream]any
	order    []domain.Stream
	added    map[domain.Stream]int
	events   []Event
	repeated bool
	position int
}

func (d *decision) receipt(position int) Receipt {
	r := Receipt{Position: position, Versions: map[domain.Stream]int{}}
	for _, at := range d.order {
		r.Versions[at] = d.m.Version(at)
	}
	return r
}

func (d *decision) open(at domain.Stream) {
	if _, seen := d.states[at]; !seen {
		d.states[at] = d.m.stream(at).state
		d.order = append(d.order, at)
	}
}

func (d *decision) decide(c domain.Command) error {
	meta, at := d.meta, c.Stream()
	if sequel, is := c.(domain.Sequel); is {
		c, meta.Cause = sequel.Command, sequel.Cause
	}
	d.open(at)
	for _, n := range d.m.stream(at).events {
		if d.m.Events[n-1].ID == eventID(d.meta.ID, at, 1) {
			d.repeated, d.position = true, max(d.position, n)
			return nil
		}
	}
	if expected, looked := d.meta.ExpectedVersions[at]; looked && expected != d.m.Version(at) {
		return domain.Refuse(domain.Stale, "The resource was changed in the meantime.")
	}
	events, state, err := decideOn(d.states[at], c)
	for _, e := range events {
		d.add(at, meta, e)
	}
	d.states[at] = state
	return err
}

func (d *decision) add(at domain.Stream, meta domain.Metadata, e domain.Event) {
	d.added[at]++
	d.events = append(d.events, Event{
		Stream: at, Version: d.m.Version(at) + d.added[at], ID: eventID(meta.ID, at, d.added[at]),
		Actor: meta.Actor, Saga: meta.Saga, Correlation: meta.Correlation, Cause: meta.Cause, Event: e,
	})
}

// eventID is the id of the n-th event that a request adds to a stream; that of a request
// with an id of chance is unknown.
func eventID(request uuid.UUID, at domain.Stream, n int) uuid.UUID {
	if request == chance {
		return uuid.Nil
	}
	return uuid.NewSHA1(request, binary.BigEndian.AppendUint32([]byte(at.String()), uint32(n)))
}

// chance stands for the id of a request that the program draws itself.
var chance = uuid.MustParse("ffffffff-ffff-4fff-bfff-ffffffffffff")

// decideOn asks the decider of a command's stream.
func decideOn(state any, c domain.Command) ([]domain.Event, any, error) {
	switch c := c.(type) {
	case sagas.Command:
		return decideWith(sagas.Decider, state, c)
	case operations.IncidentCommand:
		return decideWith(operations.Incidents, state, c)
	}
	return nil, nil, fmt.Errorf("no decider for %T", c)
}

func decideWith[S any, C domain.Command, E domain.Event](
	d domain.Decider[S, C, E], was any, c C,
) (events []domain.Event, now any, err error) {
	state, _ := was.(S)
	decided, err := d.Decide(state, c)
	for _, e := range decided {
		state, events = d.Evolve(state, e), append(events, e)
	}
	return events, state, err
}

// starts are the rows of the runs that begin with the events: each report of a lost box
// that names a trip begins that trip.
func (d *decision) starts() (rows []row) {
	for _, e := range d.events {
		begin, begins := trips.Begins(e.Event)
		if !begins || d.m.Version(begin.Stream()) > 0 {
			continue
		}
		d.open(begin.Stream())
		if d.added[begin.Stream()] > 0 {
			continue
		}
		events, state, _ := decideOn(nil, begin)
		meta := d.meta
		meta.Cause = domain.EventCause(e.Stream, e.Version)
		d.add(begin.Stream(), meta, events[0])
		d.states[begin.Stream()] = state
		rows = append(rows, d.m.startRow(state.(sagas.Run), meta.Correlation))
	}
	return rows
}

var errConflict = &domain.Error{Code: domain.Conflict, Message: "Conflict, please retry.", Reason: "conflict"}

// Append adds events at an expected version, without a decision.
func (m *Model) Append(meta domain.Metadata, at domain.Stream, version int, e operations.IncidentEvent) error {
	if version != m.Version(at) {
		return errConflict
	}
	meta.Cause, meta.Correlation = m.Origin, meta.ID
	d := decision{m: m, meta: meta, states: map[domain.Stream]any{}, added: map[domain.Stream]int{}}
	was, _ := m.stream(at).state.(operations.Incident)
	d.states[at] = operations.Incidents.Evolve(was, e)
	d.add(at, meta, e)
	m.write(nil, d)
	return nil
}

// Incident is what an incident amounts to.
func (m *Model) Incident(at domain.Stream) operations.Incident {
	i, _ := m.stream(at).state.(operations.Incident)
	return i
}

// Run is a run, folded from its stream.
func (m *Model) Run(key string) sagas.Run {
	r, _ := m.stream(sagas.StreamOf(key)).state.(sagas.Run)
	return r
}
