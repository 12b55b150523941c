package ispconfig

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/semaphore"

	"hostpanel/domain"
)

// A Turn is what a writer has to itself, or shares with those who only need it
// to stay as it is: "main/mailbox/info@example.com".
type Turn struct {
	Name   string
	Shared bool
}

// Turns serialise writers. The engine checks for an equal row before it
// inserts, not while: equal writes at once make several equal rows.
type Turns interface {
	// Take waits for all turns, in their order, and returns what ends them.
	Take(context.Context, ...Turn) (release func(), err error)
}

// Alone gives turns among the writers of this process.
func Alone() Turns { return &ownTurns{queues: map[string]*queue{}} }

type ownTurns struct {
	mu     sync.Mutex
	queues map[string]*queue
}

type queue struct {
	users int
	room  *semaphore.Weighted
}

const wholeRoom = 1 << 20

func (a *ownTurns) Take(ctx context.Context, turns ...Turn) (func(), error) {
	var taken []func()
	release := func() {
		for i := len(taken) - 1; i >= 0; i-- {
			taken[i]()
		}
	}
	for _, t := range turns {
		one, err := a.take(ctx, t)
		if err != nil {
			release()
			return nil, err
		}
		taken = append(taken, one)
	}
	return release, nil
}

func (a *ownTurns) take(ctx context.Context, t Turn) (func(), error) {
	a.mu.Lock()
	q := a.queues[t.Name]
	if q == nil {
		q = &queue{room: semaphore.NewWeighted(wholeRoom)}
		a.queues[t.Name] = q
	}
	q.users++
	a.mu.Unlock()
	weight := int64(wholeRoom)
	if t.Shared {
		weight = 1
	}
	if err := q.room.Acquire(ctx, weight); err != nil {
		a.leave(t.Name, q)
		return nil, noTurn(err)
	}
	return func() {
		q.room.Release(weight)
		a.leave(t.Name, q)
	}, nil
}

func (a *ownTurns) leave(name string, q *queue) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(a.queues, name)
	}
}

// Together gives turns among the writers of all processes that use the
// database: advisory locks, held by a connection that does nothing else. The
// pool should have room for as many connections as there are calls at a time.
func Together(pool *pgxpool.Pool) Turns { return sharedTurns{pool} }

type sharedTurns struct{ pool *pgxpool.Pool }

func (t sharedTurns) Take(ctx context.Context, turns ...Turn) (func(), error) {
	conn, err := t.pool.Acquire(ctx)
	if err != nil {
		return nil, noTurn(err)
	}
	release := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, `select pg_advisory_unlock_all()`); err != nil {
			_ = conn.Conn().Close(ctx) // which ends them as well
		}
		conn.Release()
	}
	for _, turn := range turns {
		lock := `select pg_advisory_lock(hashtextextended('ispconfig/' || $1, 0))`
		if turn.Shared {
			lock = `select pg_advisory_lock_shared(hashtextextended('ispconfig/' || $1, 0))`
		}
		if _, err := conn.Exec(ctx, lock, turn.Name); err != nil {
			release()
			return nil, noTurn(err)
		}
	}
	return release, nil
}

func noTurn(err error) error {
	return domain.Fail(domain.Transient, "engine_busy", fmt.Errorf("wait for other writers: %w", err))
}
