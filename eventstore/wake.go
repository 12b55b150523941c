package eventstore

import (
	"context"
	"sync"
)

// channel carries the hint that the log has grown.
const channel = "hostpanel_log"

// A waker wakes those in this process who wait for the log to grow.
type waker struct {
	mu      sync.Mutex
	closing chan struct{}
}

func newWaker() *waker { return &waker{closing: make(chan struct{})} }

// next returns a channel that is closed when the log grows next.
func (w *waker) next() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closing
}

func (w *waker) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.closing)
	w.closing = make(chan struct{})
}

// Changed returns a channel that is closed when the log grows next. It is a
// hint: those who wait for it also look once a second.
func (s *Store) Changed() <-chan struct{} { return s.waker.next() }

// raise wakes this process, and lets the others be told.
func (s *Store) raise() {
	s.waker.wake()
	s.hints.Tell(channel, "")
}

// grown takes the hint of another process.
func (s *Store) grown(context.Context, string) error {
	s.waker.wake()
	return nil
}
