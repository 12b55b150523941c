package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// A Reader reads the log and opens its sealed texts.
type Reader struct {
	pool      *pgxpool.Pool
	catalogue domain.Catalogue
	subjects  *subjectKeys
	only      map[uuid.UUID]bool // whose texts it opens; nil: everybody's
	closed    bool               // it opens no text
	wanted    func(string) bool  // the names of events that it decodes; nil: all
}

// Closed is a reader that opens no sealed text: all of them are blank. It needs no
// key. States can be folded from what it reads, because they never depend on
// personal texts.
func (r *Reader) Closed() *Reader {
	own := *r
	own.closed = true
	return &own
}

// Of is a reader that decodes the events of some names alone. Others come without
// their content.
func (r *Reader) Of(wanted func(name string) bool) *Reader {
	own := *r
	own.wanted = wanted
	return &own
}

// Afresh is a reader that looks at each key anew, once. A text that was erased a
// moment ago is blank to it, also if another process has erased it.
func (r *Reader) Afresh() *Reader {
	return &Reader{pool: r.pool, catalogue: r.catalogue, subjects: &subjectKeys{pool: r.pool, keys: r.subjects.keys}}
}

// page is the number of events in one query.
const page = 1000

// Read returns a stream's history, oldest event first. A new stream is empty.
func (r *Reader) Read(ctx context.Context, stream domain.Stream) ([]RecordedEvent, error) {
	return r.read(ctx, oneStream, stream.String())
}

// ReadStreams returns the newest events of several streams, at most limit, in the
// order of the log.
func (r *Reader) ReadStreams(ctx context.Context, limit int, streams ...domain.Stream) ([]RecordedEvent, error) {
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	return r.read(ctx, `
		select `+columns+` from (select * from events where stream = any($1) order by position desc limit $2) newest
			order by position`, names, limit)
}

const oneStream = `select ` + columns + ` from events where stream = $1 order by version`

// ReadUntil returns a stream's history up to a version or a time; zero sets no
// bound.
func (r *Reader) ReadUntil(ctx context.Context, stream domain.Stream, version int, at time.Time) ([]RecordedEvent, error) {
	return r.read(ctx, `
		select `+columns+` from events
		where stream = $1 and ($2 = 0 or version <= $2) and ($3::timestamptz is null or recorded_at <= $3) order by version`,
		stream.String(), version, domain.OrNull(at))
}

// ReadVersions returns the part of a stream's history behind one version and up to
// another.
func (r *Reader) ReadVersions(ctx context.Context, stream domain.Stream, after, until int) ([]RecordedEvent, error) {
	return r.read(
		ctx, `select `+columns+` from events where stream = $1 and version > $2 and version <= $3 order by version`,
		stream.String(), after, until,
	)
}

// AtPositions returns the events at these positions of the log, in its order.
func (r *Reader) AtPositions(ctx context.Context, positions []int64) ([]RecordedEvent, error) {
	return r.read(ctx, `select `+columns+` from events where position = any($1) order by position`, positions)
}

// HashesBefore returns the hashes of the events before these in their streams, by
// the positions of these. The first event of a stream has none.
func (r *Reader) HashesBefore(ctx context.Context, positions []int64) (map[int64][]byte, error) {
	rows, _ := r.pool.Query(ctx, `
		with e as materialized (select position, stream, version - 1 as before from events where position = any($1))
		select e.position, b.hash from e join events b on b.stream = e.stream and b.version = e.before`, positions)
	hashes, position, hash := map[int64][]byte{}, int64(0), []byte(nil)
	_, err := pgx.ForEachRow(rows, []any{&position, &hash}, func() error {
		hashes[position] = bytes.Clone(hash)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read hashes of the log: %w", Unavailable(err))
	}
	return hashes, nil
}

// Extent tells how long a stream is, and to which tenant its first event belongs.
// Length 0: there is no such stream. Tenant 0: it belongs to none.
func (r *Reader) Extent(ctx context.Context, stream domain.Stream) (length int, tenant int64, err error) {
	err = r.pool.QueryRow(ctx, `
		select coalesce((select version from events where stream = $1 order by version desc limit 1), 0),
			coalesce((select tenant from events where stream = $1 and version = 1), 0)`, stream.String()).Scan(&length, &tenant)
	if err != nil {
		err = fmt.Errorf("read how long %s is: %w", stream, Unavailable(err))
	}
	return length, tenant, err
}

// StreamAt is the stream of the event at a position; without a name: there is none.
func (r *Reader) StreamAt(ctx context.Context, position int64) (domain.Stream, error) {
	var name string
	err := r.pool.QueryRow(ctx, `select stream from events where position = $1`, position).Scan(&name)
	if errors.Is(err, pgx.ErrNoRows) {
		return domain.Stream{}, nil
	}
	if err != nil {
		return domain.Stream{}, fmt.Errorf("read the stream of event %d: %w", position, Unavailable(err))
	}
	return domain.StreamNamed(name), nil
}

// StreamsOf returns those of the streams that belong to a tenant.
func (r *Reader) StreamsOf(ctx context.Context, tenant int64, streams ...domain.Stream) (map[domain.Stream]bool, error) {
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	rows, _ := r.pool.Query(ctx, `select stream from events where stream = any($1) and version = 1 and tenant = $2`, names, tenant)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read which streams belong to tenant %d: %w", tenant, Unavailable(err))
	}
	own := map[domain.Stream]bool{}
	for _, name := range found {
		own[domain.StreamNamed(name)] = true
	}
	return own, nil
}

