package sagastest

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"hostpanel/domain"
)

// The outside: it keeps what it is told, counts every creation by name, and
// lies when a test tells it to, before or after it has done what was asked.

// Lies are told by tests, per call. A nil lie is the truth.
type Lies struct {
	mu            sync.Mutex
	before, after func(call, name string) error

	chance      *rand.Rand // of answers that are slow; nil: none is
	least, most time.Duration
}

// Slowly lets each answer take its time, as a seed has it: half of the time before what was
// asked for is done, half of it after that. Who waits no longer reads that there was no
// answer.
func (l *Lies) Slowly(seed int64, least, most time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.chance, l.least, l.most = rand.New(rand.NewPCG(uint64(seed), 5)), least, most
}

// slowness is how long an answer takes. As many answers take one to two seconds as take
// ten to twenty.
func (l *Lies) slowness() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.chance == nil:
		return 0
	case l.chance.IntN(2) == 0:
		return l.least / 2
	}
	return time.Duration(float64(l.least) * math.Pow(float64(l.most)/float64(l.least), l.chance.Float64()))
}

// Tell sets what is asked before and after each call. Nil says the truth.
func (l *Lies) Tell(before, after func(call, name string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func (l *Lies) ask(ctx context.Context, after bool, call, name string) error {
	if late := l.slowness(); late > 0 {
		select {
		case <-time.After(late):
		case <-ctx.Done():
			return domain.Fail(domain.Unknown, "timeout", ctx.Err())
		}
	}
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
