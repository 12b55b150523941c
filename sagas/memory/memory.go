// Package memory lets the steps of a run that follow each other share what they have read
// (docs/sagas.md).
package memory

import (
	"context"
	"sync"
	"time"

	"hostpanel/eventstore/clock"
)

// A memory holds what the steps of one run have read since their worker recorded
// something. Steps in a row need the same order.
type memory struct {
	mu   sync.Mutex
	read map[any]remembered
}

type remembered struct {
	value any
	until time.Time
}

// rememberedFor bounds how stale it may be, and how long an erased person's texts are used.
const rememberedFor = 5 * time.Second

type memoryKey struct{}

// With gives what is done under a context a memory of its own.
func With(ctx context.Context) context.Context {
	return context.WithValue(ctx, memoryKey{}, &memory{read: map[any]remembered{}})
}

// Forget is called once the worker has recorded something: what it has read may differ now.
func Forget(ctx context.Context) {
	if m, has := ctx.Value(memoryKey{}).(*memory); has {
		m.mu.Lock()
		defer m.mu.Unlock()
		clear(m.read)
	}
}

// Read reads something for a step, unless an earlier step of the run has read it
// within the same write. Beside a run it is read each time.
func Read[T any](ctx context.Context, key any, read func(context.Context) (T, error)) (T, error) {
	m, has := ctx.Value(memoryKey{}).(*memory)
	if !has {
		return read(ctx)
	}
	m.mu.Lock()
	found, known := m.read[key]
	m.mu.Unlock()
	if known && clock.Now().Before(found.until) {
		return found.value.(T), nil
	}
	until := clock.Now().Add(rememberedFor)
	value, err := read(ctx)
	if err == nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.read[key] = remembered{value, until}
	}
	return value, err
}
