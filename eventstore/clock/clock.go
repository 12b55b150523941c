// Package clock holds the two clocks of the panel. The business clock decides
// due dates, periods, grace, retries and the time of an event. The real clock
// decides leases, sessions, signatures, rate limits and time-outs.
// docs/clocks.md lists which clock decides what.
package clock

import (
	"context"
	"embed"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// Migrations create the functions of both clocks in the database.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// Now is the real time.
func Now() time.Time { return time.Now() }

// Since is the real time that has passed since t.
func Since(t time.Time) time.Duration { return time.Since(t) }

// Until is the real time that remains until t.
func Until(t time.Time) time.Duration { return time.Until(t) }

// Or is now, or the real clock if that is nil.
func Or(now func() time.Time) func() time.Time {
	if now == nil {
		return Now
	}
	return now
}

// Business is the business clock of one process: the real clock plus an offset,
// which is 0 in production. The offset stands in the database and only grows.
type Business struct {
	pool *pgxpool.Pool

	mu    sync.Mutex
	ahead time.Duration
	moved chan struct{} // closed when the offset grows next
}

// New returns the business clock of the database behind pool. Its offset is 0
// until [Business.Load], [Business.Advanced] or [Business.Advance] finds another.
func New(pool *pgxpool.Pool) *Business {
	return &Business{pool: pool, moved: make(chan struct{})}
}

// Now is the business time.
func (b *Business) Now() time.Time { return Now().Add(b.Ahead()) }

// Since is the business time that has passed since t.
func (b *Business) Since(t time.Time) time.Duration { return b.Now().Sub(t) }

// Ahead is how far the business clock is ahead of the real clock.
func (b *Business) Ahead() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ahead
}

// Moved returns a channel that is closed when the clock is advanced next. A
// process that sleeps until a business time waits for this channel too.
func (b *Business) Moved() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.moved
}

// Learn takes over an offset from the database. A smaller one is old news.
func (b *Business) Learn(ahead time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ahead > b.ahead {
		b.ahead = ahead
		close(b.moved)
		b.moved = make(chan struct{})
	}
}

// Load reads the offset once.
func (b *Business) Load(ctx context.Context) error {
	ahead, _, err := offset(ctx, b.pool)
	if err == nil {
		b.Learn(ahead)
	}
	return err
}

// Pausing waits for d, for a wake-up, or for the end of ctx.
func Pausing(ctx context.Context, d time.Duration, woken <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-woken:
	case <-ctx.Done():
	}
}
