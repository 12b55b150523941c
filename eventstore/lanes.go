package eventstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"hostpanel/eventstore/clock"
)

// Lanes hand chosen events of the log to a function, for a named reader, from its stored
// position. The events of a stream come one after the other, those of several streams at
// once. Of the processes with the same reader only one works at a time, and the others do
// not wait (docs/sagas.md, "Reactions").
type Lanes struct {
	Reader string
	Names  []string      // of the events; the position passes all others. nil: all events
	Poll   time.Duration // longest wait for a notification
	Batch  time.Duration // for which one transaction begins with further events; 0: three seconds

	// Handle does database work only, because the reader's transaction stays open around
	// it. An event whose handling fails comes again, before the later ones of its stream.
	Handle func(context.Context, RecordedEvent) error
	// SetAside is called for an event that cannot be opened, without its content.
	SetAside func(context.Context, RecordedEvent, error) error
}

const (
	laneCount    = 8                      // streams whose events are handled at once
	laneBatch    = 200                    // most events in one transaction
	laneWindow   = 5000                   // most positions in one transaction
	laneTime     = 3 * time.Second        // for which one transaction begins with further events
	laneDeadline = 30 * time.Second       // for one event
	lanePause    = 100 * time.Millisecond // before an event comes again
)

// RunLanes hands over events until ctx ends. A database that is away at the start, or
// later, delays them.
func (s *Store) RunLanes(ctx context.Context, l Lanes) {
	l.Batch = cmp.Or(l.Batch, laneTime)
	r := laneRunner{Lanes: l, pool: s.pool, log: s.log, reader: s.reader, ahead: map[int64]bool{}}
	r.enter(ctx)
	for failed := false; ctx.Err() == nil; {
		changed := s.Changed()
		more, err := r.handOver(ctx)
		if err != nil && !failed && ctx.Err() == nil {
			s.log.WarnContext(ctx, "events are not handled yet", "reader", l.Reader, "err", err.Error())
		}
		failed = err != nil
		switch {
		case failed:
			clock.Pausing(ctx, lanePause, nil)
		case !more:
			clock.Pausing(ctx, l.Poll, changed)
			clock.Pausing(ctx, gather, nil)
		}
	}
}

// A laneRunner hands over the events of lanes.
type laneRunner struct {
	Lanes
	pool   *pgxpool.Pool
	log    *slog.Logger
	reader *Reader

	noted int64          // the position that was noted at last
	ahead map[int64]bool // events behind it that were handled, as the time was up for one before them
}

// enter makes the reader's row. Each failure is an alarm: a reader without a row is
// not among those that are watched.
func (l *laneRunner) enter(ctx context.Context) {
	for ctx.Err() == nil {
		_, err := l.pool.Exec(ctx, `insert into readers (name) values ($1) on conflict do nothing`, l.Reader)
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			l.log.ErrorContext(
				ctx, "no event is handled; it is tried again", "alarm", true, "reader", l.Reader, "err",
				Unavailable(err).Error(),
			)
		}
		clock.Pausing(ctx, l.Poll, nil)
	}
}

// handOver hands over the next events, unless the position passes all that there are.
func (l *laneRunner) handOver(ctx context.Context) (more bool, err error) {
	passed, err := l.pass(ctx)
	if err == nil && !passed {
		more, err = l.handOverBatch(ctx)
	}
	if errors.Is(err, pgx.ErrNoRows) { // another process reads
		return false, nil
	}
	return more, err
}

// ownReader is the reader's row, which one process has at a time.
const ownReader = `from readers where name = $1 for update of readers skip locked`

// passEvents moves the reader to the end of the log, unless an event before it is one of
// those named. It tells whether nothing is left to read.
const passEvents = `
with reader as materialized (
	select position, set_config('synchronous_commit', 'off', true) ` + ownReader + `
), head as materialized (
	select coalesce(max(position), 0) position from events
), next as materialized (
	select reader.position at, head.position until, head.position > reader.position and (head.position > reader.position + $3
		or exists (select from (select name from events where position > reader.position order by position limit $3) e
			where $2::text[] is null or e.name = any($2))) chosen
	from reader, head
), moved as (
	update readers set position = until from next where name = $1 and until > at and not chosen
)
select not chosen from next`

func (l *laneRunner) pass(ctx context.Context) (passed bool, err error) {
	err = l.pool.QueryRow(ctx, passEvents, l.Reader, l.Names, laneWindow).Scan(&passed)
	return passed, Unavailable(err)
}

// relaxed begins a transaction whose commit need not wait for the disk.
var relaxed = pgx.TxOptions{BeginQuery: "begin; set local synchronous_commit = off"}

