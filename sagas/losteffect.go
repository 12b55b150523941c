package sagas

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// An engine may confirm an object and lose it. The wait for the object misses it
// then, and the run goes back to the step that makes it (docs/sagas.md, "Effects").
// Two look-ups are the proof: that of the wait, after the quarantine, and the one
// before every repeated call.

// ErrAbsent is the answer of a wait that finds nothing to wait for.
var ErrAbsent = errors.New("there is no such object")

// mostLost is how often a run makes anew what was lost before it needs an operator.
const mostLost = 3

// missed decides about a wait that found nothing. It goes back to the earliest step
// whose object is gone: what belongs to that object is gone as well.
func (s *executor) missed(ctx context.Context, c claimed, step step) (attemptResult, error) {
	to, made := s.earliestMissed(ctx, c)
	if to < 0 {
		return attemptResult{}, notReady(c, step)
	}
	key := made.effect.key(c.in)
	known, err := s.ledger.Effect(ctx, key)
	switch {
	case err != nil:
		return attemptResult{}, err
	case known.State != EffectConfirmed && known.State != EffectSkipped:
		return attemptResult{}, notReady(c, step)
	case known.Age < made.policy.Quarantine:
		return attemptResult{}, TooEarly("not_ready", min(step.policy.nextLook(c), made.policy.Quarantine-known.Age))
	}
	run, err := s.runs.RunNamed(ctx, c.Key)
	if err != nil {
		return attemptResult{}, err
	}
	if run.Lost >= mostLost {
		return attemptResult{}, domain.Fail(domain.Permanent, "lost", errors.New("what was made is lost each time"))
	}
	alarm(ctx, s.log, "what was made outside is gone", "run", c.id, "key", c.Key, "step", made.name)
	return attemptResult{
		command: GoBack{Key: c.Key, Step: c.Step, To: to}, work: Work{Rows: []eventstore.TxStatement{lostRow(key)}}, outside: true,
	}, nil
}

// earliestMissed is the first effect of the run whose wait finds nothing, up to the
// present wait; -1: the present wait belongs to no effect. A wait that cannot tell
// misses nothing.
func (s *executor) earliestMissed(ctx context.Context, c claimed) (to int, made step) {
	for i, ref := range c.Steps[:c.Step+1] {
		wait, _ := c.definition.step(ref.Name)
		if wait.of == "" {
			continue
		}
		to = slices.IndexFunc(c.Steps, func(r StepRef) bool { return r.Name == wait.of })
		if to < 0 || i < c.Step && !s.misses(ctx, c, wait) {
			continue
		}
		made, _ = c.definition.step(wait.of)
		return to, made
	}
	return -1, made
}

func (s *executor) misses(ctx context.Context, c claimed, wait step) bool {
	err := s.limited(ctx, c, wait, func(ctx context.Context) error {
		_, _, err := wait.wait(ctx, c.in)
		return err
	})
	return errors.Is(err, ErrAbsent)
}

// notReady lets a wait look again later.
func notReady(c claimed, step step) error {
	return &domain.Failure{Class: domain.Waiting, Code: "not_ready", RetryAfter: step.policy.nextLook(c), Err: errors.New("not yet")}
}

// lostRow records that what an effect had made is gone. It may be asked for
// differently then, for instance for another owner.
func lostRow(key string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "effect/" + key,
		SQL: `update effect set state = 'absent', external_id = null, result = null, request_mac = ''::bytea, updated_at = real_now()
			where key = $1 and state in ('confirmed', 'skipped')`,
		Args: []any{key}, WantRows: 1, ErrIfNot: ErrFenced,
	}
}
