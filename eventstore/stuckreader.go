package eventstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/clock"
)

// readerPatience is how long a reader with unread events may stay at a position.
const readerPatience = time.Minute

// A ReaderWatch notices readers of the log that do not move although there are
// events for them. It compares what it sees at each look. What stops readers and looks
// alike is no reader's fault: a database that is away, or a process that stood still.
type ReaderWatch struct {
	mu     sync.Mutex
	seen   map[string]readerLook
	looked time.Time // at last
}

type readerLook struct {
	position int64
	since    time.Time
}

// A StuckReader has not moved for a minute from the position of its last event.
type StuckReader struct {
	Name     string
	Position int64
}

type readerPosition struct {
	Name           string
	Position, Head int64
}

// Look returns the readers that are stuck, by name.
func (w *ReaderWatch) Look(ctx context.Context, db *pgxpool.Pool) ([]StuckReader, error) {
	rows, _ := db.Query(ctx, `select name, position, (select coalesce(max(position), 0) from events) from readers order by name`)
	readers, err := pgx.CollectRows(rows, pgx.RowToStructByPos[readerPosition])
	if err != nil {
		w.forget()
		return nil, fmt.Errorf("read how far readers are: %w", Unavailable(err))
	}
	return w.stuck(readers, clock.Now()), nil
}

// forget lets the patience with each reader begin anew.
func (w *ReaderWatch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = nil
}

func (w *ReaderWatch) stuck(readers []readerPosition, now time.Time) (stuck []StuckReader) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		w.seen = map[string]readerLook{}
	}
	unseen := time.Duration(0)
	if gap := now.Sub(w.looked); gap > readerPatience { // it counts as half a minute
		unseen = gap - readerPatience/2
	}
	w.looked = now
	for _, r := range readers {
		seen, known := w.seen[r.Name]
		seen.since = seen.since.Add(unseen)
		if !known || r.Position != seen.position || r.Position >= r.Head {
			seen = readerLook{r.Position, now}
		}
		w.seen[r.Name] = seen
		if now.Sub(seen.since) >= readerPatience {
			stuck = append(stuck, StuckReader{r.Name, r.Position})
		}
	}
	return stuck
}
