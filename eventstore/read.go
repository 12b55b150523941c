package eventstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

// page is how many events are read at once.
const page = 2000

// Read returns a stream's history, oldest fact first. A stream that nothing
// has happened to is empty.
func (s *Store) Read(ctx context.Context, stream domain.Stream) ([]Recorded, error) {
	return s.read(ctx, oneStream, stream.String())
}

// ReadStreams returns the histories of several streams as one, in the order of
// the log: at most so many facts, the newest ones.
func (s *Store) ReadStreams(ctx context.Context, limit int, streams ...domain.Stream) ([]Recorded, error) {
	names := make([]string, len(streams))
	for i, stream := range streams {
		names[i] = stream.String()
	}
	return s.read(ctx, `
		select `+columns+` from (select * from events where stream = any($1) order by position desc limit $2) newest order by position`, names, limit)
}

const oneStream = `select ` + columns + ` from events where stream = $1 order by version`

const lastFact = `select ` + columns + ` from events where stream = $1 order by version desc limit 1`

// reading is the query for what a decision needs of a stream.
func (c category) reading() string {
	if c.last {
		return lastFact
	}
	return oneStream
}

// readEach returns what decisions need of several streams, in one round trip.
func (s *Store) readEach(ctx context.Context, streams []domain.Stream) ([][]Recorded, error) {
	histories, b := make([][]Recorded, len(streams)), &pgx.Batch{}
	for i, stream := range streams {
		b.Queue(s.categories[stream.Category].reading(), stream.String()).Query(func(rows pgx.Rows) (err error) {
			histories[i], err = pgx.CollectRows(rows, s.collect)
			return err
		})
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	for _, history := range histories {
		if err := s.open(ctx, history); err != nil {
			return nil, err
		}
	}
	return histories, nil
}

// ReadUntil returns a stream's history as it stood at a version or a time;
// zero sets no bound.
func (s *Store) ReadUntil(ctx context.Context, stream domain.Stream, version int, at time.Time) ([]Recorded, error) {
	return s.read(ctx, `
		select `+columns+` from events
		where stream = $1 and ($2 = 0 or version <= $2) and ($3::timestamptz is null or recorded_at <= $3) order by version`,
		stream.String(), version, pointer(at))
}

// After returns up to limit events behind a position, in the order of the log.
func (s *Store) After(ctx context.Context, position int64, limit int) ([]Recorded, error) {
	return s.read(ctx, `select `+columns+` from events where position > $1 order by position limit $2`, position, limit)
}

// Replay shows everything behind a position to each, page by page, up to the
// end of the log. Events come in the order of the log.
func (s *Store) Replay(ctx context.Context, after int64, each func(Recorded) error) error {
	return s.replay(ctx, func(last int64) ([]Recorded, error) {
		return s.After(ctx, max(after, last), page)
	}, each)
}

// replay reads the next page while each works on the last one.
func (s *Store) replay(ctx context.Context, read func(last int64) ([]Recorded, error), each func(Recorded) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pages, failed := make(chan []Recorded, 1), make(chan error, 1)
	go func() {
		defer close(pages)
		for last := int64(0); ; {
			events, err := read(last)
			if err != nil {
				failed <- err
				return
			}
			if len(events) == 0 {
				return
			}
			last = events[len(events)-1].Position
			select {
			case pages <- events:
			case <-ctx.Done():
				return
			}
		}
	}()
	for events := range pages {
		for _, r := range events {
			if err := each(r); err != nil {
				return err
			}
		}
	}
	select {
	case err := <-failed:
		return err
	default:
		return ctx.Err()
	}
}

// Head is the position and the time of the last event; zero in an empty log.
func (s *Store) Head(ctx context.Context) (position int64, at time.Time, err error) {
	err = s.pool.QueryRow(ctx, `select position, recorded_at from events order by position desc limit 1`).Scan(&position, &at)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, time.Time{}, nil
	}
	if err != nil {
		err = fmt.Errorf("read the head of the log: %w", Unavailable(err))
	}
	return position, at, err
}

// PositionAt is the last position at a time: positions and times run the same
// way, so the log is searched by halving it.
func (s *Store) PositionAt(ctx context.Context, at time.Time) (int64, error) {
	high, _, err := s.Head(ctx)
	low := int64(0) // everything up to low is not later than at; everything behind high is
	for err == nil && low < high {
		middle := (low + high + 1) / 2
		var recorded time.Time
		err = s.pool.QueryRow(ctx, `select recorded_at from events where position = $1`, middle).Scan(&recorded)
		if recorded.After(at) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	if err != nil {
		return 0, fmt.Errorf("find the position at %s: %w", at.Format(time.RFC3339), Unavailable(err))
	}
	return low, nil
}

func (s *Store) read(ctx context.Context, sql string, args ...any) ([]Recorded, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	events, err := pgx.CollectRows(rows, s.collect)
	if err != nil {
		return nil, fmt.Errorf("read the log: %w", Unavailable(err))
	}
	return events, s.open(ctx, events)
}

func (s *Store) collect(r pgx.CollectableRow) (Recorded, error) {
	e, err := scanRow(r)
	if err != nil {
		return Recorded{}, err
	}
	return s.recorded(e)
}
