package eventstore

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"hostpanel/eventstore/clock"
)

// A Verdict is what [Reader.Verify] found.
type Verdict struct {
	Intact       bool
	Checked      int64
	HeadPosition int64
	HeadHash     []byte
	Broken       int64  // first position, in the order of the log, that is not as it was written; 0: none
	Stream       string // of that event
	Reason       string
	At           time.Time
}

// Verify reads the whole log and recomputes the chain of every stream; it
// also checks that positions have no gaps and times never run back. Progress
// is told now and then; nil is allowed.
func (r *Reader) Verify(ctx context.Context, progress func(done, all int64)) (Verdict, error) {
	head, _, err := r.Head(ctx)
	if err != nil {
		return Verdict{}, err
	}
	v := verifier{Verdict: Verdict{Intact: true, HeadPosition: head}, streams: map[string]link{}}
	for v.last.position < head {
		rows, _ := r.pool.Query(ctx, `select `+columns+` from events where position > $1 and position <= $2 order by position limit $3`, v.last.position, head, page)
		var n int
		e, scan := row{}, error(nil)
		for rows.Next() {
			if e, scan = scanRow(rows); scan != nil {
				return v.Verdict, fmt.Errorf("verify: %w", scan)
			}
			v.check(&e)
			n++
		}
		if err := rows.Err(); err != nil {
			return v.Verdict, fmt.Errorf("verify: %w", Unavailable(err))
		}
		if n == 0 {
			v.broken(&Broken{Position: head, Reason: endMissing})
			break
		}
		if progress != nil {
			progress(v.Checked, head)
		}
	}
	v.At = clock.Now().UTC()
	return v.Verdict, nil
}

type verifier struct {
	Verdict
	streams map[string]link
	last    place
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
}

const endMissing = "the end of the log is missing"

func (v *verifier) check(e *row) {
	before := v.streams[e.stream]
	v.broken(e.held(v.last, before.version, before.hash[:]))
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
		return &Broken{last.position + 1, e.stream, "a position is missing"}
	case e.version != version+1:
		return &Broken{e.position, e.stream, "a version of the stream is missing"}
	case e.recordedAt.Before(last.at):
		return &Broken{e.position, e.stream, "the time runs back"}
	case !bytes.Equal(e.hash, e.chain(hash)):
		return &Broken{e.position, e.stream, "the hash does not match what is stored"}
	}
	return nil
}

func (v *verifier) broken(b *Broken) {
	if b != nil && v.Intact {
		v.Intact, v.Broken, v.Stream, v.Reason = false, b.Position, b.Stream, b.Reason
	}
}
