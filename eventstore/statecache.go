package eventstore

import (
	"container/list"
	"context"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/stateform"
)

// stateCache caches the folded states of streams that this process has read or written
// within seconds, because the next command often concerns the same streams. An entry may
// lack events of other processes. The append then fails on the stream's version. A
// decision that adds nothing is repeated from the log (docs/log.md).
//
// A full cache drops the state that was used least recently.
type stateCache struct {
	mu    sync.Mutex
	known map[domain.Stream]*list.Element // of a *cachedState
	used  list.List                       // most recently used first
	bytes int
	most  int // bytes
}

type cachedState struct {
	foldedState
	stream domain.Stream
	bytes  int
}

const (
	// cachedFor bounds how stale a state may be, and how long an erased person's texts
	// stay in memory.
	cachedFor = 5 * time.Second
	// mostCached is for the states of some thousands of streams.
	mostCached = 32 << 20
	// cacheEntry is what an entry takes beside its state, about.
	cacheEntry = 300
)

// sinceKey is the key of the moment that a context's states may be as old as.
type sinceKey struct{}

// withSince lets [Fold] answer from the cache with a state of this moment or later. What
// reacts to many events reads each stream once.
func withSince(ctx context.Context, moment time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, moment)
}

func sinceOf(ctx context.Context) time.Time {
	moment, _ := ctx.Value(sinceKey{}).(time.Time)
	return moment
}

// isOld tells whether a state may no longer be used.
func (f foldedState) isOld(now time.Time) bool { return now.Sub(f.asOf) >= cachedFor }

func newStateCache() *stateCache {
	return &stateCache{known: map[domain.Stream]*list.Element{}, most: mostCached}
}

func (c *stateCache) get(stream domain.Stream) (*cachedState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(stream)
}

func (c *stateCache) find(stream domain.Stream) (*cachedState, bool) {
	at, cached := c.known[stream]
	if !cached {
		return nil, false
	}
	found := at.Value.(*cachedState)
	if found.isOld(clock.Now()) {
		c.drop(at)
		return nil, false
	}
	c.used.MoveToFront(at)
	return found, true
}

// since is a state whose reading, or the append to it, began after a moment; a zero moment:
// none.
func (c *stateCache) since(stream domain.Stream, moment time.Time) (foldedState, bool) {
	if moment.IsZero() {
		return foldedState{}, false
	}
	found, cached := c.get(stream)
	if !cached || found.asOf.Before(moment) {
		return foldedState{}, false
	}
	return found.foldedState, true
}

// note caches a state that was read, unless the cache has a later one.
func (c *stateCache) note(stream domain.Stream, f foldedState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, cached := c.find(stream)
	if !cached || found.version < f.version || found.version == f.version && found.asOf.Before(f.asOf) {
		c.put(stream, f)
	}
}

func (c *stateCache) put(stream domain.Stream, f foldedState) {
	if at, cached := c.known[stream]; cached {
		c.drop(at)
	}
	bytes := cacheEntry + len(stream.ID) + cap(f.ids)*markSize + stateform.Size(f.state)
	c.known[stream] = c.used.PushFront(&cachedState{f, stream, bytes})
	c.bytes += bytes
	for now := clock.Now(); c.bytes > c.most || c.overAt(now); {
		c.drop(c.used.Back())
	}
}

// overAt tells whether the state that was used the longest ago is too old to be used again.
func (c *stateCache) overAt(now time.Time) bool {
	last := c.used.Back()
	return last != nil && last.Value.(*cachedState).isOld(now)
}

func (c *stateCache) drop(at *list.Element) {
	old := c.used.Remove(at).(*cachedState)
	c.bytes -= old.bytes
	delete(c.known, old.stream)
}

// keep caches the streams of a decision that was appended. The append has proved that
// the states before it were the last ones. A state with personal texts keeps its time.
func (c *stateCache) keep(d *decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range d.branches {
		f := b.after(d.facts)
		if b.added > 0 && !b.category.personal {
			f.asOf = d.began
		}
		c.put(b.stream, f)
	}
}

func (c *stateCache) forget(d *decision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range d.branches {
		if at, cached := c.known[b.stream]; cached {
			c.drop(at)
		}
	}
}
