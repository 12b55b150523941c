package eventstore

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// A decision holds the events that commands add to the log.
type decision struct {
	branches []*streamState // in the order of the commands
	facts    []RecordedEvent
	rows     []TxStatement
	memory   bool // streams may come from the cache
	began    time.Time
	starts   []Start
	repeated bool // the request has been carried out before
	position int64
}

// A streamState is one stream with the events that a decision adds to it.
type streamState struct {
	stream   domain.Stream
	category category
	before   foldedState // as it is in the log
	state    any
	version  int
	added    int
	recalled bool // not read: it may lack events
}

// decide reads the streams of the commands. Each command decides on the state
// after the earlier commands. With memory, recently used streams come from the cache,
// and a stream that a command begins counts as empty.
func (s *Store) decide(ctx context.Context, cause domain.Metadata, commands []domain.Command, memory bool) (*decision, error) {
	d := &decision{memory: memory, began: clock.Now()}
	if err := s.states.branches(ctx, d, commands); err != nil {
		return d, err
	}
	for _, c := range commands {
		c, cause := plain(c, cause)
		b, err := s.states.branch(ctx, d, c)
		if err != nil {
			return d, err
		}
		position, repeated, err := s.states.repeats(ctx, b, cause.ID)
		if err != nil {
			return d, err
		}
		if repeated {
			d.repeated, d.position = true, max(d.position, position)
			continue
		}
		if b.changedSince(cause.ExpectedVersions) {
			return d, errStale
		}
		facts, err := b.category.decide(b.state, c)
		if err != nil {
			return d, err
		}
		for _, e := range facts {
			if len(d.facts) > 0 {
				cause.Traceparent = "" // it stands with the first one
			}
			d.facts = append(d.facts, b.add(cause, e))
		}
	}
	return d, nil
}

// plain is a command with its metadata, which a sequel has of its own.
func plain(c domain.Command, m domain.Metadata) (domain.Command, domain.Metadata) {
	if sequel, is := c.(domain.Sequel); is {
		m.Cause = sequel.Cause
		return sequel.Command, m
	}
	return c, m
}

// branches reads all streams of the commands in one round trip.
func (r *stateReader) branches(ctx context.Context, d *decision, commands []domain.Command) error {
	var streams []domain.Stream
	for _, c := range commands {
		c, _ := plain(c, domain.Metadata{})
		_, served := r.categories[c.Stream().Category]
		if !served || slices.Contains(streams, c.Stream()) || d.of(c.Stream()) != nil || d.recall(r, c) {
			continue
		}
		streams = append(streams, c.Stream())
	}
	if len(streams) < 2 {
		return nil
	}
	return r.loadInto(ctx, d, streams...)
}

// loadInto reads streams for a decision.
func (r *stateReader) loadInto(ctx context.Context, d *decision, streams ...domain.Stream) error {
	loaded, err := r.load(ctx, streams...)
	for i, f := range loaded {
		r.note(streams[i], f)
		d.branches = append(d.branches, newBranch(streams[i], r.categories[streams[i].Category], f))
	}
	return err
}

// branch returns the stream of a command with the events that the decision has added
// so far.
func (r *stateReader) branch(ctx context.Context, d *decision, c domain.Command) (*streamState, error) {
	stream := c.Stream()
	if b := d.of(stream); b != nil {
		return b, nil
	}
	if _, ok := r.categories[stream.Category]; !ok {
		return nil, errNotServed(stream)
	}
	if d.recall(r, c) {
		return d.of(stream), nil
	}
	if err := r.loadInto(ctx, d, stream); err != nil {
		return nil, err
	}
	return d.of(stream), nil
}

func errNotServed(stream domain.Stream) error {
	return fmt.Errorf("nothing serves the streams of %s", stream.Category)
}

// of returns the state of a stream that the decision has read.
func (d *decision) of(stream domain.Stream) *streamState {
	for _, b := range d.branches {
		if b.stream == stream {
			return b
		}
	}
	return nil
}

// recall takes the stream of a command from the cache, if present, and takes one that
// begins for empty.
func (d *decision) recall(r *stateReader, c domain.Command) bool {
	if !d.memory {
		return false
	}
	stream := c.Stream()
	served := r.categories[stream.Category]
	found, cached := r.cache.get(stream)
	if _, begins := c.(domain.Beginning); !cached && !begins {
		return false
	}
	if !cached {
		found = &cachedState{foldedState: foldedState{state: served.zero, asOf: d.began}}
	}
	b := newBranch(stream, served, found.foldedState)
	b.recalled = true
	d.branches = append(d.branches, b)
	return true
}

