package eventstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
)

// onlyNew checks the events that came since the log was verified. The tree of today
// has to begin with the one of then.
func (v *verifier) onlyNew(ctx context.Context) error {
	from := v.seals.before
	switch {
	case from == nil || v.seals.stored == nil:
		v.leave("it was not verified before: every event was read")
		return v.whole(ctx)
	case from.Size > v.HeadPosition: // as compareSeals found, or the last verification saw more
		v.broken(&Broken{Position: v.HeadPosition + 1, Reason: fmt.Sprintf(longerThan, from.what, from.Size)})
		return nil
	}
	if err := v.beginsWith(ctx, *from); err != nil || !v.Intact {
		return err
	}
	if err := v.parts(ctx, from.Size); err != nil {
		return err
	}
	v.cover()
	v.leave(fmt.Sprintf("events 1 to %d were verified before and not read again%s", from.Size, when(v.seals.at)))
	return nil
}

func when(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(" (2006-01-02 15:04 UTC)")
}

// beginsWith compares the tree of today with an earlier checkpoint.
func (v *verifier) beginsWith(ctx context.Context, s seal) error {
	today := v.seals.stored
	if s.origin != today.origin || s.Size > today.Size {
		v.broken(&Broken{Position: 1, through: s.Size, Reason: fmt.Sprintf("%s is shorter than %s", today.what, s.what)})
		return nil
	}
	root, err := v.reader.tree().Of(ctx, today.origin, today.Checkpoint).RootAt(s.Size)
	switch {
	case errors.Is(err, tlog.ErrTile):
		v.broken(&Broken{Position: 1, through: today.Size, Reason: "the tiles of the tree are not those that " + today.what + " signed"})
	case err != nil:
		return err
	case root != s.Root:
		b, err := v.reader.locate(ctx, s, s.Size)
		if err != nil {
			return err
		}
		v.broken(b)
	}
	return nil
}

// parts checks the events behind a position, a page at a time.
func (v *verifier) parts(ctx context.Context, after int64) error {
	atOnce := pgx.TxOptions{AccessMode: pgx.ReadOnly, IsoLevel: pgx.RepeatableRead}
	return pgx.BeginTxFunc(ctx, v.reader.pool, atOnce, func(tx pgx.Tx) error {
		c := checkpoint{position: after}
		if after > 0 {
			last, _, err := c.place(ctx, tx)
			if err != nil {
				return err
			}
			v.last = last
		}
		for {
			found, n, last, err := c.part(ctx, tx, v.reader, v.seals.stored, v.last, page)
			if err != nil {
				return err
			}
			for i := range found {
				v.broken(&found[i])
			}
			v.last, v.HeadHash = last, c.hash
			v.Checked += int64(n)
			v.asked.Progress(v.Checked, v.HeadPosition-after)
			if n < page || v.last.position >= v.HeadPosition {
				return nil
			}
		}
	})
}

// stream checks one stream: its chain, and each of its events with the tree.
func (v *verifier) stream(ctx context.Context) error {
	rows, _ := v.reader.pool.Query(ctx, oneStream, v.asked.Stream.String())
	events, err := pgx.CollectRows(rows, scanRow)
	if err != nil {
		return err
	}
	before, buffer := link{}, parts{}
	positions := make([]int64, len(events))
	for i := range events {
		e := &events[i]
		v.broken(e.held(place{position: e.position - 1, at: v.last.at}, before.version, e.follows(before.hash[:], &buffer)))
		before = link{e.version, hashOf(e.hash)}
		v.last, positions[i], v.HeadHash = place{e.position, e.recordedAt}, e.position, e.hash
		v.Checked++
	}
	for _, s := range v.seals.all() {
		if err := v.compareEach(ctx, s, events); err != nil {
			return err
		}
	}
	v.cover()
	v.leave("other streams, and whether the last events of this stream are missing: a check of the whole log finds that")
	return nil
}

// compareEach compares events with what the tree of a checkpoint holds of them.
func (v *verifier) compareEach(ctx context.Context, s seal, events []row) error {
	var indexes []int64
	for _, e := range events {
		if e.position <= s.Size {
			indexes = append(indexes, e.position-1)
		}
	}
	signed, err := v.reader.tree().Of(ctx, s.origin, s.Checkpoint).Leaves(indexes...)
	if errors.Is(err, tlog.ErrTile) {
		v.broken(&Broken{Position: 1, through: s.Size, Reason: fmt.Sprintf(tilesDiffer, fmt.Sprintf(rootDiffers, s.what))})
		return nil
	}
	if err != nil {
		return err
	}
	for i, h := range signed {
		e := events[i] // the positions of a stream ascend with its versions
		if leaf, _ := tlog.LeafOf(e.recordedAt, e.hash); leaf.Hash() != h {
			v.broken(&Broken{Position: e.position, Stream: e.stream, Reason: fmt.Sprintf(leafDiffers, s.what)})
		}
	}
	return nil
}

// part checks the next events against the ones before them, and against the tree.
func (c *checkpoint) part(
	ctx context.Context, tx pgx.Tx, r *Reader, s *seal, last place, events int,
) (found []Broken, n int, end place, err error) {
	after, buffer := last.position, parts{}
	rows, _ := tx.Query(ctx, part, after, events)
	for ; rows.Next(); n++ {
		e, version, hash, err := scanPart(rows)
		if err != nil {
			rows.Close()
			return found, n, last, err
		}
		if b := e.held(last, version, e.follows(hash, &buffer)); b != nil {
			found = append(found, *b)
		}
		last = place{e.position, e.recordedAt}
		c.position, c.hash = e.position, e.hash
	}
	if rows.Close(); rows.Err() != nil || s == nil {
		return found, n, last, rows.Err()
	}
	if until := min(last.position, s.Size); until > after {
		b, err := r.compareLeaves(ctx, tree.In(tx), *s, after, until)
		if b != nil && !slices.ContainsFunc(found, func(f Broken) bool { return f.Position == b.Position }) {
			found = append(found, *b)
		}
		return found, n, last, err
	}
	return found, n, last, nil
}
