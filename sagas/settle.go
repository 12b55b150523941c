package sagas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// What a failed attempt means (docs/sagas.md, "Errors"). A worker that lost
// its lease, or was killed by a test, writes nothing at all. The answer has a
// hold if the run goes on without the step and this worker with the run.
func (s *Sagas) settle(ctx context.Context, c claimed, step step, err error) (claimed, error) {
	if ctx.Err() != nil { // it tells more than the error of what it ended
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	// What has to be written is written even if the worker has been stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	switch {
	case errors.Is(err, errKilled), errors.Is(err, errFenced), errors.Is(err, errPassed):
		return claimed{}, s.dropFenced(err)
	case errors.Is(err, errStopping):
		return claimed{}, s.release(ctx, c)
	case databaseAway(err):
		return claimed{}, s.putBackHeld(ctx, c, verdict{outcome: "wait", class: "database", text: scrub(err), delay: s.times.Poll})
	}
	class, wait := classify(err)
	if class == domain.Waiting && !c.late() {
		v := verdict{outcome: "wait", class: string(class), text: scrub(err), delay: max(wait, s.times.Floor)}
		if a, is := errors.AsType[*awaiting](err); is {
			v.awaits, v.delay = a.about.String(), cmp.Or(wait, max(step.policy.again(c), s.times.Floor))
		}
		return claimed{}, s.putBackHeld(ctx, c, v)
	}
	if step.outside() && !step.many && domain.CodeOf(err) == "" && (class == domain.Transient || class == domain.Unknown) {
		if err := s.failed(ctx, c.Place().Queue); err != nil {
			return claimed{}, err
		}
	}
	if class == domain.Permanent || step.policy.usedUp(c) {
		next, err := s.giveUp(ctx, c, step, class, err)
		return next, s.dropFenced(err)
	}
	delay := max(wait, backOff(max(s.times.Floor, step.policy.Least), step.policy.Base, step.policy.Cap, c.attempt))
	if err := s.tellFailed(ctx, c, step, lapse{code: codeOf(err), cause: err, next: s.now().Add(delay)}); err != nil {
		return claimed{}, s.dropFenced(err)
	}
	return claimed{}, s.putBackHeld(ctx, c, verdict{outcome: "retry", class: string(class), text: scrub(err), delay: delay, counts: true})
}

// tellFailed says of an attempt that will be made again that it came to
// nothing, where somebody wants to hear of it.
func (s *Sagas) tellFailed(ctx context.Context, c claimed, step step, l lapse) error {
	if step.effect == nil || step.effect.failed == nil || c.Direction == Undo {
		return nil
	}
	commands := step.effect.failed(c.Job, l)
	if len(commands) == 0 {
		return nil
	}
	return s.append(ctx, c, s.cause(c, "failed"), []eventstore.Row{held(c)}, commands)
}

// classify tells how an error is treated. Our own refusals may vanish when
// what they depend on changes, so they are tried again a few times.
func classify(err error) (domain.Class, time.Duration) {
	var f *domain.Failure
	switch {
	case errors.As(err, &f):
		return f.Class, f.RetryAfter
	case domain.CodeOf(err) != "":
		return domain.Transient, 0
	}
	return domain.Unknown, 0
}

// outside tells whether the step can fail because of somebody else.
func (s step) outside() bool { return s.local == nil }

// late tells whether the time for the step is over.
func (c claimed) late() bool { return c.deadline && c.left <= 0 }

func (p Policy) usedUp(c claimed) bool {
	return c.late() || p.Attempts > 0 && c.attempt >= p.Attempts
}

func (s *Sagas) putBackHeld(ctx context.Context, c claimed, v verdict) error {
	err := c.hold.write(func() error { return s.putBack(ctx, c, v) })
	if errors.Is(err, errFenced) {
		s.fenced.Add(1)
		return nil
	}
	return err
}

// release gives a run back as if it had not been tried.
func (s *Sagas) release(ctx context.Context, c claimed) error {
	return s.putBackHeld(ctx, c, verdict{outcome: "released"})
}

// giveUp ends the attempts at a step: the run goes on without it where the
// step allows that, otherwise it is parked until a person decides.
func (s *Sagas) giveUp(ctx context.Context, c claimed, step step, class domain.Class, cause error) (claimed, error) {
	e := ending{outcome: "parked", class: class, text: scrub(cause)}
	code := codeOf(cause)
	if step.effect != nil && step.policy.Defer && c.Direction == Do {
		e.outcome, e.command = "deferred", Defer{Key: c.Key, Step: c.Step, Code: code}
		e.work = step.effect.deferred(c.Job, lapse{code: code, final: class == domain.Permanent && code != unanswered, cause: cause})
		e.work.Rows = append(e.work.Rows, deferredRow(step.effect.key(c.Job), c))
		next, err := s.finish(ctx, c, e)
		if err != nil {
			return claimed{}, err
		}
		return next, nil
	}
	return claimed{}, s.park(ctx, c, e, code)
}

// park stops a run. If what the run is about cannot be told, because it has
// moved on without the run, the run stops alone.
func (s *Sagas) park(ctx context.Context, c claimed, e ending, code string) error {
	e.command = Park{Key: c.Key, Step: c.Step, Code: code}
	list := s.of(c.Run)
	tell := map[Direction]func(Job, string, string) []domain.Command{Do: list.parked, Undo: list.stuck}[c.Direction]
	if tell != nil {
		e.work.Commands = tell(c.Job, c.Place().Name, code)
	}
	_, err := s.finish(ctx, c, e)
	if domain.CodeOf(err) != "" && !errors.Is(err, errPassed) {
		e.work.Commands = nil
		_, err = s.finish(ctx, c, e)
	}
	if err == nil {
		s.alarm(ctx, "a run is parked", "run", c.id, "key", c.Key, "step", c.Place().Name, "code", code)
	}
	return err
}

// dropFenced counts a worker that had lost its lease, and lets it be.
func (s *Sagas) dropFenced(err error) error {
	if errors.Is(err, errFenced) || errors.Is(err, errPassed) {
		s.fenced.Add(1)
		return nil
	}
	if errors.Is(err, errKilled) {
		return nil
	}
	return err
}

// codeOf is the short, stable name of what went wrong; it is safe to show.
func codeOf(err error) string {
	var f *domain.Failure
	var refused *domain.Error
	switch {
	case errors.As(err, &f) && f.Code != "":
		return f.Code
	case errors.As(err, &refused) && refused.Reason != "":
		return refused.Reason
	case errors.As(err, &refused):
		return string(refused.Code)
	}
	return "internal_error"
}

// What an engine says may quote what it was sent. Addresses and long tokens
// are cut out of it before it is kept.
var (
	addresses = regexp.MustCompile(`[\w.+'-]+@[\w.-]+`)
	tokens    = regexp.MustCompile(`[A-Za-z0-9_/+=-]{40,}`)
)

// scrubbed is how much of an error is kept.
const scrubbed = 1024

func scrub(err error) string {
	text := tokens.ReplaceAllString(addresses.ReplaceAllString(fmt.Sprint(err), "<address>"), "<token>")
	return text[:min(len(text), scrubbed)]
}
