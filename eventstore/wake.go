package eventstore

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// channel is where processes tell each other that the log has grown.
const channel = "hostpanel_log"

// NotifyPause is the shortest time between two NOTIFYs of one process on one
// channel. Each NOTIFY is a commit of its own, and serializes commits. A process
// has two busy channels, this and that of the queues: 100 a second in all (rule
// N-13).
const NotifyPause = 20 * time.Millisecond

// A waker wakes those who wait for the log to grow, in all processes.
type waker struct {
	pool     *pgxpool.Pool
	identity string // of this process, among those that share the log
	log      *slog.Logger

	mu      sync.Mutex
	closing chan struct{}
	raised  chan struct{} // has room for one: tell the other processes
}

func newWaker(pool *pgxpool.Pool) *waker {
	return &waker{pool: pool, identity: uuid.NewString(), log: slog.Default(), closing: make(chan struct{}), raised: make(chan struct{}, 1)}
}

// Changed returns a channel that is closed when the log grows next. It is a
// hint: those who wait for it also look once a second.
func (w *waker) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

// raise wakes this process, and lets the others be told.
func (w *waker) raise() {
	w.wake()
	select {
	case w.raised <- struct{}{}:
	default:
	}
}

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.closing)
	w.closing = make(chan struct{})
}

// follow tells other processes of appends made here, and wakes this one for
// theirs, until ctx ends.
func (w *waker) follow(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { w.tell(ctx) })
	wg.Go(func() { w.listen(ctx) })
	wg.Wait()
}

// tellOthers does not wait for the disk: what it says is lost in a crash anyway.
const tellOthers = `select pg_notify($1, $2) from (select set_config('synchronous_commit', 'off', true)) relaxed`

func (w *waker) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.raised:
		}
		if _, err := w.pool.Exec(ctx, tellOthers, channel, w.identity); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "cannot tell other processes of the log's growth", "err", err)
		}
		sleep(ctx, NotifyPause)
	}
}

// listen keeps one connection open for the news of other processes.
func (w *waker) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.listenOnce(ctx); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "not listening for the log's growth, polling goes on", "err", err)
			sleep(ctx, time.Second)
		}
	}
}

func (w *waker) listenOnce(ctx context.Context) error {
	pooled, err := w.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack() // a connection that listens does not go back to the pool
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(closing)
	}()
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	for {
		news, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if news.Payload != w.identity {
			w.wake()
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// awaitChange waits for new events, or for the next poll: a notification may get lost.
func awaitChange(ctx context.Context, changed <-chan struct{}, poll time.Duration) {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}
