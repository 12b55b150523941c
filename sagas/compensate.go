package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
)

// compensateStep undoes the step that a compensating run stands at. A step that has
// changed nothing, or that cannot be taken back, is passed.
func (s *executor) compensateStep(ctx context.Context, c claimed, step step) (attemptResult, error) {
	switch {
	case step.effect != nil && !step.effect.lasting:
		return s.undoEffect(ctx, c, step)
	case step.local != nil && step.local.undo != nil:
		return s.doLocal(ctx, c, step.local.undo)
	}
	return attemptResult{command: Complete{Key: c.Key, Step: c.Step}}, nil
}

// undoEffect runs the protocol of effects backwards: whatever the ledger says
// may exist is looked for and removed, again and again until it is gone.
func (s *executor) undoEffect(ctx context.Context, c claimed, step step) (attemptResult, error) {
	key := step.effect.key(c.in)
	known, err := s.ledger.Effect(ctx, key)
	if err != nil {
		return attemptResult{}, err
	}
	gone := attemptResult{command: Complete{Key: c.Key, Step: c.Step}, counted: true}
	if known.State == "" || known.State == EffectUndone {
		return gone, nil // nothing was done
	}
	call, err := step.effect.prepare(ctx, c.in)
	if err != nil || call.Undo == nil {
		return gone, err
	}
	gone.work.Rows, gone.outside = append(gone.work.Rows, undoneRow(key, c), FreeClaims(call.Claim.Owner, Claim{})), true
	if err := s.markUndoing(ctx, c, key); err != nil {
		return attemptResult{}, err
	}
	r, found := known.Result, Yes
	if r.External == "" {
		r, found, err = s.lookUp(ctx, c, step, call)
		if RefusedAs(err, "name_taken") { // what is another's was never made by the step
			found, err = No, nil
		}
		if err != nil {
			return attemptResult{}, err
		}
	}
	switch {
	case found == Maybe:
		return attemptResult{}, TooEarly("undecided", s.times.Floor)
	case found == No && known.MayHaveHappened() && known.Age < step.policy.Quarantine:
		return attemptResult{}, TooEarly("quarantine", step.policy.Quarantine-known.Age)
	case found == No:
		return gone, nil
	}
	return gone, s.undo(ctx, c, step, call, r)
}

func (s *executor) undo(ctx context.Context, c claimed, step step, call Call, r Result) error {
	err := s.limited(ctx, c, step, func(ctx context.Context) error {
		if err := s.faultAt(Sent, c); err != nil {
			return err
		}
		return call.Undo(ctx, r)
	})
	if err != nil {
		return err
	}
	return s.faultAt(Answered, c)
}

// markUndoing is the intent of an undo.
func (s *executor) markUndoing(ctx context.Context, c claimed, key string) error {
	if err := s.faultAt(BeforeIntent, c); err != nil {
		return err
	}
	var fence, effect int
	err := c.hold.write(func() error {
		return s.pool.QueryRow(ctx, `
			with fence as (
				select id from saga_run where id = $1 and lease_token = $2 and status = 'running' and step = $3 for no key update
			), effect as (
				update effect set state = 'undoing', token = $2, updated_at = real_now()
				where key = $4 and token <= $2 and exists (select from fence) returning 1
			), attempt as (
				insert into saga_attempt (saga_id, token, step) select id, $2, $3 from fence on conflict do nothing
			)
			select (select count(*) from fence), (select count(*) from effect)`, c.id, c.token, c.Step, key).Scan(&fence, &effect)
	})
	switch {
	case err != nil:
		return SQLError(err, "undo %s", key)
	case fence == 0:
		return ErrFenced
	case effect == 0:
		return domain.Fail(domain.Permanent, "effect_taken", errors.New("the effect belongs to another run"))
	}
	return s.faultAt(AfterIntent, c)
}
