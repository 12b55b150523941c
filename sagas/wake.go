package sagas

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Work is looked for once a second anyway. Who makes some says so: in this
// process at once, to others by a NOTIFY after the commit, so that nobody has
// to wait that long. Lost wake-ups cost time, nothing else.

// channel is where processes tell each other which queue has work.
const channel = "saga_due"

// wakes holds who waits for which queue, and which queues others have yet to
// hear of.
type wakes struct {
	mu     sync.Mutex
	queues map[string]chan struct{}
	untold map[string]bool
	tell   chan struct{}
}

func newWakes() *wakes {
	return &wakes{queues: map[string]chan struct{}{}, untold: map[string]bool{}, tell: make(chan struct{}, 1)}
}

// of is the channel on which one queue is woken.
func (w *wakes) of(queue string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.queues[queue]
	if !ok {
		c = make(chan struct{}, 1)
		w.queues[queue] = c
	}
	return c
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Wake tells everybody that a queue has work.
func (s *Runner) Wake(queue string) {
	nudge(s.wakes.of(queue))
	s.wakes.mu.Lock()
	s.wakes.untold[queue] = true
	s.wakes.mu.Unlock()
	nudge(s.wakes.tell)
}

// WakeHere tells this process alone that a queue has work.
func (s *Runner) WakeHere(queue string) { nudge(s.wakes.of(queue)) }

// Woken is where one receiver at a time learns that a queue has work.
func (s *Runner) Woken(queue string) <-chan struct{} { return s.wakes.of(queue) }

// WakeLater looks at a queue again when work in it comes due. Beyond the poll
// there is no need to.
func (s *Runner) WakeLater(queue string, d time.Duration) {
	if d <= s.times.Poll {
		time.AfterFunc(d, func() { nudge(s.wakes.of(queue)) })
	}
}

// notifyPause is the least time between two messages of one process: a NOTIFY
// makes commits wait for each other.
const notifyPause = 10 * time.Millisecond

// tellOthers does not wait for the disk: what it says is lost in a crash anyway.
const tellOthers = `
select pg_notify($1, q) from (select set_config('synchronous_commit', 'off', true)) relaxed, unnest($2::text[]) q`

// notify passes wake-ups on to other processes.
func (s *Runner) notify(ctx context.Context) {
	for ctx.Err() == nil {
		Pausing(ctx, time.Minute, s.wakes.tell)
		s.wakes.mu.Lock()
		queues := make([]string, 0, len(s.wakes.untold))
		for q := range s.wakes.untold {
			queues = append(queues, q)
		}
		clear(s.wakes.untold)
		s.wakes.mu.Unlock()
		if len(queues) == 0 || s.FaultAt(Notifying, Run{}) != nil {
			continue
		}
		if _, err := s.pool.Exec(ctx, tellOthers, channel, queues); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "other processes were not woken", "error", err)
		}
		Pausing(ctx, notifyPause, nil)
	}
}

// listen passes the wake-ups of other processes on to ours.
func (s *Runner) listen(ctx context.Context) {
	for ctx.Err() == nil && s.FaultAt(Notifying, Run{}) == nil {
		if err := s.forwardNotifications(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "wake-ups are not heard; polling goes on", "error", err)
		}
		Pausing(ctx, Jittered(s.times.Poll), nil)
	}
}

func (s *Runner) forwardNotifications(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, "listen "+channel); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		nudge(s.wakes.of(n.Payload))
	}
}
