package sagas

import (
	"context"
	"sync"
	"time"

	"hostpanel/eventstore"
)

// Workers poll their queues once a second. Wake-ups shorten that delay: directly in
// this process, and by a hint after the commit in others. A lost wake-up costs time
// only.

// channel carries the hint that a queue has work.
const channel = "saga_due"

// wakes holds the wake-up channels of the queues.
type wakes struct {
	store *eventstore.Store
	poll  time.Duration
	fault faults

	mu     sync.Mutex
	queues map[string]chan struct{}
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
func (w *wakes) Wake(queue string) {
	nudge(w.of(queue))
	if w.fault.at(Notifying, Run{}) == nil {
		w.store.Hints().Tell(channel, queue)
	}
}

// WakeHere wakes the workers of a queue in this process only.
func (w *wakes) WakeHere(queue string) { nudge(w.of(queue)) }

// after wakes the queue that has work after a step. Runs that it has released are told by
// release_runs, in each process.
func (w *wakes) after(done Work) {
	if done.Wakes != "" {
		w.Wake(done.Wakes)
	}
}

// Woken is the channel of a queue's wake-ups, which come with each advance of the business
// clock too. One that comes while its receiver works is kept. Each goes to one receiver.
func (w *wakes) Woken(queue string) <-chan struct{} { return w.of(queue) }

// onAdvance wakes all queues of this process when the business clock is
// advanced: more may be due.
func (w *wakes) onAdvance(ctx context.Context) {
	for advanced := w.store.Clock().Moved(); ; {
		select {
		case <-ctx.Done():
			return
		case <-advanced:
		}
		advanced = w.store.Clock().Moved()
		w.all()
	}
}

// WakeLater wakes the workers of a queue after a delay. Delays beyond the poll
// interval need no wake-up.
func (w *wakes) WakeLater(queue string, d time.Duration) {
	if d <= w.poll {
		time.AfterFunc(d, func() { nudge(w.of(queue)) })
	}
}

// heard wakes the queue that another process names; without a name, every queue.
func (w *wakes) heard(_ context.Context, queue string) error {
	switch {
	case w.fault.at(Notifying, Run{}) != nil:
	case queue == "":
		w.all()
	default:
		nudge(w.of(queue))
	}
	return nil
}