// handOverBatch hands over the next events in one transaction, which holds the reader's
// row. A crash may lose the progress, and the events come again.
func (l *laneRunner) handOverBatch(ctx context.Context) (more bool, err error) {
	tx, err := l.pool.BeginTx(ctx, relaxed)
	if err != nil {
		return false, fmt.Errorf("read as %s: %w", l.Reader, Unavailable(err))
	}
	work := context.WithoutCancel(ctx) // what was handled is noted at a stop, too
	defer func() { _ = tx.Rollback(work) }()
	var position, head int64
	err = tx.QueryRow(ctx, `select position, (select coalesce(max(position), 0) from events) `+ownReader, l.Reader).Scan(&position, &head)
	if err != nil || head <= position {
		return false, Unavailable(err)
	}
	if position != l.noted { // another process has read, or nothing is known of what was noted
		l.noted, l.ahead = position, map[int64]bool{}
	}
	ctx = withSince(ctx, clock.Now()) // before the events are read
	rows, until, err := chosen(ctx, tx, l.Lanes, position, head)
	if err != nil {
		return false, fmt.Errorf("read as %s: %w", l.Reader, Unavailable(err))
	}
	until, failed := l.holding(ctx, tx, func(ctx context.Context) (int64, error) { return l.inLanes(ctx, rows, until) })
	if _, err = tx.Exec(work, `update readers set position = $1 where name = $2`, until, l.Reader); err == nil {
		err = tx.Commit(work)
	}
	if err == nil {
		l.noted = until
		maps.DeleteFunc(l.ahead, func(at int64, _ bool) bool { return at <= until })
	}
	return until < head, errors.Join(failed, Unavailable(err))
}

// holding handles events while it keeps the transaction alive, which Postgres ends once it
// was idle for too long. When the transaction is lost the handling ends, because another
// process may read by then.
func (l *laneRunner) holding(ctx context.Context, tx pgx.Tx, handle func(context.Context) (int64, error)) (int64, error) {
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	var reached int64
	handled := make(chan error, 1)
	go func() {
		var err error
		reached, err = handle(ctx)
		handled <- err
	}()
	alive := time.NewTicker(l.Batch)
	defer alive.Stop()
	for {
		select {
		case err := <-handled:
			return reached, err
		case <-alive.C:
			if _, err := tx.Exec(context.WithoutCancel(ctx), `select`); err != nil {
				lose(fmt.Errorf("%w: %w", ErrUnavailable, err))
				failed := <-handled
				return reached, errors.Join(failed, Unavailable(err))
			}
		}
	}
}

// chosen returns the events of the window behind a position, and where they end.
func chosen(ctx context.Context, tx pgx.Tx, l Lanes, position, head int64) (rows []row, until int64, err error) {
	until = min(head, position+laneWindow)
	found, _ := tx.Query(ctx, `
		select `+columns+` from events where position > $1 and position <= $2 and ($3::text[] is null or name = any($3))
		order by position limit $4`, position, until, l.Names, laneBatch)
	if rows, err = pgx.CollectRows(found, scanRow); len(rows) == laneBatch {
		until = rows[laneBatch-1].position
	}
	return rows, until, err
}

// inLanes handles events, and returns the position before which all are handled. After a
// failure the later events of that stream are left. Once the time of a batch is up, those are
// left with which no lane has begun, so that progress is noted however slow the handling is.
// What was handled behind one that is left is not handled again.
func (l *laneRunner) inLanes(ctx context.Context, rows []row, until int64) (reached int64, err error) {
	opened, unopened := l.reader.decode(ctx, rows)
	if unopened != nil { // then each is opened by itself
		opened = nil
	}
	var mu sync.Mutex
	var lanes errgroup.Group
	lanes.SetLimit(laneCount)
	leave := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		until = min(until, rows[i].position-1)
	}
	isHandled := func(i int) bool {
		mu.Lock()
		defer mu.Unlock()
		return l.ahead[rows[i].position]
	}
	handled := func(i int) {
		mu.Lock()
		defer mu.Unlock()
		l.ahead[rows[i].position] = true
	}
	began := clock.Now()
	for _, lane := range byStream(rows) {
		lanes.Go(func() error {
			for _, i := range lane {
				if isHandled(i) {
					continue
				}
				if i > 0 && clock.Since(began) > l.Batch {
					leave(i)
					return nil
				}
				if failed := l.handleOne(ctx, rows[i], opened, i); failed != nil {
					leave(i)
					return failed
				}
				handled(i)
			}
			return nil
		})
	}
	err = lanes.Wait() // the first one
	return until, err
}

// byStream returns the indexes of the events of each stream.
func byStream(rows []row) (lanes [][]int) {
	lane := map[string]int{}
	for i, r := range rows {
		n, known := lane[r.stream]
		if !known {
			n = len(lanes)
			lane[r.stream], lanes = n, append(lanes, nil)
		}
		lanes[n] = append(lanes[n], i)
	}
	return lanes
}

// handleOne handles one event, and opens it before unless that was done with others.
func (l *laneRunner) handleOne(ctx context.Context, stored row, opened []RecordedEvent, i int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, laneDeadline)
	defer cancel()
	if opened != nil {
		return l.Handle(ctx, opened[i])
	}
	found, err := l.reader.decode(ctx, []row{stored})
	switch {
	case err == nil:
		return l.Handle(ctx, found[0])
	case errors.Is(err, ErrUnavailable):
		return err
	}
	envelope, unknown := stored.envelope()
	if unknown != nil {
		return unknown // without its position no event can be set aside
	}
	return l.SetAside(ctx, envelope, err)
}
