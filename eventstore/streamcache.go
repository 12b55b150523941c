package eventstore

import (
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// streamCache caches the histories of streams that this process has read or written
// within seconds, because the next command often concerns the same streams. An entry may
// lack events of other processes. The append then fails on the stream's version. A
// decision that adds nothing is repeated from the log (docs/log.md).
//
// There are two generations: a full one becomes the older one, which is dropped.
type streamCache struct {
	mu         sync.Mutex
	young, old map[domain.Stream]remembered
	events     int // in the young generation
}

type remembered struct {
	history []RecordedEvent
	until   time.Time
}

const (
	// rememberedFor bounds how long an erased person's texts stay in memory.
	rememberedFor  = 5 * time.Second
	mostRemembered = 10_000 // events in one generation
)

func (r *streamCache) get(stream domain.Stream) (remembered, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.find(stream)
}

func (r *streamCache) find(stream domain.Stream) (remembered, bool) {
	found, ok := r.young[stream]
	if !ok {
		found, ok = r.old[stream]
	}
	if !ok || !clock.Now().Before(found.until) {
		return remembered{}, false
	}
	return found, true
}

// note caches a history that was read, unless the cache knows more of it.
func (r *streamCache) note(stream domain.Stream, history []RecordedEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found, ok := r.find(stream); !ok || len(found.history) < len(history) {
		r.put(stream, history, clock.Now().Add(rememberedFor))
	}
}

func (r *streamCache) put(stream domain.Stream, history []RecordedEvent, until time.Time) {
	if r.young == nil || r.events > mostRemembered {
		r.young, r.old, r.events = map[domain.Stream]remembered{}, r.young, 0
	}
	r.events += len(history) - len(r.young[stream].history)
	r.young[stream] = remembered{history, until}
}

// keep caches the streams of a decision with its events. The last event has this
// position.
func (r *streamCache) keep(d *decision, position int64) {
	for i := range d.facts {
		d.facts[i].Position = position - int64(len(d.facts)-1-i)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range d.branches {
		// A version is appended once, so no other writer extends this history.
		history := b.history
		for _, e := range d.facts {
			if e.Stream == b.stream {
				history = append(history, e)
			}
		}
		if b.category.last {
			history = append([]RecordedEvent(nil), history[max(0, len(history)-1):]...)
		}
		r.put(b.stream, history, b.until)
	}
}

func (r *streamCache) forget(d *decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range d.branches {
		delete(r.young, b.stream)
		delete(r.old, b.stream)
	}
}
