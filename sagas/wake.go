package sagas

import (
	"context"
	"sync"
	"time"
)

// Workers poll their queues once a second. Wake-ups shorten that delay: directly in
// this process, and by a hint after the commit in others. A lost wake-up costs time
// only.

// channel carries the hint that a queue has work.
const channel = "saga_due"

// wakes holds the wake-up channels of the queues.
type wakes struct {
	mu     sync.Mutex
	queues map[string]chan struct{}
}

func newWakes() *wakes { return &wakes{queues: map[string]chan struct{}{}} }

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
	if s.FaultAt(Notifying, Run{}) == nil {
		s.store.Hints().Tell(channel, queue)
	}
}

// WakeHere wakes the workers of a queue in this process only.
func (s *core) WakeHere(queue string) { nudge(s.wakes.of(queue)) }

// wakeAfter wakes the queue that has work after a step. Runs that it has released are told by
// release_runs, in each process.
func (s *core) wakeAfter(done Work) {
	if done.Wakes != "" {
		s.Wake(done.Wakes)
	}
}

// Woken is the channel of a queue's wake-ups, which come with each advance of the business
// clock too. One that comes while its receiver works is kept. Each goes to one receiver.
func (s *core) Woken(queue string) <-chan struct{} { return s.wakes.of(queue) }

// wakeOnAdvance wakes all queues of this process when the business clock is
// advanced: more may be due.
func (s *Runner) wakeOnAdvance(ctx context.Context) {
	for advanced := s.store.Clock().Moved(); ; {
		select {
		case <-ctx.Done():
			return
		case <-advanced:
		}
		advanced = s.store.Clock().Moved()
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

// heard wakes the queue that another process names; without a name, every queue.
func (s *core) heard(_ context.Context, queue string) error {
	switch {
	case s.FaultAt(Notifying, Run{}) != nil:
	case queue == "":
		s.wakes.all()
	default:
		nudge(s.wakes.of(queue))
	}
	return nil
}
