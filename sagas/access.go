package sagas

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/operations"
)

// A server may refuse whatever is asked of it, because the panel may not log in
// or may not call a function. That is no failure of the run that found it: the
// run waits, without counting attempts, the queue rests, and operators are told
// once (docs/sagas.md, "Errors").

// withoutAccess keeps a run until a server grants what it lacks.
func (s *executor) withoutAccess(ctx context.Context, c claimed, lack *domain.Failure, cause error) error {
	queue := c.At().Queue
	if err := s.rest(ctx, queue, lack); err != nil {
		return err
	}
	outcome := attemptOutcome{
		outcome: "wait", class: "access", text: Scrub(cause), delay: max(lack.RetryAfter, s.times.Floor),
		awaits: "access/" + queue + "/" + lack.Lacks,
	}
	if err := s.putBackUnlessFenced(ctx, c, outcome); err != nil {
		return err
	}
	return s.incidents.ReportIncident(ctx, operations.AccessTrouble(queue, lack.Code, lack.Lacks))
}

// rest keeps a queue from being served. After that one run tries it.
func (s *executor) rest(ctx context.Context, queue string, lack *domain.Failure) error {
	if lack.Rest <= 0 {
		return nil
	}
	_, err := s.pool.Exec(ctx, `
		update saga_queue set fails = greatest(fails, $2), open_until = greatest(open_until, real_now() + $3::interval) where queue = $1`,
		queue, breaks, lack.Rest)
	if err != nil {
		return fmt.Errorf("let %s rest: %w", queue, err)
	}
	return nil
}

// lackOf is a failure for want of access; nil: it is none.
func lackOf(err error) *domain.Failure {
	if f, is := errors.AsType[*domain.Failure](err); is && f.Lacks != "" {
		return f
	}
	return nil
}
