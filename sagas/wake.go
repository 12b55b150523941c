package sagas

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// Workers poll their queues once a second. Wake-ups shorten that delay: directly in
// this process, and by a NOTIFY after the commit in others. A lost wake-up costs
// time only.

// channel is the Postgres channel of wake-ups.
const channel = "saga_due"

// wakes holds the wake-up channels of the queues, and the queues whose NOTIFY is
// pending.
type wakes struct {
	mu     sync.Mutex
	queues map[string]chan struct{}
	untold map[string]bool
	tell   chan struct{}
}

func newWakes() *wakes {
	return &wakes{queues: map[string]chan struct{}{}, untold: map[string]bool{}, tell: make(chan struct{}, 1)}
}

// of is the wake-up channel of one queue.
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

// all wakes every queue of this process.
func (w *wakes) all() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.queues {
		nudge(c)
	}
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Wake wakes the workers of a queue in all processes.
func (s *core) Wake(queue string) {
	nudge(s.wakes.of(queue))
	s.wakes.mu.Lock()
	s.wakes.untold[queue] = true
	s.wakes.mu.Unlock()
	nudge(s.wakes.tell)
}

// WakeHere wakes the workers of a queue in this process only.
func (s *core) WakeHere(queue string) { nudge(s.wakes.of(queue)) }

// wakeFor wakes the queues that have work after a step of a queue. Released runs wait
// in that queue or in the local one; those of other processes go on by their poll.
func (s *core) wakeFor(queue string, done Work) {
	if done.Wakes != "" {
		s.Wake(done.Wakes)
	}
	if done.Releases != (domain.Stream{}) {
		s.WakeHere(LocalQueue)
		s.WakeHere(queue)
	}
}

// Woken is the channel of a queue's wake-ups. Each value goes to one receiver.
func (s *core) Woken(queue string) <-chan struct{} { return s.wakes.of(queue) }

// Advanced returns a channel that is closed when the business clock is advanced
// next.
func (s *core) Advanced() <-chan struct{} { return s.store.Clock().Moved() }

// wakeOnAdvance wakes all queues of this process when the business clock is
// advanced: more may be due.
func (s *Runner) wakeOnAdvance(ctx context.Context) {
	for advanced := s.Advanced(); ; {
		select {
		case <-ctx.Done():
			return
		case <-advanced:
		}
		advanced = s.Advanced()
		s.wakes.all()
	}
}

// WakeLater wakes the workers of a queue after a delay. Delays beyond the poll
// interval need no wake-up.
func (s *core) WakeLater(queue string, d time.Duration) {
	if d <= s.times.Poll {
		time.AfterFunc(d, func() { nudge(s.wakes.of(queue)) })
	}
}

// tellOthers commits without waiting for the disk, because a NOTIFY does not survive
// a crash.
const tellOthers = `select pg_notify($1, $2) from (select set_config('synchronous_commit', 'off', true)) relaxed`

// A NOTIFY names all its queues. One that would be too long for Postgres names
// none, which means every queue.
const (
	queueSeparator = "\n"
	mostNotified   = 7900
)

func notificationOf(queues []string) string {
	if all := strings.Join(queues, queueSeparator); len(all) <= mostNotified {
		return all
	}
	return ""
}

// notified wakes the queues that another process names.
func (w *wakes) notified(queues string) {
	if queues == "" {
		w.all()
		return
	}
	for queue := range strings.SplitSeq(queues, queueSeparator) {
		nudge(w.of(queue))
	}
}

// notify sends wake-ups to other processes.
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
		if _, err := s.pool.Exec(ctx, tellOthers, channel, notificationOf(queues)); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "other processes were not woken", "error", err)
		}
		Pausing(ctx, eventstore.NotifyPause, nil)
	}
}

// listen receives the wake-ups of other processes.
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
		s.wakes.notified(n.Payload)
	}
}
