package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog"
)

// A Report is what a check has found.
type Report struct {
	Checkpoint tlog.Checkpoint // the longest that a proof leads to
	Events     []Proven
	Faults     []Fault // none: each event is proven
	Gaps       []Gap   // of streams; they are no faults
}

// A Proven event is as it was written, at its place in the log and at its time, unless
// a fault names its position.
type Proven struct {
	Columns
	Position   int64
	RecordedAt time.Time
	Texts      map[string]string // opened texts, by JSON pointer into the data
}

// A Fault is something that is not as it was written.
type Fault struct {
	Position int64 // 0: it is about the pack
	Reason   string
}

// A Gap is events of a stream between others of the pack. The pack says nothing of them.
type Gap struct {
	Stream      string
	From, Until int // versions
}

// Check checks each event of a pack: its bytes against its leaf, its leaf against the
// checkpoint that the policy accepts, its link to the event before it in its stream, and
// each opened text against the commitment in the event. A nil policy is that of the pack.
func (p Pack) Check(policy *tlog.Policy) (r Report, err error) {
	if policy == nil {
		if policy, err = tlog.ParsePolicy(p.Policy); err != nil {
			return r, fmt.Errorf("%w: %w", ErrFormat, err)
		}
	}
	if len(p.Events) != p.Manifest.Events {
		r.fault(0, fmt.Errorf("it has %d events, and its manifest says %d", len(p.Events), p.Manifest.Events))
	}
	last := map[string]link{}
	for _, e := range p.Events {
		proven, err := e.check(&r, policy)
		r.fault(e.Position, err)
		if proven.Stream == "" {
			continue
		}
		r.linked(proven, last)
		last[proven.Stream] = link{proven.Version, sha256.Sum256(e.Bytes)}
		r.Events = append(r.Events, proven)
	}
	for _, k := range p.Keys {
		r.fault(k.Position, r.open(k))
	}
	return r, nil
}

// A link is the last event of a stream in the pack.
type link struct {
	version int
	hash    [sha256.Size]byte
}

func (r *Report) fault(position int64, err error) {
	if err != nil {
		r.Faults = append(r.Faults, Fault{position, err.Error()})
	}
}

func (e Event) check(r *Report, policy *tlog.Policy) (p Proven, err error) {
	p = Proven{Position: e.Position, Texts: map[string]string{}}
	if p.Columns, err = Parse(e.Bytes); err != nil {
		return p, err
	}
	proof, err := tlog.ParseProof(e.Proof)
	if err != nil {
		return p, err
	}
	sum := sha256.Sum256(e.Bytes)
	if len(proof.Extra) != tlog.LeafSize || !bytes.Equal(proof.Extra[8:], sum[:]) {
		return p, errors.New("the leaf is not that of the bytes")
	}
	leaf := tlog.Leaf(proof.Extra)
	p.RecordedAt = leaf.RecordedAt()
	if proof.Index != e.Position-1 {
		return p, fmt.Errorf("the proof is that of position %d", proof.Index+1)
	}
	checkpoint, err := proof.Check(leaf, policy)
	if err == nil && checkpoint.Size > r.Checkpoint.Size {
		r.Checkpoint = checkpoint
	}
	return p, err
}

// linked checks the link of an event to the one before it in its stream.
func (r *Report) linked(p Proven, last map[string]link) {
	before, known := last[p.Stream]
	switch {
	case known && p.Version <= before.version:
		r.fault(p.Position, errors.New("the versions of its stream run back"))
	case known && p.Version > before.version+1:
		r.Gaps = append(r.Gaps, Gap{p.Stream, before.version + 1, p.Version - 1})
	case !known && p.Version > 1:
		r.Gaps = append(r.Gaps, Gap{p.Stream, 1, p.Version - 1})
	case !bytes.Equal(before.hash[:], p.Previous[:]):
		r.fault(p.Position, errors.New("it does not follow from the event before it in its stream"))
	}
}

// open opens a text with its key.
func (r *Report) open(k Key) error {
	for _, e := range r.Events {
		if e.Position != k.Position {
			continue
		}
		if !json.Valid(e.Data) {
			return errors.New("the data of its event is no JSON")
		}
		for _, s := range sealing.Strings(e.Data, func(_, _, quoted []byte) bool { return sealing.IsSealed(quoted) }) {
			if s.Pointer != k.Pointer {
				continue
			}
			text, err := sealing.Parse(sealing.Unquote(e.Data[s.Start:s.End]))
			if err != nil {
				return err
			}
			if text.Place != (sealing.Place{Kind: PlaceKind, ID: e.ID.String(), Pointer: s.Pointer}) {
				return fmt.Errorf("the text at %s belongs to another place", k.Pointer)
			}
			if e.Texts[k.Pointer], err = text.Open(k.Key); err != nil {
				return fmt.Errorf("the text at %s: %w", k.Pointer, err)
			}
			return nil
		}
	}
	return fmt.Errorf("there is no sealed text at %s", k.Pointer)
}
