package eventstore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/stateform"
)

// A foldedState is a stream's state with what a decision needs of its history.
type foldedState struct {
	state   any
	version int
	hash    []byte    // of the last event
	ids     []mark    // of the last events: all, apart from journals
	asOf    time.Time // nothing is missing that was committed before
}

// after is what a stream is once the events that were decided on are appended. They are
// folded as they were appended: with their numbers, and without texts that were erased.
func (b *streamState) after(facts []RecordedEvent) foldedState {
	f := b.before // a version is appended once, so no other writer extends its ids
	for i := range facts {
		if facts[i].Stream == b.stream {
			f.apply(b.category, &facts[i])
		}
	}
	if b.category.last {
		f.ids = append([]mark(nil), f.ids[max(0, len(f.ids)-1):]...)
	}
	return f
}

// apply folds the next event.
func (f *foldedState) apply(served category, r *RecordedEvent) {
	f.state, f.version, f.hash, f.ids = served.evolve(f.state, r.Event), r.Version, r.Hash, append(f.ids, markOf(r.ID))
}

// A storedEvent is a row of the log, with the snapshot that stands on it.
type storedEvent struct {
	row
	state, ids []byte // nil: none does
}

const (
	wholeStream = `select ` + columns + `, null::json, null::bytea from events where stream = $1 order by version`
	lastEvent   = `select ` + columns + `, null::json, null::bytea from events where stream = $1 order by version desc limit 1`

	// fromSnapshot reads a stream from its snapshot on. A snapshot that stands on an
	// event which the log does not have with the same hash is of another log. The first
	// version is joined, because row-level security keeps a sub-select out of the index.
	fromSnapshot = `
with stood as materialized (
	select p.version as at, p.state, p.ids from snapshots p join events e on e.stream = p.stream
		and e.version = p.version and e.hash = p.hash
	where p.stream = $1 and p.fold = $2
)
select ` + columns + `, state, ids from (select coalesce(max(at), 0) as first from stood) as begins
join events on stream = $1 and version >= first left join stood on at = version order by version`
)

func scanStored(r pgx.CollectableRow) (e storedEvent, err error) {
	if e.row, err = scanRow(r); err != nil {
		return e, err
	}
	sent := r.RawValues()
	if state := sent[len(sent)-2]; state != nil {
		e.state, e.ids = append([]byte(nil), state...), append([]byte(nil), sent[len(sent)-1]...)
	}
	return e, nil
}

// A stateReader reads streams into the states of their deciders: from the cache, from a
// snapshot, or event by event.
type stateReader struct {
	pool       *pgxpool.Pool
	reader     *Reader
	blind      *Reader // opens no sealed text
	categories map[string]category
	cache      *stateCache
	snapshots  snapshots
}

func newStateReader(reader *Reader, log *slog.Logger) *stateReader {
	r := &stateReader{pool: reader.pool, reader: reader, blind: reader.Closed(), categories: map[string]category{}, cache: newStateCache()}
	r.snapshots.pool, r.snapshots.log, r.snapshots.categories = r.pool, log, r.categories
	r.snapshots.load, r.snapshots.every = r.load, snapshotEvery
	return r
}

// note caches a state that was read for a decision, or may be.
func (r *stateReader) note(stream domain.Stream, f foldedState) {
	if !r.categories[stream.Category].last {
		r.cache.note(stream, f)
	}
}

func (r *stateReader) isJournal(commands []domain.Command) bool {
	return len(commands) > 0 && r.categories[commands[0].Stream().Category].last
}

// load folds streams from the log, in one round trip. States without personal texts are
// folded from events whose sealed texts are not opened.
func (r *stateReader) load(ctx context.Context, streams ...domain.Stream) ([]foldedState, error) {
	began, stored, b := clock.Now(), make([][]storedEvent, len(streams)), &pgx.Batch{}
	for i, stream := range streams {
		sql, args := wholeStream, []any{stream.String()}
		switch served := r.categories[stream.Category]; {
		case served.last:
			sql = lastEvent
		case served.fold != "":
			sql, args = fromSnapshot, append(args, served.fold)
		}
		b.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			stored[i], err = pgx.CollectRows(rows, scanStored)
			return err
		})
	}
	if err := r.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	all := make([]foldedState, len(streams))
	for i, stream := range streams {
		var err error
		if all[i], err = r.fold(ctx, stream, stored[i]); err != nil {
			return nil, err
		}
		all[i].asOf = began
	}
	return all, nil
}