// mayBeStale tells whether the decision used a stream that was not read and that no
// append checks: the decision was refused, repeats another, or adds nothing to it.
func (d *decision) mayBeStale(err error) bool {
	return slices.ContainsFunc(d.branches, func(b *streamState) bool { return b.recalled && (err != nil || d.repeated || b.added == 0) })
}

func newBranch(stream domain.Stream, served category, f foldedState) *streamState {
	return &streamState{stream: stream, category: served, before: f, state: f.state, version: f.version}
}

// add appends an event to the stream.
func (b *streamState) add(cause domain.Metadata, e domain.Event) RecordedEvent {
	b.state = b.category.evolve(b.state, e)
	b.version++
	b.added++
	r := RecordedEvent{
		Stream: b.stream, Version: b.version, ID: eventID(cause.ID, b.stream, b.added), Metadata: cause, Name: e.EventName(), Event: e,
	}
	if owned, ok := b.state.(domain.Owned); ok {
		r.Tenant = owned.TenantID()
	}
	return r
}

// changedSince tells whether the stream has newer events than the caller expects.
func (b *streamState) changedSince(seen domain.Versions) bool {
	version, looked := seen[b.stream]
	return looked && version != b.before.version
}

var errStale = domain.Refuse(domain.Stale, "The resource was changed in the meantime.")

// start adds the first events of the runs that the decision's events start.
func (s *Store) start(ctx context.Context, cause domain.Metadata, d *decision) error {
	if s.starter == nil || len(d.facts) == 0 {
		return nil
	}
	starts, err := s.starter.Starts(ctx, d.facts)
	if err != nil {
		return fmt.Errorf("start runs: %w", err)
	}
	if err := s.states.branches(ctx, d, commandsOf(starts)); err != nil {
		return err
	}
	for _, start := range starts {
		b, err := s.states.branch(ctx, d, start.Command)
		if err != nil {
			return err
		}
		if b.version > 0 {
			continue // a run starts once only
		}
		first, err := b.category.decide(b.state, start.Command)
		if err != nil {
			return err
		}
		cause := cause
		fact := d.facts[start.Fact]
		cause.Cause, cause.IdempotencyKey, cause.Traceparent = fact.Cause(), nil, ""
		for _, e := range first {
			d.facts = append(d.facts, b.add(cause, e))
		}
		d.rows, d.starts = append(d.rows, filled(start.mayLose(), cause, fact.Tenant)...), append(d.starts, start)
	}
	return nil
}

// mayLose returns the rows of a start. A conflict means that another request has
// started the run, and has written to the same stream: the request is decided anew.
func (s Start) mayLose() []TxStatement {
	rows := slices.Clone(s.Rows)
	for i := range rows {
		if rows[i].ErrIfNot == nil {
			rows[i].ErrIfNot = errLost
		}
	}
	return rows
}

// filled are rows with the arguments that the store knows.
func filled(rows []TxStatement, m domain.Metadata, tenant int64) []TxStatement {
	known := [...]any{
		TheCause: domain.OrNull(m.Cause.String()), TheCorrelation: m.Correlation, TheSubjects: TheSubjects, TheTenant: tenant,
	}
	all := slices.Clone(rows)
	for i, row := range rows {
		all[i].Args = slices.Clone(row.Args)
		for n, arg := range row.Args {
			if which, is := arg.(Arg); is {
				all[i].Args[n] = known[which]
			}
		}
	}
	return all
}

func commandsOf(starts []Start) []domain.Command {
	commands := make([]domain.Command, len(starts))
	for i, start := range starts {
		commands[i] = start.Command
	}
	return commands
}

// begun notifies the workers of the runs that have been started.
func (d *decision) begun() {
	for _, start := range d.starts {
		if start.Begun != nil {
			start.Begun()
		}
	}
}

func (d *decision) addition(cause domain.Metadata, rows []TxStatement) appendRequest {
	a := appendRequest{facts: d.facts, rows: slices.Concat(rows, d.rows), before: map[domain.Stream][]byte{}}
	for _, b := range d.branches {
		a.before[b.stream] = b.before.hash
	}
	return a
}

func (d *decision) receipt() domain.Receipt {
	r := domain.Receipt{Position: d.position, Versions: map[domain.Stream]int{}}
	for _, b := range d.branches {
		r.Versions[b.stream] = b.version
	}
	return r
}
