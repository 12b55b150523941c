package eventstore

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

const (
	// FarBack is the number of positions that are replayed to a listener that
	// reconnects.
	FarBack = 100_000

	tailWindow   = 5000 // positions in one query
	tailGather   = 10 * time.Millisecond
	tailPoll     = time.Second
	tailLook     = 10 * time.Second // timeout of one query
	replaying    = 4                // simultaneous replays of older events
	mostWaiting  = 256              // events that may wait for a listener
	newerThanAll = "There is nothing at this position yet."
)

// A Feed sends new events to listeners in the order of the log, from all
// processes (docs/log.md, "Listening"). It reads the log once for all listeners,
// and stops reading without any.
type Feed struct {
	reader  *Reader
	log     *slog.Logger
	changed func() <-chan struct{}
	topic   func(domain.Stream, domain.Event) domain.Stream
	names   []string
	again   chan struct{} // semaphore for replays of older events

	mu        sync.Mutex
	listeners map[domain.Stream]map[*Listener]struct{}
	listening int
	position  int64              // everything up to here was sent
	stop      context.CancelFunc // stops the reading goroutine; nil: none runs
	run       int                // number of the reading goroutine
}

// NewFeed sends events of these types to the listeners of their topics. The topic
// of an event is its stream, unless topic returns another one.
func NewFeed(s *Store, topic func(domain.Stream, domain.Event) domain.Stream, types ...[]domain.EventType) *Feed {
	return &Feed{
		reader: s.reader, log: s.log, changed: s.Changed, topic: topic, names: domain.NewCatalogue(types...).Names(),
		again:     make(chan struct{}, replaying),
		listeners: map[domain.Stream]map[*Listener]struct{}{},
	}
}

// Now is the position for listening to new events only.
const Now = -1

// Listen sends the events of the topics after a position, and then new ones,
// without gap or repeat, until the listener is closed. A position beyond the end of
// the log is refused. One more than [FarBack] behind acts as [Now], and
// [Listener.Lost] reports it.
func (t *Feed) Listen(ctx context.Context, after int64, topics ...domain.Stream) (*Listener, error) {
	head, _, err := t.reader.Head(ctx)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop == nil {
		t.begin(head)
	}
	if head = max(head, t.position); after > head {
		t.rest()
		return nil, domain.RefuseField("last_event_id", newerThanAll)
	}
	l := &Listener{tail: t, topics: topics, ready: make(chan struct{}, 1), from: after, live: t.position}
	if l.lost = after >= 0 && head-after > FarBack; l.lost || after < 0 {
		l.from = l.live
	}
	if l.at = l.from; l.at < l.live {
		l.wake()
	}
	t.add(l)
	return l, nil
}

func (t *Feed) add(l *Listener) {
	for _, topic := range l.topics {
		if t.listeners[topic] == nil {
			t.listeners[topic] = map[*Listener]struct{}{}
		}
		t.listeners[topic][l] = struct{}{}
	}
	t.listening++
}

// remove unsubscribes a listener. A second call has no effect.
func (t *Feed) remove(l *Listener) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.closed {
		return
	}
	l.closed, l.waiting = true, nil
	for _, topic := range l.topics {
		if delete(t.listeners[topic], l); len(t.listeners[topic]) == 0 {
			delete(t.listeners, topic)
		}
	}
	t.listening--
	t.rest()
}

// begin starts reading at a position.
func (t *Feed) begin(from int64) {
	ctx, stop := context.WithCancel(context.Background())
	t.stop, t.position = stop, from
	t.run++
	go t.follow(ctx, t.run)
}

// rest stops reading when the last listener has gone.
func (t *Feed) rest() {
	if t.listening == 0 && t.stop != nil {
		t.stop()
		t.stop = nil
	}
}

// follow sends new events until ctx ends.
func (t *Feed) follow(ctx context.Context, run int) {
	for failed := false; ctx.Err() == nil; {
		changed := t.changed()
		more, err := t.look(ctx, run)
		if err != nil && !failed && ctx.Err() == nil {
			t.log.WarnContext(ctx, "those who listen to the log hear nothing for now", "err", err.Error())
		}
		clock.Pausing(ctx, tailGather, nil) // the next query finds the events of this pause
		if failed = err != nil; !more {
			t.await(ctx, changed, failed)
		}
	}
}

// await waits for a notification of new events, or for the next poll. Notifications
// may get lost, so it polls every second. After a failed read it ignores them.
func (t *Feed) await(ctx context.Context, changed <-chan struct{}, failed bool) {
	if failed {
		changed = nil
	}
	clock.Pausing(ctx, tailPoll, changed)
}

// look sends the new events, at most one window of positions.
func (t *Feed) look(ctx context.Context, run int) (more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, tailLook)
	defer cancel()
	t.mu.Lock()
	from := t.position
	t.mu.Unlock()
	found, until, head, err := t.read(ctx, from)
	if err != nil {
		return false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != run || t.stop == nil { // another goroutine reads by now, or none
		return false, nil
	}
	t.position = until
	for _, h := range found {
		for l := range t.listeners[t.topic(h.Stream, h.Event)] {
			l.hear(h)
		}
	}
	return until < head, nil
}

const (
	ofHead   = `select coalesce(max(position), 0) from events`
	ofWindow = `select position, stream, version, name, schema, data from events where position > $1 and position <= $2
		and name = any($3) order by position`
)

// read returns the events of the window after a position, and the position up to
// which they are complete. It reads the head first: the second query then sees
// every event before the head.
func (t *Feed) read(ctx context.Context, after int64) (found []domain.LiveEvent, until, head int64, err error) {
	b := &pgx.Batch{}
	b.Queue(ofHead).QueryRow(func(r pgx.Row) error { return r.Scan(&head) })
	b.Queue(ofWindow, after, after+tailWindow, t.names).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, t.happened)
		return err
	})
	if err := t.reader.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, after, 0, fmt.Errorf("follow the log: %w", Unavailable(err))
	}
	until = max(after, min(head, after+tailWindow))
	if len(found) > 0 {
		until = max(until, found[len(found)-1].Position)
	}
	return found, until, head, nil
}

func (t *Feed) happened(r pgx.CollectableRow) (h domain.LiveEvent, err error) {
	var stream, name string
	var schema int16
	var data []byte
	if err := r.Scan(&h.Position, &stream, &h.Version, &name, &schema, &data); err != nil {
		return h, err
	}
	h.Stream = domain.StreamNamed(stream)
	if h.Event, err = t.reader.catalogue.Decode(name, int(schema), data); err != nil {
		return h, fmt.Errorf("event %d: %w", h.Position, err)
	}
	return h, nil
}

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
