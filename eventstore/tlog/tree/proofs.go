package tree

import (
	"context"
	"fmt"
	"slices"

	"hostpanel/eventstore/tlog"
)

// Proofs proves that events are in the log, one or more, all by the checkpoint that covers
// them ([Origin.Covering]). [ErrNone]: an event is not sealed yet.
func (t *Tree) Proofs(ctx context.Context, positions []int64) (proofs []tlog.Proof, o Origin, err error) {
	if o, err = t.Current(ctx); err != nil {
		return nil, o, err
	}
	first, last := slices.Min(positions), slices.Max(positions)
	if first < 1 || last > o.Size {
		return nil, o, ErrNone
	}
	by, _ := o.Covering(last)
	c, err := tlog.OpenCheckpoint(by.Text, o.VKey)
	if err != nil {
		return nil, o, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	of := t.Of(ctx, o.Number, c)
	for _, p := range positions {
		hashes, err := of.Inclusion(p - 1)
		if err != nil {
			return nil, o, err
		}
		proofs = append(proofs, tlog.Proof{Index: p - 1, Hashes: hashes, Checkpoint: by.Text})
	}
	return proofs, o, nil
}
