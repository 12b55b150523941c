package eventstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
)

// The tree over all events covers what chains do not: the order of streams, times and
// the end of the log (docs/log.md, "Transparency log"). Its tiles say which event
// differs, as far as they lead to the root of a signed checkpoint.

// A seal is a checkpoint that the log is compared with.
type seal struct {
	tlog.Checkpoint
	origin int
	text   string // signed
	what   string
}

// seals are the checkpoints that a check has at hand.
type seals struct {
	stored  *seal    // the one in the database; nil: there is none that can be trusted
	outside *seal    // the one that was kept outside; nil: none is at hand
	trouble []Broken // what is wrong with them
	before  *seal    // up to here the log was verified; nil: it was not
	at      time.Time
}

const (
	rootDiffers  = "the events are not those that %s signed"
	leafDiffers  = "it is not the event, or not at the time or place, that %s signed"
	tilesDiffer  = "%s, and the tiles of the tree were changed as well: the event cannot be named more exactly"
	tileWrong    = "a tile of the tree is not that of the events"
	longerThan   = endMissing + ": %s covers %d events"
	storedCalled = "the checkpoint in the database"
)

// all are the seals in the order of their sizes.
func (s seals) all() (all []seal) {
	for _, one := range []*seal{s.outside, s.stored} {
		if one != nil {
			all = append(all, *one)
		}
	}
	return all
}

// sealsFor reads the checkpoints of a check.
func (r *Reader) sealsFor(ctx context.Context, c Check) (s seals, err error) {
	origins, err := r.tree().Origins(ctx)
	if err != nil {
		return s, err
	}
	stored, trouble, err := storedSeal(ctx, r.tree())
	if err != nil {
		return s, err
	}
	if s.stored = stored; trouble != nil {
		s.trouble = append(s.trouble, *trouble)
	}
	if c.Checkpoint != "" {
		s.outside = s.open(origins, c.Checkpoint)
	}
	if c.OnlyNew {
		err = s.readBefore(ctx, r, origins)
	}
	return s, err
}

