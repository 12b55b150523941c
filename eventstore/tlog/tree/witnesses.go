package tree

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/witness"
)

// A WitnessState is what a witness has cosigned last, and whether it does.
type WitnessState struct {
	Name    string // in the policy
	VKey    string
	Size    int64     // events in the last tree that it has cosigned
	AskedAt time.Time // zero: it was not asked yet
	Trouble string    // blank: its last answer was a cosignature

	checkpoint, cosignature string
}

// Witnesses are the witnesses of the policy of an origin, in its order.
func (t *Tree) Witnesses(ctx context.Context, o Origin) ([]WitnessState, error) {
	policy, err := tlog.ParsePolicy(o.AcceptedBy())
	if err != nil {
		return nil, err
	}
	kept := map[string]WitnessState{}
	rows, _ := t.db.Query(
		ctx, `select vkey, size, asked_at, trouble, checkpoint, cosignature from log_witnesses where origin = $1`,
		o.Number,
	)
	var w WitnessState
	_, err = pgx.ForEachRow(rows, []any{&w.VKey, &w.Size, &w.AskedAt, &w.Trouble, &w.checkpoint, &w.cosignature}, func() error {
		kept[w.VKey] = w
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what witnesses have cosigned: %w", err)
	}
	all := make([]WitnessState, len(policy.Witnesses))
	for i, named := range policy.Witnesses {
		all[i] = kept[named.Key.VKey()]
		all[i].Name, all[i].VKey = named.Name, named.Key.VKey()
	}
	return all, nil
}

// RunWitnesses asks the witnesses in each interval, until ctx ends.
func (s *Sealer) RunWitnesses(ctx context.Context, log *slog.Logger, every time.Duration) {
	for s.policy != "" && ctx.Err() == nil {
		if err := s.Publish(ctx, log); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "the witnesses of the log are not asked", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(every):
		}
	}
}

// Publish asks each witness of the policy to cosign the last checkpoint. The checkpoint
// is published if the quorum has. One process asks at a time: a lock on a connection,
// without a transaction, lets it.
func (s *Sealer) Publish(ctx context.Context, log *slog.Logger) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("ask the witnesses: %w", err)
	}
	defer conn.Release()
	var mine bool
	if err := conn.QueryRow(
		ctx,
		`select case when in_recovery() then false else pg_try_advisory_lock(hashtext('hostpanel witnesses')) end`,
	).Scan(&mine); err != nil || !mine {
		return err
	}
	defer unlock(ctx, conn)
	o, err := s.Current(ctx)
	if err == nil {
		err = s.publish(ctx, log, o)
	}
	if errors.Is(err, ErrNone) {
		return nil
	}
	return err
}

// unlock lets another process ask. A connection that cannot say so is closed, which
// unlocks too.
func unlock(ctx context.Context, conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, `select pg_advisory_unlock(hashtext('hostpanel witnesses'))`); err != nil {
		_ = conn.Conn().Close(ctx)
	}
}

func (s *Sealer) publish(ctx context.Context, log *slog.Logger, o Origin) error {
	o.Policy = s.policy // which a seal notes later
	policy, err := tlog.ParsePolicy(o.AcceptedBy())
	if err != nil {
		return err
	}
	c, err := o.Signed()
	if err != nil {
		return err
	}
	states, err := s.Witnesses(ctx, o)
	if err != nil {
		return err
	}
	var asking sync.WaitGroup
	for i := range states {
		asking.Go(func() { s.ask(ctx, o, c, policy.Witnesses[i], &states[i]) })
	}
	asking.Wait()
	if err := ctx.Err(); err != nil {
		return err // what was cut short is no trouble of a witness
	}
	text := o.Checkpoint
	for _, w := range states {
		if w.Trouble != "" {
			log.WarnContext(ctx, "a witness does not cosign the log", "witness", w.Name, "trouble", w.Trouble)
		}
		if w.checkpoint == o.Checkpoint {
			text += w.cosignature
		}
	}
	return s.keepRound(ctx, o, states, text, policy.Witnessed(text))
}

// ask asks one witness, a second time if it has cosigned another tree than we know.
func (s *Sealer) ask(ctx context.Context, o Origin, c tlog.Checkpoint, of tlog.PolicyWitness, w *WitnessState) {
	line, err := s.submit(ctx, o, c, of, min(w.Size, c.Size))
	var conflict *witness.Conflict
	if errors.As(err, &conflict) && conflict.Size <= c.Size {
		line, err = s.submit(ctx, o, c, of, conflict.Size)
	}
	switch {
	case err == nil:
		w.Size, w.Trouble, w.checkpoint, w.cosignature = c.Size, "", o.Checkpoint, line
	case errors.As(err, &conflict) && conflict.Size > c.Size:
		w.Trouble = fmt.Sprintf("it has cosigned a tree of %d events, and the log has %d: its end was cut off", conflict.Size, c.Size)
	default:
		w.Trouble = err.Error()
	}
}

func (s *Sealer) submit(ctx context.Context, o Origin, c tlog.Checkpoint, of tlog.PolicyWitness, old int64) (string, error) {
	proof, err := s.Of(ctx, o.Number, c).Consistency(old)
	if err != nil {
		return "", fmt.Errorf("prove that the log has grown: %w", err)
	}
	return s.witnesses.Add(ctx, of, tlog.Submission{Old: old, Proof: proof, Checkpoint: o.Checkpoint})
}

// keepRound keeps the answers, and publishes the checkpoint that a quorum has cosigned.
func (s *Sealer) keepRound(ctx context.Context, o Origin, states []WitnessState, text string, published bool) error {
	b := &pgx.Batch{}
	for _, w := range states {
		b.Queue(`insert into log_witnesses (origin, vkey, size, trouble, checkpoint, cosignature) values ($1, $2, $3, $4, $5, $6)
			on conflict (origin, vkey) do update set size = excluded.size, asked_at = excluded.asked_at, trouble = excluded.trouble,
				checkpoint = excluded.checkpoint,
					cosignature = excluded.cosignature`, o.Number, w.VKey, w.Size, w.Trouble, w.checkpoint, w.cosignature)
	}
	if published {
		b.Queue(`update log_origins set published = $2, published_size = $3, published_at = real_now() where number = $1
			and published_size <= $3`, o.Number, text, o.Size)
	}
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("keep what witnesses have cosigned: %w", err)
	}
	return nil
}
