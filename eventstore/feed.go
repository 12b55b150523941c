package eventstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

const (
	// FarBack is how many positions of the log are shown again to whoever
	// comes back.
	FarBack = 100_000

	tailWindow   = 5000 // positions that are looked through at once
	tailGather   = 10 * time.Millisecond
	tailPoll     = time.Second
	tailLook     = 10 * time.Second // that a look may take
	replaying    = 4                // listeners who are shown older facts at a time
	mostWaiting  = 256              // facts that a listener may leave lying
	newerThanAll = "There is nothing at this position yet."
)

// A Feed shows facts to those who listen, in the order of the log, as they are
// added to it, by whatever process (docs/log.md, "Listening"). As long as
// nobody listens it does nothing; for however many do, it reads the log once.
type Feed struct {
	store *Store
	topic func(domain.Stream, domain.Event) domain.Stream
	names []string
	again chan struct{} // has room for those who are shown older facts

	mu        sync.Mutex
	listeners map[domain.Stream]map[*Listener]struct{}
	listening int
	position  int64              // everything up to here was shown
	stop      context.CancelFunc // of who reads on; nil: nobody does
	run       int                // how often somebody has begun to
}

// NewFeed shows these facts to those who listen to their topics: the streams
// that they stand in, or what topic says.
func NewFeed(s *Store, topic func(domain.Stream, domain.Event) domain.Stream, facts ...[]domain.EventType) *Feed {
	return &Feed{
		store: s, topic: topic, names: domain.NewCatalogue(facts...).Names(), again: make(chan struct{}, replaying),
		listeners: map[domain.Stream]map[*Listener]struct{}{},
	}
}

// Now is where one listens who wants to hear of what happens from now on.
const Now = -1

// Listen shows everything about the topics behind a position, and then what
// happens, without gap or repeat, until the listener is closed. A position
// that the log has not reached is refused; one that is more than [FarBack]
// behind is as good as [Now], and the listener says so.
func (t *Feed) Listen(ctx context.Context, after int64, topics ...domain.Stream) (*Listener, error) {
	head, _, err := t.store.Head(ctx)
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

// remove ends listening; a second time it does nothing.
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

// begin reads on from a position.
func (t *Feed) begin(from int64) {
	ctx, stop := context.WithCancel(context.Background())
	t.stop, t.position = stop, from
	t.run++
	go t.follow(ctx, t.run)
}

// rest stops reading when nobody listens.
func (t *Feed) rest() {
	if t.listening == 0 && t.stop != nil {
		t.stop()
		t.stop = nil
	}
}

// follow shows what comes, until ctx ends.
func (t *Feed) follow(ctx context.Context, run int) {
	for failed := false; ctx.Err() == nil; {
		changed := t.store.Changed()
		more, err := t.look(ctx, run)
		if err != nil && !failed && ctx.Err() == nil {
			t.store.log.WarnContext(ctx, "those who listen to the log hear nothing for now", "err", err.Error())
		}
		sleep(ctx, tailGather) // what comes meanwhile is seen with the next look
		if failed = err != nil; !more {
			t.await(ctx, changed, failed)
		}
	}
}

// await waits for news. They are hints, so one looks every second; and where
// the log cannot be read, they are no reason to try sooner.
func (t *Feed) await(ctx context.Context, changed <-chan struct{}, failed bool) {
	if failed {
		changed = nil
	}
	timer := time.NewTimer(tailPoll)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-changed:
	case <-timer.C:
	}
}

// look shows what has been added, at most a window of it.
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
	if t.run != run || t.stop == nil { // another one reads by now, or nobody
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
	ofWindow = `select position, stream, version, name, schema, data from events where position > $1 and position <= $2 and name = any($3) order by position`
)

// read returns the facts of the window behind a position, and until where they
// are all that there are. The head is read first: what stands before it can be
// seen by who reads the facts after it.
func (t *Feed) read(ctx context.Context, after int64) (found []domain.LiveEvent, until, head int64, err error) {
	b := &pgx.Batch{}
	b.Queue(ofHead).QueryRow(func(r pgx.Row) error { return r.Scan(&head) })
	b.Queue(ofWindow, after, after+tailWindow, t.names).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, t.happened)
		return err
	})
	if err := t.store.pool.SendBatch(ctx, b).Close(); err != nil {
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
	if h.Event, err = t.store.catalogue.Decode(name, int(schema), data); err != nil {
		return h, fmt.Errorf("event %d: %w", h.Position, err)
	}
	return h, nil
}