// storedSeal is the checkpoint in the database, or what is wrong with it. Neither:
// nothing is sealed yet.
func storedSeal(ctx context.Context, t *tree.Tree) (*seal, *Broken, error) {
	o, err := t.Current(ctx)
	if errors.Is(err, tree.ErrNone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	switch signed, err := o.Signed(); {
	case errors.Is(err, tree.ErrNone):
		return nil, nil, nil
	case err != nil:
		return nil, &Broken{Position: 1, through: o.Size, Reason: storedCalled + " is not as it was signed"}, nil
	default:
		return &seal{signed, o.Number, o.Checkpoint, storedCalled}, nil, nil
	}
}

func (r *Reader) tree() *tree.Tree { return tree.Open(r.pool) }

// open reads a checkpoint that was kept outside.
func (s *seals) open(origins []tree.Origin, text string) *seal {
	name, _, _ := strings.Cut(text, "\n")
	for _, o := range origins {
		if o.Name != name {
			continue
		}
		signed, err := tlog.OpenCheckpoint(text, o.VKey)
		if err == nil {
			return &seal{signed, o.Number, text, "the checkpoint kept outside"}
		}
	}
	s.trouble = append(
		s.trouble,
		Broken{Position: 1, through: -1, Reason: fmt.Sprintf("the checkpoint kept outside is not signed by this log: %q", name)},
	)
	return nil
}

// readBefore reads up to where the log was verified: up to the checkpoint kept outside,
// or else by the last check.
func (s *seals) readBefore(ctx context.Context, r *Reader, origins []tree.Origin) error {
	if s.before = s.outside; s.before != nil {
		return nil
	}
	var text string
	var at *time.Time
	if err := r.pool.QueryRow(ctx, `select checkpoint, compared_at from log_verification`).Scan(&text, &at); err != nil || text == "" {
		return err
	}
	if s.before = (&seals{}).open(origins, text); s.before != nil {
		s.before.what, s.at = "the last verification", value(at)
	}
	return nil
}

// compareSeals finds what the sizes of the checkpoints tell alone.
func (v *verifier) compareSeals() {
	for _, b := range v.seals.trouble {
		if b.through < 0 {
			b.through = v.HeadPosition
		}
		v.broken(&b)
	}
	for _, s := range v.seals.all() {
		if s.Size > v.HeadPosition {
			v.broken(&Broken{Position: v.HeadPosition + 1, Reason: fmt.Sprintf(longerThan, s.what, s.Size)})
		}
	}
	if v.seals.stored != nil {
		v.Sealed = v.seals.stored.Size
	}
}

// grow adds an event to the tree, and compares the root with the checkpoints of that
// size later.
func (v *verifier) grow(e *chainEvent) {
	v.gap = v.gap || e.position != v.last.position+1
	if v.gap {
		return
	}
	v.edge.Add(e.leaf)
	if s := v.seals.stored; s != nil && s.Size == e.position && v.full != nil {
		maps.Copy(v.full, v.edge.Tiles())
	}
	for _, s := range v.seals.all() {
		if s.Size == e.position {
			if root, err := v.edge.Root(); err != nil || root != s.Root {
				v.differing = append(v.differing, s)
			}
		}
	}
}

// compareTiles compares the tiles that have become full with those that are stored.
func (v *verifier) compareTiles(ctx context.Context) error {
	if v.seals.stored == nil || len(v.full) == 0 {
		clear(v.full)
		return nil
	}
	var paths []tlog.TilePath
	for id, data := range v.full {
		if width := len(data) / len(tlog.Hash{}); id.WidthAt(v.seals.stored.Size) == width {
			paths = append(paths, tlog.TilePath{TileID: id, Width: width})
		}
	}
	stored, err := v.reader.tree().Tiles(ctx, v.seals.stored.origin, paths)
	for i, p := range paths {
		if data := v.full[p.TileID]; err == nil && !bytes.HasPrefix(stored[i], data) {
			v.tile(p, stored[i], data)
		}
	}
	clear(v.full)
	return err
}

// tile keeps the first tile that differs. It counts if no event is to blame.
func (v *verifier) tile(p tlog.TilePath, stored, computed []byte) {
	same := 0
	for same < len(stored) && stored[same] == computed[same] {
		same++
	}
	below := int64(1) << (tlog.TileHeight * p.Level) // events below a hash
	first := (p.Number*tlog.TileWidth+int64(same/len(tlog.Hash{})))*below + 1
	if v.wrongTile == nil || first < v.wrongTile.Position {
		v.wrongTile = &Broken{Position: first, through: first + below - 1, Reason: tileWrong}
	}
}

// compareRoots names the first event that is not the one of a checkpoint.
func (v *verifier) compareRoots(ctx context.Context) error {
	for _, s := range v.seals.all() {
		if s.Size > v.HeadPosition { // its root cannot be computed
			v.differing = append(v.differing, s)
		}
	}
	for _, s := range v.differing {
		b, err := v.reader.locate(ctx, s, min(s.Size, v.HeadPosition))
		if err != nil {
			return err
		}
		v.broken(b)
	}
	if len(v.differing) == 0 && !v.gap {
		v.broken(v.wrongTile)
	}
	return nil
}

// locate finds the first event, up to a position, that is not the one of a checkpoint.
func (r *Reader) locate(ctx context.Context, s seal, until int64) (*Broken, error) {
	const part = 4 * tlog.TileWidth
	for after := int64(0); after < until; after += part {
		b, err := r.compareLeaves(ctx, r.tree(), s, after, min(after+part, until))
		if b != nil || err != nil {
			return b, err
		}
	}
	return nil, nil
}

// compareLeaves compares the events behind a position, up to another one, with what the
// tree of a checkpoint holds of them.
func (r *Reader) compareLeaves(ctx context.Context, t *tree.Tree, s seal, after, until int64) (*Broken, error) {
	leaves, err := t.Leaves(ctx, after+1, int(until-after))
	if err != nil {
		return nil, err
	}
	indexes := make([]int64, until-after)
	for i := range indexes {
		indexes[i] = after + int64(i)
	}
	signed, err := t.Of(ctx, s.origin, s.Checkpoint).Leaves(indexes...)
	if errors.Is(err, tlog.ErrTile) {
		return &Broken{
			Position: after + 1, through: max(until, s.Size),
			Reason: fmt.Sprintf(tilesDiffer, fmt.Sprintf(rootDiffers, s.what)),
		}, nil
	}
	if err != nil {
		return nil, err
	}
	for i, h := range signed {
		if i >= len(leaves) || leaves[i].Hash() != h {
			return r.differs(ctx, after+int64(i)+1, s)
		}
	}
	return nil, nil
}

// differs is the finding about an event that is not the one of a checkpoint.
func (r *Reader) differs(ctx context.Context, position int64, s seal) (*Broken, error) {
	stream, err := r.StreamAt(ctx, position)
	name := ""
	if stream != (domain.Stream{}) {
		name = stream.String()
	}
	return &Broken{Position: position, Stream: name, Reason: fmt.Sprintf(leafDiffers, s.what)}, err
}

// cover says what a check of the whole log could not cover.
func (v *verifier) cover() {
	switch {
	case v.seals.stored == nil && v.seals.outside == nil:
		v.leave("nothing is sealed: times, the order of streams and the end of the log")
	case v.Sealed < v.HeadPosition:
		v.leave(fmt.Sprintf("events %d to %d are not sealed yet: their times, their order and their end", v.Sealed+1, v.HeadPosition))
	}
	if v.seals.outside == nil {
		v.leave("no checkpoint from outside is at hand: whether a holder of the keys has rewritten the log")
	}
}

func (v *verifier) leave(what string) { v.Uncovered = append(v.Uncovered, what) }

// keep notes the checkpoint up to which the log is verified now.
func (v *verifier) keep(ctx context.Context) error {
	if !v.Intact || v.seals.stored == nil || v.asked.Stream != (domain.Stream{}) {
		return nil
	}
	_, err := v.reader.pool.Exec(ctx, `
		update log_verification set origin = $1, checkpoint = $2, compared_at = real_now()`, v.seals.stored.Origin, v.seals.stored.text)
	if err != nil {
		return fmt.Errorf("keep up to where the log is verified: %w", Unavailable(err))
	}
	return nil
}