// fold folds what was read of a stream. It has a snapshot written if there was much to
// fold.
func (r *stateReader) fold(ctx context.Context, stream domain.Stream, events []storedEvent) (f foldedState, err error) {
	served := r.categories[stream.Category]
	f.state = served.zero
	if len(events) > 0 && events[0].state != nil {
		f.state, err = served.decode(events[0].state)
		if f.version, f.hash, f.ids = int(events[0].version), events[0].hash, readMarks(events[0].ids); err != nil ||
			len(f.ids) != f.version {
			return r.refold(ctx, stream)
		}
		events = events[1:]
	}
	rows := make([]row, len(events))
	for i := range events {
		rows[i] = events[i].row
	}
	reader := r.blind
	if served.personal {
		reader = r.reader
	}
	history, err := reader.decode(ctx, rows)
	if err != nil {
		return f, err
	}
	for i := range history {
		f.apply(served, &history[i])
	}
	if served.fold != "" && r.snapshots.every > 0 && len(history) >= r.snapshots.every {
		r.snapshots.add(stream, &f)
	}
	return f, nil
}

// refold folds a stream without its snapshot, which cannot be read.
func (r *stateReader) refold(ctx context.Context, stream domain.Stream) (foldedState, error) {
	rows, _ := r.pool.Query(ctx, wholeStream, stream.String())
	stored, err := pgx.CollectRows(rows, scanStored)
	if err != nil {
		return foldedState{}, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	return r.fold(ctx, stream, stored)
}

// snapshots writes snapshots in the background, one after the other. It has a goroutine
// only while there is something to write.
type snapshots struct {
	pool       *pgxpool.Pool
	log        *slog.Logger
	categories map[string]category
	load       func(ctx context.Context, streams ...domain.Stream) ([]foldedState, error) // adds what is long
	every      int                                                                        // so many events; 0: never

	mu   sync.Mutex
	due  map[domain.Stream]*foldedState // nil: to be read first
	busy bool
}

const (
	// snapshotEvery bounds the events that a decision folds, usually.
	snapshotEvery = 200
	// mostDue bounds the streams that wait for a snapshot. Others get one later.
	mostDue = 1000
	// snapshotTimeout bounds the work on one.
	snapshotTimeout = 30 * time.Second
)

// add has a snapshot of a stream written; nil: of what it is by then, if it has become
// long.
func (w *snapshots) add(stream domain.Stream, f *foldedState) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.due) >= mostDue {
		return
	}
	if w.due == nil {
		w.due = map[domain.Stream]*foldedState{}
	}
	w.due[stream] = f
	if !w.busy {
		w.busy = true
		go w.work()
	}
}

// passed has a snapshot written of each stream that has come to the next one by an
// append.
func (w *snapshots) passed(streams []*streamState) {
	for _, b := range streams {
		if w.every > 0 && w.categories[b.stream.Category].fold != "" && b.version/w.every > (b.version-b.added)/w.every {
			w.add(b.stream, nil)
		}
	}
}

func (w *snapshots) next() (stream domain.Stream, f *foldedState, more bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for stream, f = range w.due {
		delete(w.due, stream)
		return stream, f, true
	}
	w.busy = false
	return stream, nil, false
}

func (w *snapshots) work() {
	for stream, f, more := w.next(); more; stream, f, more = w.next() {
		if err := w.write(stream, f); err != nil && !errors.Is(err, ErrUnavailable) {
			w.log.Warn("a snapshot was not written", "stream", stream.String(), "error", err)
		}
	}
}

const upsertSnapshot = `
insert into snapshots (stream, fold, version, hash, state, ids) values ($1, $2, $3, $4, $5, $6)
on conflict (stream) do update set fold = excluded.fold, version = excluded.version, hash = excluded.hash,
	state = excluded.state, ids = excluded.ids`

func (w *snapshots) write(stream domain.Stream, f *foldedState) error {
	ctx, cancel := context.WithTimeout(context.Background(), snapshotTimeout)
	defer cancel()
	if f == nil {
		_, err := w.load(ctx, stream)
		return err
	}
	state, err := stateform.Encode(f.state)
	if err != nil {
		return err
	}
	_, err = w.pool.Exec(
		ctx, upsertSnapshot, stream.String(), w.categories[stream.Category].fold, f.version, f.hash, string(state),
		storedMarks(f.ids),
	)
	if err != nil {
		return fmt.Errorf("write a snapshot of %s: %w", stream, Unavailable(err))
	}
	return nil
}

// A CategoryFold is how the events of the streams of one category become a state. Tests of all
// deciders hold it against events of earlier programs (docs/log.md).
type CategoryFold struct {
	Category string
	Number   string                              // of its snapshots; empty: there are none
	Evolve   func(state any, e domain.Event) any // nil: the state before all events
	Decode   func(snapshot []byte) (state any, err error)
}

// Folds are those of all categories that are served, apart from journals, by their names.
func (s *Store) Folds() (all []CategoryFold) {
	for _, name := range slices.Sorted(maps.Keys(s.states.categories)) {
		c := s.states.categories[name]
		if c.last {
			continue
		}
		all = append(all, CategoryFold{name, c.fold, func(state any, e domain.Event) any {
			if state == nil {
				state = c.zero
			}
			return c.evolve(state, e)
		}, c.decode})
	}
	return all
}
