package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
)

// takeBack undoes the step that a turned run stands at. A step that has
// changed nothing, or that cannot be taken back, is passed.
func (s *Sagas) takeBack(ctx context.Context, c claimed, step step) (ending, error) {
	switch {
	case step.effect != nil && !step.effect.lasting:
		return s.undoEffect(ctx, c, step)
	case step.local != nil && step.local.undo != nil:
		return s.doLocal(ctx, c, step.local.undo)
	}
	return ending{command: Complete{Key: c.Key, Step: c.Step}}, nil
}

// undoEffect runs the protocol of effects backwards: whatever the ledger says
// may exist is looked for and removed, again and again until it is gone.
func (s *Sagas) undoEffect(ctx context.Context, c claimed, step step) (ending, error) {
	key := step.effect.key(c.Job)
	known, err := s.entry(ctx, key)
	if err != nil {
		return ending{}, err
	}
	gone := ending{command: Complete{Key: c.Key, Step: c.Step}, counted: true}
	if known.state == "" || known.state == undone {
		return gone, nil // nothing was done
	}
	call, err := step.effect.prepare(ctx, c.Job)
	if err != nil || call.Undo == nil {
		return gone, err
	}
	gone.work.Rows, gone.outside = append(gone.work.Rows, undoneRow(key, c), freeRow(call.Claim.Owner, Claim{})), true
	if err := s.markUndoing(ctx, c, key); err != nil {
		return ending{}, err
	}
	r, found := known.result, Yes
	if r.External == "" {
		if r, found, err = s.lookUp(ctx, c, step, call); err != nil {
			return ending{}, err
		}
	}
	switch {
	case found == Maybe:
		return ending{}, wait("undecided", s.times.Floor)
	case found == No && known.may() && known.age < step.policy.Quarantine:
		return ending{}, wait("quarantine", step.policy.Quarantine-known.age)
	case found == No:
		return gone, nil
	}
	return gone, s.undo(ctx, c, step, call, r)
}

func (s *Sagas) undo(ctx context.Context, c claimed, step step, call Call, r Result) error {
	if err := s.enough(ctx, c, s.call(step)); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, s.call(step))
	defer cancel()
	if err := s.at(sent, c); err != nil {
		return err
	}
	if err := call.Undo(limited, r); err != nil {
		return s.timedOut(ctx, limited, err)
	}
	return s.at(answered, c)
}

// markUndoing is the intent of an undo.
func (s *Sagas) markUndoing(ctx context.Context, c claimed, key string) error {
	if err := s.at(beforeIntent, c); err != nil {
		return err
	}
	var fence, effect int
	err := c.hold.write(func() error {
		return s.pool.QueryRow(ctx, `
			with fence as (
				select id from saga_run where id = $1 and lease_token = $2 and status = 'running' and step = $3 for no key update
			), effect as (
				update effect set state = 'undoing', token = $2, updated_at = now()
				where key = $4 and token <= $2 and exists (select from fence) returning 1
			), attempt as (
				insert into saga_attempt (saga_id, token, step) select id, $2, $3 from fence on conflict do nothing
			)
			select (select count(*) from fence), (select count(*) from effect)`, c.id, c.token, c.Step, key).Scan(&fence, &effect)
	})
	switch {
	case err != nil:
		return sqlError(err, "undo %s", key)
	case fence == 0:
		return errFenced
	case effect == 0:
		return domain.Fail(domain.Permanent, "effect_taken", errors.New("the effect belongs to another run"))
	}
	return s.at(afterIntent, c)
}
