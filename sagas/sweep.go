package sagas

import (
	"context"
	"fmt"

	"hostpanel/eventstore/clock"
)

// A chore is done in each round of the janitor.
type chore struct {
	failed string // what is logged when it fails
	do     func(context.Context) error
}

// EachRound adds a chore: it is done in each round of the janitor of each
// process. Failed is what is logged when it fails.
func (s *Runner) EachRound(failed string, do func(context.Context) error) {
	s.chores = append(s.chores, chore{failed, do})
}

// janitor does the chores, round after round, until ctx ends.
func (s *Runner) janitor(ctx context.Context) {
	for advanced := s.store.Clock().Moved(); ctx.Err() == nil; {
		clock.Pausing(ctx, Jittered(s.times.Sweep), advanced)
		advanced = s.store.Clock().Moved() // before the chores: an advance during them counts
		for _, chore := range s.chores {
			if ctx.Err() != nil {
				return
			}
			if err := chore.do(ctx); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, chore.failed, "error", err)
			}
		}
	}
}

func (s *Runner) sweepAttempts(ctx context.Context) error {
	return s.Sweep(ctx, "attempts", `
		delete from saga_attempt where (saga_id, token, step) in (select a.saga_id, a.token, a.step from saga_attempt a
			join saga_run r on r.id = a.saga_id and r.status in ('done', 'undone')
				where a.started_at < business_now() - $1::interval limit 1000)`, s.times.Keep)
}

// Sweep carries out one bounded deletion, in one process at a time: the others
// skip it.
func (s *Runner) Sweep(ctx context.Context, what, sql string, args ...any) error {
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return SQLError(err, "sweep %s", what)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	var mine bool
	if err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock(hashtext('hostpanel sweep ' || $1))`, what).Scan(&mine); err != nil ||
		!mine {
		return SQLError(err, "sweep %s", what)
	}
	if _, err := tx.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("sweep %s: %w", what, err)
	}
	return SQLError(tx.Commit(ctx), "sweep %s", what)
}
