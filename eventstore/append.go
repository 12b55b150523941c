package eventstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
)

// A committer appends to the log for the whole process. Waiting requests share
// one transaction and one round trip: rows, writers' lock, events, read tables,
// commit. The lock makes positions contiguous and visible in order
// (docs/log.md, "Writers take turns"). Groups keep that fast.
type committer struct {
	pool    *pgxpool.Pool
	encoder *encoder
	grown   func() // called after each group that has added events

	mu      sync.Mutex
	waiting []*groupMember
	busy    bool
}

// groupLimit is the largest number of requests in one transaction.
const groupLimit = 256

// commitTimeout bounds one transaction. After it the database counts as
// unavailable.
const commitTimeout = 30 * time.Second

// A groupMember is one request that waits for its commit.
type groupMember struct {
	appendRequest
	position int64
	done     chan error
}

// add puts a request into the next group and waits for its commit. It returns the
// position of the last event.
func (c *committer) add(ctx context.Context, a appendRequest) (int64, error) {
	if err := c.encoder.prepare(ctx, &a); err != nil {
		return 0, err
	}
	p := &groupMember{appendRequest: a, done: make(chan error, 1)}
	c.mu.Lock()
	c.waiting = append(c.waiting, p)
	lead := !c.busy
	c.busy = true
	c.mu.Unlock()
	if lead {
		go c.work()
	}
	select {
	case err := <-p.done:
		return p.position, err
	case <-ctx.Done():
		return 0, context.Cause(ctx) // the commit may still happen; a repeated request finds its events
	}
}

// work commits groups until no request waits.
func (c *committer) work() {
	for {
		c.mu.Lock()
		group := c.waiting[:min(len(c.waiting), groupLimit)]
		c.waiting = c.waiting[len(group):]
		if len(group) == 0 {
			c.waiting, c.busy = nil, false
		}
		c.mu.Unlock()
		if len(group) == 0 {
			return
		}
		c.commitGroup(group)
		runtime.Gosched() // answered callers may add requests to the next group
	}
}

// commitGroup commits a group. If a rule refuses the group, it commits the
// members one by one, so that only the offending ones fail. Without an answer the
// group may be in the log, so it is not committed again.
func (c *committer) commitGroup(group []*groupMember) {
	err := c.commit(group)
	if err == nil || len(group) == 1 || errors.Is(err, ErrUnavailable) {
		for _, p := range group {
			p.done <- err
		}
		return
	}
	for _, p := range group {
		p.done <- c.commit([]*groupMember{p})
	}
}

func (c *committer) commit(group []*groupMember) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), commitTimeout)
	defer cancel()
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("append: %w: %w", ErrUnavailable, err)
	}
	defer conn.Release()
	if slices.ContainsFunc(group, func(p *groupMember) bool { return p.numbered() }) {
		err = c.commitNumbered(ctx, conn, group)
	} else {
		// Without a BEGIN the batch is one transaction by itself.
		err = c.send(ctx, conn, group)
	}
	if err != nil {
		for _, p := range group {
			c.encoder.subjects.forget(p.keys) // one of the keys may have been destroyed by an erasure
		}
		return refusal(err, group)
	}
	for _, p := range group {
		c.encoder.subjects.cache(p.made)
	}
	if slices.ContainsFunc(group, func(p *groupMember) bool { return len(p.events) > 0 }) {
		c.grown()
	}
	return nil
}

// insertEvents adds events after the last position. Their time never runs
// backwards, and the read tables use the same time.
const insertEvents = `
with last as (
	select position, recorded_at from events order by position desc limit 1
), head as (
	select coalesce((select position from last), 0) position, greatest(business_clock(), (select recorded_at from last)) recorded_at
), told as (
	select set_config('hostpanel.recorded_at', recorded_at::text, true) from head
), added as (
	insert into events (` + columns + `)
	select head.position + e.nth, e.stream, e.version, e.id, e.name, e.schema, e.tenant, e.actor, e.correlation,
		e.causation, e.saga, e.data::json, e.meta::json, head.recorded_at, e.hash
	from told, head, unnest($1::text[], $2::int[], $3::uuid[], $4::text[], $5::smallint[], $6::bigint[], $7::text[], $8::uuid[],
		$9::text[], $10::text[], $11::text[], $12::text[], $13::bytea[]) with ordinality
		as e(stream, version, id, name, schema, tenant, actor, correlation, causation, saga, data, meta, hash, nth)
)
select position from head`

// send executes the group's batch in one round trip.
func (c *committer) send(ctx context.Context, conn *pgxpool.Conn, group []*groupMember) error {
	b := &pgx.Batch{}
	queueLocks(b, group)
	c.queueEvents(b, group)
	return conn.SendBatch(ctx, b).Close()
}

// sendLocked takes the locks in a round trip of its own. Inside a transaction,
// Postgres locks the tables of a statement when it is prepared. Read tables must
// be locked after the writers' lock, as a rebuild does.
func (c *committer) sendLocked(ctx context.Context, tx pgx.Tx, group []*groupMember) error {
	locks, events := &pgx.Batch{}, &pgx.Batch{}
	queueLocks(locks, group)
	c.queueEvents(events, group)
	if err := tx.SendBatch(ctx, locks).Close(); err != nil {
		return err
	}
	return tx.SendBatch(ctx, events).Close()
}

// queueEvents queues the events and their statements for read tables.
func (c *committer) queueEvents(b *pgx.Batch, group []*groupMember) {
	if events := args(group); events != nil {
		b.Queue(insertEvents, events...).QueryRow(func(r pgx.Row) error {
			var head int64
			if err := r.Scan(&head); err != nil {
				return err
			}
			for _, p := range group {
				head += int64(len(p.events))
				p.position = head
			}
			return nil
		})
	}
	var statements []Statement
	for _, p := range group {
		statements = append(statements, p.statements...)
	}
	if len(statements) > 0 {
		statements = c.encoder.projector.Together(statements)
	}
	for _, s := range statements {
		b.Queue(s.SQL, s.Args...)
	}
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
