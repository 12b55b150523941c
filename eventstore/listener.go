package eventstore

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
)

// ErrSlow ends a listener who was told more than they have taken. Whoever it
// is may come back for what is behind the position that they have reached.
var ErrSlow = errors.New("the listener was too slow")

// A Listener hears of what happens to some topics. It belongs to one goroutine.
type Listener struct {
	tail   *Feed
	topics []domain.Stream
	ready  chan struct{} // has room for one
	from   int64         // everything up to here is not for the listener
	live   int64         // from here on facts are told as they happen
	at     int64         // everything up to here was taken
	lost   bool

	// Of the tail's lock:
	waiting []domain.LiveEvent
	slow    bool
	closed  bool
}

// Lost tells whether the position that was asked for is too far back: what
// happened since then is not told.
func (l *Listener) Lost() bool { return l.lost }

// Ready is sent to when there is something to [Listener.Take].
func (l *Listener) Ready() <-chan struct{} { return l.ready }

// Close ends listening.
func (l *Listener) Close() { l.tail.remove(l) }

// hear leaves a fact for the listener, in the tail's lock.
func (l *Listener) hear(h domain.LiveEvent) {
	switch {
	case l.slow, h.Position <= l.from: // who comes from a process that has read further than this one
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

// Take returns what has happened since it was last asked, and the position up
// to which that is everything. It is nothing if nothing has happened.
func (l *Listener) Take(ctx context.Context) ([]domain.LiveEvent, int64, error) {
	for l.at < l.live {
		facts, err := l.replay(ctx)
		if err != nil || len(facts) > 0 {
			return facts, l.at, err
		}
	}
	t := l.tail
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.slow || l.closed {
		return nil, l.at, ErrSlow
	}
	facts := l.waiting
	l.waiting, l.at = nil, max(l.at, t.position)
	return facts, l.at, nil
}

// replay reads the next window of what happened before the listener came.
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
