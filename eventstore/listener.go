package eventstore

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
)

// ErrSlow ends a listener with too many waiting events. The client may listen
// again from the last position that it has taken.
var ErrSlow = errors.New("the listener was too slow")

// A Listener gets the events of some topics. It belongs to one goroutine.
type Listener struct {
	tail   *Feed
	topics []domain.Stream
	ready  chan struct{} // capacity one
	from   int64         // events up to here are not sent
	live   int64         // from here on events are sent live
	at     int64         // events up to here were taken
	lost   bool

	// Guarded by the feed's lock:
	waiting []domain.LiveEvent
	slow    bool
	closed  bool
}

// Lost tells whether the requested position was too far back, so that events
// after it were not sent.
func (l *Listener) Lost() bool { return l.lost }

// Ready gets a value when [Listener.Take] has something to return.
func (l *Listener) Ready() <-chan struct{} { return l.ready }

// Close unsubscribes the listener.
func (l *Listener) Close() { l.tail.remove(l) }

// hear queues an event for the listener, under the feed's lock.
func (l *Listener) hear(h domain.LiveEvent) {
	switch {
	case l.slow, h.Position <= l.from: // sent before, by a process that was ahead
		return
	case len(l.waiting) == mostWaiting:
		l.slow, l.waiting = true, nil
	default:
		l.waiting = append(l.waiting, h)
	}
	l.wake()
}

func (l *Listener) wake() {
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// Take returns the events since the last call, and the position up to which they
// are complete. It returns none if nothing has happened.
func (l *Listener) Take(ctx context.Context) ([]domain.LiveEvent, int64, error) {
	for l.at < l.live {
		events, err := l.replay(ctx)
		if err != nil || len(events) > 0 {
			return events, l.at, err
		}
	}
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.slow || l.closed {
		return nil, l.at, ErrSlow
	}
	events := l.waiting
	l.waiting, l.at = nil, max(l.at, t.position)
	return events, l.at, nil
}

// replay reads the next window of events before the listener subscribed.
func (l *Listener) replay(ctx context.Context) ([]domain.LiveEvent, error) {
	t := l.tail
	select {
	case t.again <- struct{}{}:
		defer func() { <-t.again }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	found, until, _, err := t.read(ctx, l.at)
	if err != nil {
		return nil, err
	}
	l.at = min(until, l.live)
	l.wake()
	return slices.DeleteFunc(found, func(h domain.LiveEvent) bool {
		return h.Position > l.live || !slices.Contains(l.topics, t.topic(h.Stream, h.Event))
	}), nil
}
