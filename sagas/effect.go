package sagas

import (
	"context"
	"errors"
	"time"

	"hostpanel/domain"
)

// How something outside happens once (docs/sagas.md, "Effects"): write down
// that it will be done, do it, write down that it has been done. Whoever finds
// the first without the last looks before doing anything.

// unanswered is the code of an effect that may have been done, where nobody
// can tell.
const unanswered = "unanswered"

// doEffect makes one attempt at an effect.
func (s *Sagas) doEffect(ctx context.Context, c claimed, step step) (ending, error) {
	key := step.effect.key(c.Job)
	known, err := s.entry(ctx, key)
	if err != nil {
		return ending{}, err
	}
	call, err := step.effect.prepare(ctx, c.Job)
	if err != nil {
		return ending{}, err
	}
	if call.Do == nil && call.Under == nil {
		return c.confirmed(call, Result{}, false), nil
	}
	if known.state == confirmed || known.state == skipped {
		return c.confirmed(call, known.result, true), nil
	}
	if known.state != "" && (call.Lookup != nil || !call.Repeatable) {
		r, found, err := s.lookBefore(ctx, c, step, call, known)
		if err != nil {
			return ending{}, err
		}
		if found && !call.Repeatable {
			return s.adopted(c, call, key, r), nil
		}
	}
	if call, err = s.underKey(ctx, c, key, call); err != nil {
		return ending{}, err
	}
	return s.send(ctx, c, step, call, key)
}

// lookBefore finds out what an earlier attempt has left. No error and not
// found means: it has certainly not been done.
func (s *Sagas) lookBefore(ctx context.Context, c claimed, step step, call Call, known entry) (Result, bool, error) {
	if call.Lookup == nil {
		return Result{}, false, s.blind(step, known)
	}
	r, found, err := s.lookUp(ctx, c, step, call)
	switch {
	case err != nil:
		return Result{}, false, err
	case found == Yes:
		return r, true, nil
	case found == Maybe:
		return Result{}, false, wait("undecided", s.times.Floor)
	}
	if quarantine := step.policy.Quarantine; known.may() && known.age < quarantine {
		return Result{}, false, wait("quarantine", quarantine-known.age)
	}
	return Result{}, false, nil
}

// blind decides about an effect that cannot be looked up, such as a mail:
// it is sent again, but only so often, and not at once.
func (s *Sagas) blind(step step, known entry) error {
	if known.sends == 0 {
		return nil
	}
	if known.sends >= step.policy.Sends {
		return domain.Fail(domain.Permanent, unanswered, errors.New("it may have been done, and nobody can tell"))
	}
	if quarantine := step.policy.Quarantine; known.age < quarantine {
		return wait(unanswered, quarantine-known.age)
	}
	return nil
}

func (s *Sagas) lookUp(ctx context.Context, c claimed, step step, call Call) (Result, Found, error) {
	if err := s.enough(ctx, c, s.call(step)); err != nil {
		return Result{}, No, err
	}
	limited, cancel := context.WithTimeout(ctx, s.call(step))
	defer cancel()
	r, found, err := call.Lookup(limited)
	if err != nil {
		return Result{}, No, s.timedOut(ctx, limited, err)
	}
	return r, found, nil
}

// send does the effect, between its intent and its completion.
func (s *Sagas) send(ctx context.Context, c claimed, step step, call Call, key string) (ending, error) {
	if err := s.enough(ctx, c, s.call(step)); err != nil {
		return ending{}, err
	}
	if err := s.at(beforeIntent, c); err != nil {
		return ending{}, err
	}
	if err := s.intend(ctx, c, step, key, call); err != nil {
		return ending{}, err
	}
	if err := s.at(afterIntent, c); err != nil {
		return ending{}, err
	}
	r, err := s.do(ctx, c, step, call)
	if err == nil {
		e := s.adopted(c, call, key, r)
		e.command = c.completed(e.work, r, false)
		return e, nil
	}
	if errors.Is(err, errKilled) || errors.Is(err, errFenced) || errors.Is(err, errStopping) {
		return ending{}, err
	}
	return s.failedCall(ctx, c, step, call, key, err)
}

func (s *Sagas) do(ctx context.Context, c claimed, step step, call Call) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, s.call(step))
	defer cancel()
	if err := s.at(sent, c); err != nil {
		return Result{}, err
	}
	r, err := call.Do(limited)
	if err != nil {
		return Result{}, s.timedOut(ctx, limited, err)
	}
	return r, s.at(answered, c)
}

// failedCall writes down how a call failed. Before the last attempt is called
// a failure, one more look is taken.
func (s *Sagas) failedCall(ctx context.Context, c claimed, step step, call Call, key string, failure error) (ending, error) {
	class, _ := classify(failure)
	if err := s.note(ctx, c, key, class); err != nil {
		return ending{}, errors.Join(failure, err)
	}
	if codeOf(failure) == storedError {
		if err := s.wornOut(ctx, c, key); err != nil {
			return ending{}, errors.Join(failure, err)
		}
	}
	if call.Lookup == nil {
		if class == domain.Unknown && step.policy.Sends == 1 { // nobody may try again
			return ending{}, domain.Fail(domain.Permanent, unanswered, failure)
		}
		return ending{}, failure
	}
	if class == domain.Permanent || call.Repeatable || !step.policy.usedUp(c) {
		return ending{}, failure
	}
	if r, found, err := s.lookUp(ctx, c, step, call); err == nil && found == Yes {
		return s.adopted(c, call, key, r), nil
	}
	return ending{}, failure
}

// adopted completes the step with an object that is there already.
func (s *Sagas) adopted(c claimed, call Call, key string, r Result) ending {
	e := c.confirmed(call, r, true)
	e.work.Rows = append(e.work.Rows, confirmedRow(key, c, r))
	return e
}

// confirmed completes the step with what is known of its object.
func (c claimed) confirmed(call Call, r Result, found bool) ending {
	var work Work
	if call.Confirmed != nil {
		work = call.Confirmed(r)
	}
	return ending{command: c.completed(work, r, found), work: work, counted: true, outside: true}
}

// wait says that nothing is wrong but that it is too early.
func wait(code string, after time.Duration) error {
	return &domain.Failure{Class: domain.Waiting, Code: code, RetryAfter: after, Err: errors.New("too early")}
}
