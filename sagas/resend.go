package sagas

import (
	"cmp"
	"context"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// ResendMail sends the welcome mail of an order once more: to an account that
// has no password yet with a new link, which ends those before (rule C-2). An
// order that has no account, or none any more, is refused with domain.Conflict.
func (s *Sagas) ResendMail(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	user, number, err := s.accountOf(ctx, id)
	if err != nil {
		return err
	}
	cause = byOperator(cause, id)
	var rows []eventstore.Row
	if !user.HasPassword {
		rows = s.tokenRows(eventstore.NewToken(), number, resentKey(id, cause.ID))
	}
	if _, err := s.store.ExecuteWith(ctx, cause, rows, order.ResendMail{ID: id, Reason: reason, At: s.now()}); err != nil {
		return err
	}
	s.wake(mailQueue)
	return nil
}

// accountOf is the account that an order has opened, or was let into.
func (s *Sagas) accountOf(ctx context.Context, id uuid.UUID) (user account.User, number int64, err error) {
	run, err := s.run(ctx, "provision:"+id.String())
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return user, 0, err
	}
	if number = run.Job.User; number != 0 {
		user, _, err = eventstore.Fold(ctx, s.store, account.Decider, account.Stream(number))
	}
	if err == nil && !user.Active || domain.CodeOf(err) == domain.NotFound {
		err = &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The order has no account."}
	}
	return user, number, err
}

// resentKey names the mail that an operator has asked for.
func resentKey(id, request uuid.UUID) string {
	return effectKey(id, "welcome") + "/" + request.String()
}

// welcomeKey names the welcome mail that a job is about.
func welcomeKey(j Job) string { return cmp.Or(j.Effect, effectKey(j.Order, "welcome")) }

// resent is the run that sends the mail once more.
func (s *Sagas) resent(ctx context.Context, fact eventstore.Recorded) (Start, error) {
	id := uuid.MustParse(fact.Stream.ID)
	run, err := s.run(ctx, "provision:"+id.String())
	if err != nil {
		return Start{}, err
	}
	user, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(run.Job.User))
	job := run.Job
	job.Effect, job.Opened = resentKey(id, fact.Cause.ID), !user.HasPassword
	return Start{Key: "mail:" + job.Effect, Def: mailDef, Steps: s.places([]string{"send"}), Job: job, Order: id}, err
}
