package sagastest

import "sync"

// The outside: it keeps what it is told, counts every creation by name, and
// lies when a test tells it to, before or after it has done what was asked.

// Lies are told by tests, per call. A nil lie is the truth.
type Lies struct {
	mu            sync.Mutex
	before, after func(call, name string) error
}

// Tell sets what is asked before and after each call. Nil says the truth.
func (l *Lies) Tell(before, after func(call, name string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func (l *Lies) ask(after bool, call, name string) error {
	l.mu.Lock()
	lie := l.before
	if after {
		lie = l.after
	}
	l.mu.Unlock()
	if lie == nil {
		return nil
	}
	return lie(call, name)
}
