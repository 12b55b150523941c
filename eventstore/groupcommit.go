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