// After returns up to limit events after a position, in the order of the log.
func (r *Reader) After(ctx context.Context, position int64, limit int) ([]RecordedEvent, error) {
	return r.read(ctx, `select `+columns+` from events where position > $1 order by position limit $2`, position, limit)
}

// Replay calls each for every event after a position, in the order of the log, up
// to its end. Pages are decoded beside each other.
func (r *Reader) Replay(ctx context.Context, after int64, each func(RecordedEvent) error) error {
	read := func(ctx context.Context) ([]row, bool, error) {
		rows, err := r.rows(ctx, `select `+columns+` from events where position > $1 order by position limit $2`, after, page)
		if len(rows) > 0 {
			after = rows[len(rows)-1].position
		}
		return rows, len(rows) > 0, err
	}
	return inOrder(ctx, read, r.decode, func(events []RecordedEvent) error {
		for i := range events {
			if err := each(events[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Head is the position and the time of the last event; zero in an empty log.
func (r *Reader) Head(ctx context.Context) (position int64, at time.Time, err error) {
	err = r.pool.QueryRow(ctx, `select position, recorded_at from events order by position desc limit 1`).Scan(&position, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		err = fmt.Errorf("read the head of the log: %w", Unavailable(err))
	}
	return position, at, err
}

func (r *Reader) read(ctx context.Context, sql string, args ...any) ([]RecordedEvent, error) {
	rows, err := r.rows(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return r.decode(ctx, rows)
}

func (r *Reader) rows(ctx context.Context, sql string, args ...any) ([]row, error) {
	rows, _ := r.pool.Query(ctx, sql, args...)
	stored, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	return stored, nil
}

// decode opens the sealed texts of rows, and returns their events.
func (r *Reader) decode(ctx context.Context, rows []row) ([]RecordedEvent, error) {
	if err := r.open(ctx, rows); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	events := make([]RecordedEvent, len(rows))
	for i := range rows {
		var err error
		if events[i], err = r.recorded(&rows[i]); err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
	}
	return events, nil
}

// Read returns a stream's history, oldest event first, and lets the next commands on it
// begin with it. A new stream is empty.
func (s *Store) Read(ctx context.Context, stream domain.Stream) ([]RecordedEvent, error) {
	began := clock.Now()
	history, err := s.reader.Read(ctx, stream)
	if err == nil {
		s.states.noteHistory(stream, history, began)
	}
	return history, err
}

// ReadEach returns the histories of several streams in one statement, and lets the next
// commands on them begin with these. A new stream is empty.
func (s *Store) ReadEach(ctx context.Context, streams ...domain.Stream) ([][]RecordedEvent, error) {
	began, names := clock.Now(), make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	events, err := s.reader.read(ctx, `select `+columns+` from events where stream = any($1) order by stream, version`, names)
	if err != nil {
		return nil, err
	}
	of := make(map[domain.Stream][]RecordedEvent, len(streams))
	for _, r := range events {
		of[r.Stream] = append(of[r.Stream], r)
	}
	histories := make([][]RecordedEvent, len(streams))
	for i, stream := range streams {
		histories[i] = of[stream]
		s.states.noteHistory(stream, histories[i], began)
	}
	return histories, nil
}

// noteHistory caches the state that a history leads to, which the next command may need.
func (r *stateReader) noteHistory(stream domain.Stream, history []RecordedEvent, began time.Time) {
	served, known := r.categories[stream.Category]
	if !known || served.last {
		return
	}
	f := foldedState{state: served.zero, ids: make([]mark, 0, len(history)), asOf: began}
	for i := range history {
		f.apply(served, &history[i])
	}
	r.cache.note(stream, f)
}
