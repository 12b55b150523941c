package eventstore

import (
	"slices"
	"sync"
	"time"

	"hostpanel/domain"
)

// streamCache remembers the histories of streams that this process has just added
// to: the next command mostly concerns the same ones. Others may have added
// to them since, and that does no harm: a decision on an old history breaks on
// the version of the stream, and one that would add nothing is made anew from
// the log (docs/log.md, "From a command to a fact").
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
	return found.history, ok && time.Now().Before(found.until)
}

// keep remembers the streams of a decision as it has left them. Its last fact
// stands at position.
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
		for _, fact := range d.facts {
			if fact.Stream == b.stream {
				history = append(history, fact)
			}
		}
		if b.category.last {
			history = history[max(0, len(history)-1):]
		}
		r.streams[b.stream] = remembered{history, time.Now().Add(rememberedFor)}
	}
}

func (r *streamCache) forget(d *decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range d.branches {
		delete(r.streams, b.stream)
	}
}
