package tree

import (
	"context"
	"fmt"

	"hostpanel/eventstore/tlog"
)

// Proofs proves that events are in the log, all by one checkpoint: the last one that the
// quorum has cosigned, or the last one if an event is newer. [ErrNone]: an event is not
// sealed yet.
func (t *Tree) Proofs(ctx context.Context, positions []int64) (proofs []tlog.Proof, o Origin, err error) {
	if o, err = t.Current(ctx); err != nil {
		return nil, o, err
	}
	text := o.Published.Text
	for _, p := range positions {
		switch {
		case p < 1 || p > o.Size:
			return nil, o, ErrNone
		case p > o.Published.Size:
			text = o.Checkpoint
		}
	}
	c, err := tlog.OpenCheckpoint(text, o.VKey)
	if err != nil {
		return nil, o, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	of := t.Of(ctx, o.Number, c)
	for _, p := range positions {
		hashes, err := of.Inclusion(p - 1)
		if err != nil {
			return nil, o, err
		}
		proofs = append(proofs, tlog.Proof{Index: p - 1, Hashes: hashes, Checkpoint: text})
	}
	return proofs, o, nil
}
