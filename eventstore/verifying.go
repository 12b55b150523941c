package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/tlog/tree"
)

// The log is checked in the background as well, a part at a time, from the
// beginning to the end and then, after a rest, again. How far that has come
// stands in the database: it goes on wherever a process stopped, and of several
// processes one works at a time (docs/log.md, "Tamper evidence").

// A Pace bounds the check in the background.
type Pace struct {
	Events int           // in a part
	Pause  time.Duration // between two parts
	Rest   time.Duration // from the end of the log to its beginning
}

// A Verification is how far the check in the background has come.
type Verification struct {
	Position   int64      // of the last event that was checked
	Broken     int64      // events that were not as they were written, since it began at the first one
	VerifiedAt *time.Time // when it came to the end; nil: never yet
	Begun      *time.Time // of the log: when its first event was recorded; nil: it has none
}

// Verification tells how far the check in the background has come.
func (r *Reader) Verification(ctx context.Context) (v Verification, err error) {
	err = r.pool.QueryRow(ctx, `
		select position, broken, verified_at, (select recorded_at from events order by position limit 1) from log_verification`).
		Scan(&v.Position, &v.Broken, &v.VerifiedAt, &v.Begun)
	if err != nil {
		return v, fmt.Errorf("read how far the log is verified: %w", Unavailable(err))
	}
	return v, nil
}

// VerifyNext checks the next part of the log and tells of each event in it
// that is not as it was written. An error of tell leaves the part to be checked
// again. False: nothing is due, or another process is at it.
func (r *Reader) VerifyNext(ctx context.Context, p Pace, tell func(Broken) error) (worked bool, err error) {
	err = pgx.BeginFunc(ctx, r.pool, func(tx pgx.Tx) error {
		c, due, err := dueForCheck(ctx, tx)
		if err != nil || !due {
			return err
		}
		found, err := c.next(ctx, tx, r, p.Events)
		if err != nil {
			return err
		}
		for _, b := range found {
			if err := tell(b); err != nil {
				return err
			}
		}
		worked = true
		return c.keep(ctx, tx, p, int64(len(found)))
	})
	if err != nil {
		return false, fmt.Errorf("verify a part of the log: %w", Unavailable(err))
	}
	return worked, nil
}

// A checkpoint is where the check stands: behind the event that had this hash
// when it was looked at.
type checkpoint struct {
	position int64
	hash     []byte
	isOver   bool // that was the last one
	isNew    bool // the check has begun anew
}

// dueCheck is where the check goes on, if that is due. A log of which nothing was checked
// yet is due with its first event.
const dueCheck = `select position, hash, is_over from log_verification
	where next_at <= real_now() or position = 0 and verified_at is null and exists (select from events where position = 1)`

func dueForCheck(ctx context.Context, tx pgx.Tx) (c checkpoint, due bool, err error) {
	var mine bool
	if err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock(hashtext('hostpanel verification'))`).Scan(&mine); err != nil || !mine {
		return c, false, err
	}
	err = tx.QueryRow(ctx, dueCheck).Scan(&c.position, &c.hash, &c.isOver)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, false, nil
	}
	return c, err == nil, err
}

// next checks the events behind the place, after a look at whether the one at
// it is still what it was.
func (c *checkpoint) next(ctx context.Context, tx pgx.Tx, r *Reader, events int) (found []Broken, err error) {
	last, changed, err := c.place(ctx, tx)
	if err != nil {
		return nil, err
	}
	if changed != nil {
		found = append(found, *changed)
	}
	if c.isOver || last.position < c.position { // from the first one again
		*c, last = checkpoint{isNew: true}, place{}
	}
	s, trouble, err := storedSeal(ctx, tree.In(tx))
	if err != nil {
		return nil, err
	}
	more, n, last, err := c.part(ctx, tx, r, s, last, events)
	found = append(found, more...)
	if c.isOver = n < events; !c.isOver || err != nil {
		return found, err
	}
	if trouble != nil {
		found = append(found, *trouble)
	}
	if s != nil && s.Size > last.position {
		found = append(found, Broken{Position: last.position + 1, Reason: fmt.Sprintf(longerThan, s.what, s.Size)})
	}
	return found, nil
}

// place is where the check goes on. Zero: what was checked is not there.
func (c *checkpoint) place(ctx context.Context, tx pgx.Tx) (at place, changed *Broken, err error) {
	if c.position == 0 {
		return at, nil, nil
	}
	var hash []byte
	var stream string
	err = tx.QueryRow(ctx, `select stream, hash, recorded_at from events where position = $1`, c.position).Scan(&stream, &hash, &at.at)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return place{}, &Broken{Position: c.position, Reason: "it was there when the log was verified, and is missing"}, nil
	case err != nil:
		return at, nil, err
	case !bytes.Equal(hash, c.hash):
		changed = &Broken{Position: c.position, Stream: stream, Reason: "it is another one than when the log was verified"}
	}
	at.position = c.position
	return at, changed, nil
}

// part is a piece of the log, each event with the one before it in its stream,
// as far as that stands before it in the log.
const part = `select e.position, e.stream, e.version, e.id, e.name, e.schema, e.tenant, e.actor, e.correlation,
	e.causation, e.saga, e.data, e.meta,
		e.recorded_at, e.hash, coalesce(b.version, 0), b.hash
	from (select * from events where position > $1 order by position limit $2) e
	left join events b on b.stream = e.stream and b.version = e.version - 1 and b.position < e.position
	order by e.position`

func scanPart(r pgx.CollectableRow) (e row, version int32, hash []byte, err error) {
	e, err = scanRow(r)
	if sent := r.RawValues(); err == nil {
		version, hash = int32(number(sent[15])), bytes.Clone(sent[16]) //nolint:gosec // it has this size
	}
	return e, version, hash, err
}

// keep notes how far it has come, and when it goes on.
func (c *checkpoint) keep(ctx context.Context, tx pgx.Tx, p Pace, broken int64) error {
	pause := p.Pause
	if c.isOver {
		pause = p.Rest
	}
	_, err := tx.Exec(ctx, `
		update log_verification set position = $1, hash = $2, is_over = $3, next_at = real_now() + $4::interval,
			broken = $5 + case when $6 then 0 else broken end, verified_at = case when $3 then real_now() else verified_at end`,
		c.position, append([]byte{}, c.hash...), c.isOver, pause, broken, c.isNew)
	return err
}
