package sagas

import (
	"cmp"
	"context"
	"errors"

	"hostpanel/domain"
)

// Effects happen at most once (docs/sagas.md, "Effects"). The runner records the
// intent, makes the call, and records the completion. An intent without completion
// leads to a look-up before any further call.

// Unanswered is the code of an effect with an unknown outcome that cannot be looked
// up.
const Unanswered = "unanswered"

// doEffect makes one attempt at an effect.
func (s *executor) doEffect(ctx context.Context, c claimed, step step) (attemptResult, error) {
	key := step.effect.key(c.in)
	known, err := s.ledger.Effect(ctx, key)
	if err != nil {
		return attemptResult{}, err
	}
	call, err := step.effect.prepare(ctx, c.in)
	if err != nil {
		return attemptResult{}, err
	}
	if call.Do == nil && call.Under == nil {
		return c.confirmed(call, Result{}, false), nil
	}
	if known.State == EffectConfirmed || known.State == EffectSkipped {
		return c.confirmed(call, known.Result, true), nil
	}
	if known.State != "" || c.restored || c.looksFirst || call.Under != nil {
		if err := s.settle(ctx, c); err != nil { // what comes first looks, or needs the work row as it is
			return attemptResult{}, err
		}
	}
	if known, err = s.recovered(ctx, c, step, call, key, known); err != nil {
		return attemptResult{}, err
	}
	if known.State != "" && (call.Lookup != nil || !call.Repeatable) {
		r, found, err := s.lookBefore(ctx, c, step, call, known)
		if err != nil {
			return attemptResult{}, err
		}
		if found && !call.Repeatable {
			return s.adopted(c, call, key, r), nil
		}
	}
	if c.restored && call.Free != nil {
		if err := s.limited(ctx, c, step, call.Free); err != nil {
			return attemptResult{}, err
		}
	}
	if call, err = s.ledger.withGeneration(ctx, c, key, call); err != nil {
		return attemptResult{}, err
	}
	return s.send(ctx, c, step, call, key)
}

// lookBefore looks up the result of an earlier attempt. Not found without an error
// means that the effect was certainly not done.
func (s *executor) lookBefore(ctx context.Context, c claimed, step step, call Call, known LedgerEntry) (Result, bool, error) {
	if call.Lookup == nil {
		return Result{}, false, s.resendable(step, known)
	}
	r, found, err := s.lookUp(ctx, c, step, call)
	switch {
	case err != nil:
		return Result{}, false, err
	case found == Yes:
		return r, true, nil
	case found == Maybe:
		return Result{}, false, TooEarly("undecided", s.times.Floor)
	}
	if quarantine := step.policy.Quarantine; known.MayHaveHappened() && known.Age < quarantine {
		return Result{}, false, TooEarly("quarantine", quarantine-known.Age)
	}
	return Result{}, false, nil
}

// resendable allows a repeat of an effect that cannot be looked up, such as a mail:
// up to the policy's number of sends, and after the quarantine.
func (s *executor) resendable(step step, known LedgerEntry) error {
	if known.Sends == 0 {
		return nil
	}
	if known.Sends >= step.policy.Sends {
		return domain.Fail(domain.Permanent, Unanswered, errors.New("it may have been done, and no look-up can tell"))
	}
	if quarantine := step.policy.Quarantine; known.Age < quarantine {
		return TooEarly(Unanswered, quarantine-known.Age)
	}
	return nil
}

func (s *executor) lookUp(ctx context.Context, c claimed, step step, call Call) (Result, Found, error) {
	var r Result
	found := No
	err := s.limited(ctx, c, step, func(ctx context.Context) (err error) {
		r, found, err = call.Lookup(ctx)
		return err
	})
	if err != nil {
		return Result{}, No, err
	}
	return r, found, nil
}

