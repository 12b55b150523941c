package sagas

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// handleFailure records a failed attempt (docs/sagas.md, "Errors"). A worker that
// lost its lease, or was killed by a test, writes nothing. The result holds a lease
// if the run skips the step and this worker continues the run.
func (s *executor) handleFailure(ctx context.Context, c claimed, step step, err error) (claimed, error) {
	if ctx.Err() != nil { // the reason is more specific than the error of the interrupted call
		err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	// The outcome is written even if the worker has been stopped.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.times.Write)
	defer cancel()
	switch {
	case drops(err):
		return claimed{}, s.dropFenced(err)
	case errors.Is(err, errStopping):
		return claimed{}, s.release(ctx, c)
	case DatabaseAway(err):
		return claimed{}, s.putBackUnlessFenced(
			ctx, c, attemptOutcome{outcome: "wait", class: "database", text: Scrub(err), delay: s.times.Poll},
		)
	}
	if lack := lackOf(err); lack != nil {
		return claimed{}, s.withoutAccess(ctx, c, lack, err)
	}
	if c.late() && c.ahead > 0 {
		tried, unread := s.triesSinceDeadline(ctx, c)
		if unread != nil {
			return claimed{}, unread
		}
		c.deadline = tried >= triesAfterAdvance
	}
	class, wait := Classify(err)
	if class == domain.Waiting && !c.late() {
		return claimed{}, s.putBackUnlessFenced(ctx, c, s.waitOf(c, step, class, wait, err))
	}
	if step.outside() && !step.independent && domain.CodeOf(err) == "" && (class == domain.Transient || class == domain.Unknown) {
		if err := s.failed(ctx, c); err != nil {
			return claimed{}, err
		}
	}
	if class == domain.Permanent || step.policy.usedUp(c) {
		next, err := s.giveUp(ctx, c, step, class, err)
		return next, s.dropFenced(err)
	}
	delay := max(wait, BackOff(max(s.times.Floor, step.policy.Least), step.policy.Base, step.policy.Cap, c.attempt))
	if err := s.reportAttempt(ctx, c, step, FailedAttempt{Code: CodeOf(err), Cause: err, Next: s.now().Add(delay)}); err != nil {
		return claimed{}, s.dropFenced(err)
	}
	return claimed{}, s.putBackUnlessFenced(
		ctx, c, attemptOutcome{outcome: "retry", class: string(class), text: Scrub(err), delay: delay, counts: true},
	)
}

// reportAttempt executes the commands that the effect declares for a failed attempt
// that will be repeated.
func (s *executor) reportAttempt(ctx context.Context, c claimed, step step, l FailedAttempt) error {
	if step.effect == nil || step.effect.failed == nil || c.Direction == DirectionUndo {
		return nil
	}
	commands := step.effect.failed(c.in, l)
	if len(commands) == 0 {
		return nil
	}
	return s.append(ctx, c, s.causeOf(c, "failed"), []eventstore.TxStatement{fenceRow(c)}, commands)
}

// Classify returns the class of an error and its delay. Refusals of our own
// commands are transient, because the state that they depend on may change.
func Classify(err error) (domain.Class, time.Duration) {
	var f *domain.Failure
	switch {
	case errors.As(err, &f):
		return f.Class, f.RetryAfter
	case domain.CodeOf(err) != "":
		return domain.Transient, 0
	}
	return domain.Unknown, 0
}

// outside tells whether the step depends on an outside system.
func (s step) outside() bool { return s.local == nil }

// triesAfterAdvance is how often a step is still tried when an advance of the business clock
// has used up its budget. Outside no time has passed then.
const triesAfterAdvance = 3

// triesSinceDeadline is how often the run's present step was tried after its deadline.
func (s *executor) triesSinceDeadline(ctx context.Context, c claimed) (n int, err error) {
	err = s.pool.QueryRow(ctx, `
		select count(*) from saga_attempt a join saga_run r on r.id = a.saga_id
		where r.id = $1 and a.step = $2 and a.finished_at > r.step_deadline`, c.id, c.Step).Scan(&n)
	return n, SQLError(err, "count the tries of %s", c.Key)
}

// late tells whether the step's deadline has passed.
func (c claimed) late() bool { return c.deadline && c.left <= 0 }

func (p Policy) usedUp(c claimed) bool {
	return c.late() || p.Attempts > 0 && c.attempt >= p.Attempts
}

func (s *executor) putBackUnlessFenced(ctx context.Context, c claimed, v attemptOutcome) error {
	err := c.hold.write(func() error { return s.putBack(ctx, c, v) })
	if errors.Is(err, ErrFenced) {
		s.counts.fenced.Add(1)
		return nil
	}
	return err
}

// release returns a run to its queue without counting an attempt.
func (s *executor) release(ctx context.Context, c claimed) error {
	return s.putBackUnlessFenced(ctx, c, attemptOutcome{outcome: "released"})
}

// giveUp ends the attempts at a step. The run skips the step if the step allows
// that. Otherwise it is parked until an operator decides.
func (s *executor) giveUp(ctx context.Context, c claimed, step step, class domain.Class, cause error) (claimed, error) {
	e := attemptResult{outcome: "parked", class: class, text: Scrub(cause)}
	code := CodeOf(cause)
	if step.effect != nil && step.policy.Defer && c.Direction == DirectionDo {
		e.outcome, e.command = "deferred", Defer{Key: c.Key, Step: c.Step, Code: code}
		e.work = step.effect.deferred(c.in, FailedAttempt{Code: code, Final: class == domain.Permanent && code != Unanswered, Cause: cause})
		e.work.Rows = append(e.work.Rows, deferredRow(step.effect.key(c.in), c))
		next, err := s.finish(ctx, c, e)
		if err != nil {
			return claimed{}, err
		}
		return next, nil
	}
	return claimed{}, s.park(ctx, c, e, code)
}

// park parks a run, together with the commands for its subject. If the subject
// refuses them because it has changed, only the run is parked.
func (s *executor) park(ctx context.Context, c claimed, e attemptResult, code string) error {
	e.command = Park{Key: c.Key, Step: c.Step, Code: code}
	tell := c.definition.parked
	if c.Direction == DirectionUndo {
		tell = c.definition.stuck
	}
	if tell != nil {
		e.work.Commands = tell(c.in, c.At().Name, code)
	}
	_, err := s.finish(ctx, c, e)
	if domain.CodeOf(err) != "" && !errors.Is(err, errMovedOn) {
		e.work.Commands = nil
		_, err = s.finish(ctx, c, e)
	}
	if err == nil {
		alarm(ctx, s.log, "a run is parked", "run", c.id, "key", c.Key, "step", c.At().Name, "code", code)
	}
	return err
}

// dropFenced counts the lost lease of a worker and drops the error.
func (s *executor) dropFenced(err error) error {
	if errors.Is(err, ErrFenced) || errors.Is(err, errMovedOn) {
		s.counts.fenced.Add(1)
		return nil
	}
	if errors.Is(err, ErrKilled) {
		return nil
	}
	return err
}

// CodeOf is the short, stable code of an error. It is safe to show.
func CodeOf(err error) string {
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

// Error texts of an engine may quote the request. Addresses and long tokens are
// removed before the text is stored.
var (
	addresses = regexp.MustCompile(`[\w.+'-]+@[\w.-]+`)
	tokens    = regexp.MustCompile(`[A-Za-z0-9_/+=-]{40,}`)
)

// scrubbed is the stored length of an error text.
const scrubbed = 1024

// Scrub returns the text of an error without addresses and long tokens, at most
// 1024 bytes.
func Scrub(err error) string {
	text := tokens.ReplaceAllString(addresses.ReplaceAllString(fmt.Sprint(err), "<address>"), "<token>")
	return text[:min(len(text), scrubbed)]
}

// RefusedAs tells whether an error is a permanent refusal with this code.
func RefusedAs(err error, code string) bool {
	return err != nil && domain.ClassOf(err) == domain.Permanent && CodeOf(err) == code
}

// NothingSent classifies the error of a look-up, which has changed nothing.
func NothingSent(err error) error {
	if err == nil || domain.ClassOf(err) != domain.Unknown {
		return err
	}
	return domain.Fail(domain.Transient, "no_answer", fmt.Errorf("look up: %w", err))
}
