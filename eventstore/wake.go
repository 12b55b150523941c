package eventstore

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// channel is where processes tell each other that the log has grown, and what else
// there is to look at.
const channel = "hostpanel_log"

// NotifyPause is the shortest time between two NOTIFYs of one process. Each NOTIFY
// is a commit of its own, and serializes commits: 50 a second (rule N-13).
const NotifyPause = 20 * time.Millisecond

// notifyGather is how long a NOTIFY waits for what belongs to the same work.
const notifyGather = time.Millisecond

// A NOTIFY has a line with the identity of its process, and a line for each name. One
// that would be too long for Postgres has the line [everything] instead.
const (
	everything   = "*"
	mostNotified = 7900 // bytes
)

// A waker wakes those who wait for the log to grow, in all processes. It also passes
// names from one process to the others.
type waker struct {
	pool     *pgxpool.Pool
	identity string // of this process, among those that share the log
	log      *slog.Logger

	mu      sync.Mutex
	closing chan struct{}
	untold  map[string]bool
	heard   []func(name string)
	raised  chan struct{} // has room for one: tell the other processes
}

func newWaker(pool *pgxpool.Pool) *waker {
	return &waker{pool: pool, identity: uuid.NewString(), log: slog.Default(), closing: make(chan struct{}), untold: map[string]bool{}, raised: make(chan struct{}, 1)}
}

// Changed returns a channel that is closed when the log grows next. It is a
// hint: those who wait for it also look once a second.
func (w *waker) Changed() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

// TellOthers passes a name to all other processes that follow the log. It is a hint,
// which may get lost.
func (w *waker) TellOthers(name string) {
	w.mu.Lock()
	w.untold[name] = true
	w.mu.Unlock()
	w.tellSoon()
}

// OnTold calls do for each name that another process tells. The name is "" if there
// were too many.
func (w *waker) OnTold(do func(name string)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = append(w.heard, do)
}

// raise wakes this process, and lets the others be told.
func (w *waker) raise() {
	w.wake()
	w.tellSoon()
}

func (w *waker) tellSoon() {
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
		sleep(ctx, notifyGather)
		if _, err := w.pool.Exec(ctx, tellOthers, channel, w.notification()); err != nil && ctx.Err() == nil {
			w.log.WarnContext(ctx, "cannot tell other processes of the log's growth", "err", err)
		}
		sleep(ctx, NotifyPause)
	}
}

// notification is the text of the next NOTIFY.
func (w *waker) notification() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := append([]string{w.identity}, slices.Sorted(maps.Keys(w.untold))...)
	clear(w.untold)
	if text := strings.Join(lines, "\n"); len(text) <= mostNotified {
		return text
	}
	return w.identity + "\n" + everything
}

// hear wakes this process for a NOTIFY of another.
func (w *waker) hear(text string) {
	lines := strings.Split(text, "\n")
	if lines[0] == w.identity {
		return
	}
	w.wake()
	w.mu.Lock()
	heard := slices.Clone(w.heard)
	w.mu.Unlock()
	for _, name := range lines[1:] {
		if name == everything {
			name = ""
		}
		for _, do := range heard {
			do(name)
		}
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
		w.hear(news.Payload)
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