// limited makes an outside call with a timeout that fits into the lease. The time begins
// before the lease is checked. The queue has let the run in by then.
func (s *executor) limited(ctx context.Context, c claimed, step step, do func(context.Context) error) error {
	if c.todo != nil && c.todo.enters != "" {
		if err := s.settle(ctx, c); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, s.times.call(step))
	defer cancel()
	if err := s.ensureLease(ctx, c, s.times.call(step)); err != nil {
		return err
	}
	if err := do(limited); err != nil {
		return s.timedOut(ctx, limited, err)
	}
	return nil
}

// send makes the call of the effect, between its intent and its completion. The time of
// the call begins before the intent, which checks that it fits into the lease: a worker
// that was held up in between makes no call.
func (s *executor) send(ctx context.Context, c claimed, step step, call Call, key string) (attemptResult, error) {
	if err := s.ensureLease(ctx, c, s.times.call(step)); err != nil {
		return attemptResult{}, err
	}
	if err := s.faultAt(BeforeIntent, c); err != nil {
		return attemptResult{}, err
	}
	limited, cancel := context.WithTimeout(ctx, s.times.call(step))
	defer cancel()
	if err := s.intend(ctx, c, step, key, call); err != nil {
		return attemptResult{}, err
	}
	if err := s.faultAt(AfterIntent, c); err != nil {
		return attemptResult{}, err
	}
	r, err := s.do(ctx, limited, c, call)
	if err == nil {
		e := s.adopted(c, call, key, r)
		e.command = c.completed(r, false)
		return e, nil
	}
	if errors.Is(err, ErrKilled) || errors.Is(err, ErrFenced) || errors.Is(err, errStopping) {
		return attemptResult{}, err
	}
	return s.failedCall(ctx, c, step, call, key, err)
}

func (s *executor) do(ctx, limited context.Context, c claimed, call Call) (Result, error) {
	if err := s.faultAt(Sent, c); err != nil {
		return Result{}, err
	}
	if err := limited.Err(); err != nil {
		return Result{}, cmp.Or(context.Cause(ctx), domain.Fail(domain.Transient, "held_up", err))
	}
	r, err := call.Do(limited)
	if err != nil {
		return Result{}, s.timedOut(ctx, limited, err)
	}
	return r, s.faultAt(Answered, c)
}

// failedCall records how a call failed. After the last attempt it looks the effect
// up once more.
func (s *executor) failedCall(ctx context.Context, c claimed, step step, call Call, key string, failure error) (attemptResult, error) {
	class, _ := Classify(failure)
	if err := s.ledger.noteFailure(ctx, c, key, class); err != nil {
		return attemptResult{}, errors.Join(failure, err)
	}
	if CodeOf(failure) == StoredError {
		if err := s.ledger.abandonKey(ctx, c, key); err != nil {
			return attemptResult{}, errors.Join(failure, err)
		}
	}
	if call.Lookup == nil {
		if class == domain.Unknown && step.policy.Sends == 1 { // the policy allows no repeat
			return attemptResult{}, domain.Fail(domain.Permanent, Unanswered, failure)
		}
		return attemptResult{}, failure
	}
	if class == domain.Permanent || call.Repeatable || !step.policy.usedUp(c) {
		return attemptResult{}, failure
	}
	if r, found, err := s.lookUp(ctx, c, step, call); err == nil && found == Yes {
		return s.adopted(c, call, key, r), nil
	}
	return attemptResult{}, failure
}

// adopted completes the step with an existing object.
func (s *executor) adopted(c claimed, call Call, key string, r Result) attemptResult {
	e := c.confirmed(call, r, true)
	e.work.Rows = append(e.work.Rows, confirmedRow(key, c, r))
	return e
}

// confirmed completes the step with what is known of its object.
func (c claimed) confirmed(call Call, r Result, found bool) attemptResult {
	var work Work
	if call.Confirmed != nil {
		work = call.Confirmed(r)
	}
	return attemptResult{command: c.completed(r, found), work: work, counted: true, outside: true}
}
