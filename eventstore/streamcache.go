package eventstore

import (
	"slices"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// streamCache caches the histories of streams that this process has just written
// to, because the next command often concerns the same streams. An entry may lack
// events of other processes. The append then fails on the stream's version. A
// decision that adds nothing is repeated from the log (docs/log.md).
type streamCache struct {
	mu      sync.Mutex
	streams map[domain.Stream]remembered
}

type remembered struct {
	history []RecordedEvent
	until   time.Time
}

const (
	rememberedFor  = 5 * time.Second
	mostRemembered = 2000 // streams
)

func (r *streamCache) get(stream domain.Stream) ([]RecordedEvent, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.streams[stream]
	return found.history, ok && clock.Now().Before(found.until)
}

// keep caches the streams of a decision with its events. The last event has this
// position.
func (r *streamCache) keep(d *decision, position int64) {
	for i := range d.facts {
		d.facts[i].Position = position - int64(len(d.facts)-1-i)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.streams == nil || len(r.streams) > mostRemembered {
		r.streams = map[domain.Stream]remembered{}
	}
	for _, b := range d.branches {
		history := slices.Clip(b.history)
		for _, e := range d.facts {
			if e.Stream == b.stream {
				history = append(history, e)
			}
		}
		if b.category.last {
			history = history[max(0, len(history)-1):]
		}
		r.streams[b.stream] = remembered{history, clock.Now().Add(rememberedFor)}
	}
}

func (r *streamCache) forget(d *decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range d.branches {
		delete(r.streams, b.stream)
	}
}
