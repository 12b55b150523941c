package eventstore

import (
	"context"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/tlog"
)

// A Check says what of the log is verified.
type Check struct {
	Checkpoint string        // signed, and kept outside of the database; blank: none is at hand
	OnlyNew    bool          // leave out what was verified before, or what the checkpoint covers
	Stream     domain.Stream // this stream only; zero: the whole log
	Progress   func(done, all int64)
}

// A Verdict is what [Reader.Verify] found.
type Verdict struct {
	Intact       bool
	Checked      int64
	HeadPosition int64
	HeadHash     []byte
	Broken       int64  // first position, in the order of the log, that is not as it was written; 0: none
	Through      int64  // the last one that it may be instead; 0: it is this one
	Stream       string // of that event
	Reason       string
	Sealed       int64    // events that the tree covers
	Uncovered    []string // what the check could not cover
	At           time.Time
}

// Verify reads the whole log and recomputes the chain of every stream. It also checks
// that positions have no gaps and times never run back, and compares the tree over all
// events with its signed checkpoint. Progress is told now and then; nil is allowed.
func (r *Reader) Verify(ctx context.Context, progress func(done, all int64)) (Verdict, error) {
	return r.VerifyBy(ctx, Check{Progress: progress})
}

// VerifyBy verifies what the check asks for.
func (r *Reader) VerifyBy(ctx context.Context, c Check) (Verdict, error) {
	if c.Progress == nil {
		c.Progress = func(int64, int64) {}
	}
	v := &verifier{Verdict: Verdict{Intact: true}, asked: c, reader: r, links: links{most: mostLinks}}
	var err error
	if v.seals, err = r.sealsFor(ctx, c); err != nil {
		return v.Verdict, fmt.Errorf("verify: %w", Unavailable(err))
	}
	if v.HeadPosition, _, err = r.Head(ctx); err != nil { // after the seals, which cover less
		return v.Verdict, err
	}
	v.compareSeals()
	switch {
	case c.Stream != domain.Stream{}:
		err = v.stream(ctx)
	case c.OnlyNew:
		err = v.onlyNew(ctx)
	default:
		err = v.whole(ctx)
	}
	if err != nil {
		return v.Verdict, fmt.Errorf("verify: %w", Unavailable(err))
	}
	v.At = clock.Now().UTC()
	return v.Verdict, v.keep(ctx)
}

type verifier struct {
	Verdict
	asked  Check
	reader *Reader
	seals  seals
	links  links
	read   int64 // the position of the last event that was read, and maybe not checked yet
	last   place
	edge   tlog.Edge // of the events that were read
	full   map[tlog.TileID][]byte
	gap    bool // an event is missing: the tree cannot be computed any more

	differing []seal  // whose roots are not those of the events
	wrongTile *Broken // the first tile that is not that of the events
}

// A place is where the log stands behind an event.
type place struct {
	position int64
	at       time.Time
}

// A Broken event is not as it was written.
type Broken struct {
	Position int64
	Stream   string // blank: it is not known
	Reason   string
	through  int64 // the last event that it may be instead; 0: it is this one
}

const endMissing = "the end of the log is missing"

// whole checks every event. Hashes are computed beside each other.
func (v *verifier) whole(ctx context.Context) error {
	v.full = map[tlog.TileID][]byte{}
	v.edge.OnFull(func(id tlog.TileID, data []byte) { v.full[id] = data })
	err := inOrder(ctx, v.page, hashAnew, func(events []chainEvent) error {
		for i := range events {
			v.check(&events[i])
		}
		v.asked.Progress(v.Checked, v.HeadPosition)
		return v.compareTiles(ctx)
	})
	if err != nil {
		return err
	}
	if v.last.position < v.HeadPosition {
		v.broken(&Broken{Position: v.HeadPosition, Reason: endMissing})
	}
	if err := v.compareRoots(ctx); err != nil {
		return err
	}
	v.cover()
	return nil
}

// page reads the next events, each with the end of its stream before it.
func (v *verifier) page(ctx context.Context) (events []chainEvent, more bool, err error) {
	rows, err := v.reader.rows(ctx, `select `+columns+` from events where position > $1 and position <= $2 order by position limit $3`,
		v.read, v.HeadPosition, page)
	if err != nil || len(rows) == 0 {
		return nil, false, err
	}
	v.read = rows[len(rows)-1].position
	events, err = v.links.chain(ctx, v.reader, rows)
	return events, true, err
}

func (v *verifier) check(e *chainEvent) {
	v.broken(e.held(v.last, e.before.version, e.fits))
	v.grow(e)
	v.last = place{e.position, e.recordedAt}
	v.Checked++
	v.HeadHash = e.hash
}

// held holds an event against the one before it in the log, and the version before it
// in its stream. Its hash fits that one or not. Nil: it is as it was written.
func (e *row) held(last place, version int32, fits bool) *Broken {
	switch {
	case e.position != last.position+1:
		return &Broken{Position: last.position + 1, Stream: e.stream, Reason: "a position is missing"}
	case e.version != version+1:
		return &Broken{Position: e.position, Stream: e.stream, Reason: "a version of the stream is missing"}
	case e.recordedAt.Before(last.at):
		return &Broken{Position: e.position, Stream: e.stream, Reason: "the time runs back"}
	case !fits:
		return &Broken{Position: e.position, Stream: e.stream, Reason: "the hash does not match what is stored"}
	}
	return nil
}

// broken keeps the finding that is the first one in the order of the log.
func (v *verifier) broken(b *Broken) {
	if b != nil && (v.Intact || b.Position < v.Broken) {
		v.Intact, v.Broken, v.Through, v.Stream, v.Reason = false, b.Position, b.through, b.Stream, b.Reason
	}
}
