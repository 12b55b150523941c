package eventstore

import (
	"bytes"
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
	v := &verifier{Verdict: Verdict{Intact: true}, asked: c, reader: r, streams: map[string]link{}}
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
	asked   Check
	reader  *Reader
	seals   seals
	streams map[string]link
	last    place
	edge    tlog.Edge // of the events that were read
	full    map[tlog.TileID][]byte
	gap     bool // an event is missing: the tree cannot be computed any more

	differing []seal  // whose roots are not those of the events
	wrongTile *Broken // the first tile that is not that of the events
}

// A link is the end of a stream's chain.
type link struct {
	version int32
	hash    [32]byte
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

// whole checks every event.
func (v *verifier) whole(ctx context.Context) error {
	v.full = map[tlog.TileID][]byte{}
	v.edge.OnFull(func(id tlog.TileID, data []byte) { v.full[id] = data })
	for v.last.position < v.HeadPosition {
		n, err := v.page(ctx)
		if err != nil {
			return err
		}
		if n == 0 {
			v.broken(&Broken{Position: v.HeadPosition, Reason: endMissing})
			break
		}
		if err := v.compareTiles(ctx); err != nil {
			return err
		}
		v.asked.Progress(v.Checked, v.HeadPosition)
	}
	if err := v.compareRoots(ctx); err != nil {
		return err
	}
	v.cover()
	return nil
}

func (v *verifier) page(ctx context.Context) (n int, err error) {
	rows, _ := v.reader.pool.Query(ctx, `select `+columns+` from events where position > $1 and position <= $2 order by position limit $3`,
		v.last.position, v.HeadPosition, page)
	defer rows.Close()
	for ; rows.Next(); n++ {
		e, err := scanRow(rows)
		if err != nil {
			return n, err
		}
		v.check(&e)
	}
	return n, rows.Err()
}

func (v *verifier) check(e *row) {
	before := v.streams[e.stream]
	v.broken(e.held(v.last, before.version, before.hash[:]))
	v.grow(e)
	// Go on from what is stored, so that one broken event is one finding.
	v.streams[e.stream] = link{e.version, [32]byte(append(bytes.Clone(e.hash), make([]byte, 32)...)[:32])}
	v.last = place{e.position, e.recordedAt}
	v.Checked++
	v.HeadHash = e.hash
}

// held holds an event against the one before it in the log, and the one before
// it in its stream; nil: it is as it was written.
func (e *row) held(last place, version int32, hash []byte) *Broken {
	if version == 0 {
		hash = noHash[:]
	}
	switch {
	case e.position != last.position+1:
		return &Broken{Position: last.position + 1, Stream: e.stream, Reason: "a position is missing"}
	case e.version != version+1:
		return &Broken{Position: e.position, Stream: e.stream, Reason: "a version of the stream is missing"}
	case e.recordedAt.Before(last.at):
		return &Broken{Position: e.position, Stream: e.stream, Reason: "the time runs back"}
	case !bytes.Equal(e.hash, e.chain(hash)):
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
