package tree

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/witness"
)

// What is known outside of the database, and the log is held against.
var (
	ErrUnlike  = errors.New("the log is not the one that is known outside")
	ErrForeign = errors.New("the checkpoint is not signed by this log")
	ErrFormer  = errors.New("the checkpoint is of a former origin: the log has begun anew since")
)

// Holds checks that the log begins with what a checkpoint covers that was kept outside.
// [ErrShorter], [ErrUnlike]: it does not. [ErrFormer], [ErrForeign]: it cannot be told.
func (s *Sealer) Holds(ctx context.Context, checkpoint string) error {
	origins, err := s.Origins(ctx)
	if err != nil {
		return err
	}
	for i, o := range origins {
		c, err := tlog.OpenCheckpoint(checkpoint, o.VKey)
		switch {
		case err != nil:
			continue
		case i < len(origins)-1:
			return ErrFormer
		}
		return s.holds(ctx, o, c)
	}
	return ErrForeign
}

func (s *Sealer) holds(ctx context.Context, o Origin, c tlog.Checkpoint) error {
	return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		root, err := rootAt(ctx, tx, o, c.Size)
		if err == nil && root != c.Root {
			err = ErrUnlike
		}
		return err
	})
}

// rootAt is the root of the first events: by the tiles as far as they are sealed, and by
// the events behind.
func rootAt(ctx context.Context, tx pgx.Tx, o Origin, size int64) (tlog.Hash, error) {
	if size <= o.Size {
		signed, err := o.Signed()
		if err != nil {
			return tlog.Hash{}, err
		}
		return In(tx).Of(ctx, o.Number, signed).RootAt(size)
	}
	edge, leaves, err := next(ctx, tx, o)
	for ; err == nil; leaves, err = leavesOf(ctx, tx, edge.Size()+1, sealAtOnce) {
		if len(leaves) == 0 {
			return tlog.Hash{}, ErrShorter
		}
		for _, l := range leaves {
			if edge.Add(l.Hash()); edge.Size() == size {
				return edge.Root()
			}
		}
	}
	return tlog.Hash{}, err
}

// An Answer is what a witness says to the checkpoint of the log.
type Answer struct {
	Witness string // its name in the policy
	Err     error  // nil: the log has all that the witness has cosigned
}

// Denied tells whether the witness has cosigned what the log does not have.
func (a Answer) Denied() bool { return errors.Is(a.Err, ErrShorter) || errors.Is(a.Err, ErrUnlike) }

// Silent tells whether the witness has not answered.
func (a Answer) Silent() bool {
	return a.Err != nil && !a.Denied() && !errors.Is(a.Err, witness.ErrUnknown) && !errors.Is(a.Err, witness.ErrUnsigned)
}

// Ask holds the log against what each witness of the policy has cosigned. It writes
// nothing. A log without a checkpoint is held against nothing.
func (s *Sealer) Ask(ctx context.Context) ([]Answer, error) {
	o, err := s.Current(ctx)
	if errors.Is(err, ErrNone) || err == nil && (s.policy == "" || o.Checkpoint == "") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	o.Policy = s.policy
	policy, err := tlog.ParsePolicy(o.AcceptedBy())
	if err != nil {
		return nil, err
	}
	var asking sync.WaitGroup
	answers := make([]Answer, len(policy.Witnesses))
	for i, of := range policy.Witnesses {
		asking.Go(func() { answers[i] = Answer{of.Name, s.heldBy(ctx, of)} })
	}
	asking.Wait()
	return answers, ctx.Err()
}

// triesToAsk bounds how often a witness is asked, while other processes go on sealing.
const triesToAsk = 5

// heldBy submits the last checkpoint to a witness. One that has cosigned another size
// says so, and gets the proof from there on.
func (s *Sealer) heldBy(ctx context.Context, of tlog.PolicyWitness) error {
	var known int64 = -1 // that the witness has cosigned; -1: it has not told
	for range triesToAsk {
		o, err := s.Current(ctx)
		if err != nil {
			return err
		}
		c, err := o.Signed()
		if err != nil {
			return err
		}
		if known > c.Size {
			return fmt.Errorf("%w: %d events are cosigned, and %d are sealed", ErrShorter, known, c.Size)
		}
		old := known
		if old < 0 {
			old = c.Size
		}
		_, err = s.submit(ctx, o, c, of, old)
		var conflict *witness.Conflict
		switch {
		case errors.As(err, &conflict) && conflict.Size != old:
			known = conflict.Size
		case errors.As(err, &conflict), errors.Is(err, witness.ErrProof):
			return ErrUnlike
		default:
			return err
		}
	}
	return errors.New("the witness answers with ever other sizes")
}
