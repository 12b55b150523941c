package operations

import (
	"context"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// HandleAgain handles once more what an incident is about: the event that a reaction
// could not handle, or the webhook that could not be acted on. That settles the
// incident. Work that was done is not repeated (rule W-8).
func (s *Service) HandleAgain(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	i, err := s.tables.For(projections.System).Operations().Incident(ctx, id)
	if err != nil {
		return err
	}
	switch i.Kind {
	case operations.ReactionFailed:
		err = numbered(i.About["position"], func(position int64) error { return s.runner.Reactions.Requeue(ctx, cause, position, reason) })
	case operations.WebhookParked, operations.WebhookUnmatched:
		err = numbered(i.About["webhook"], func(webhook int64) error { return s.replay(ctx, cause, webhook, reason) })
	default:
		return sagas.NotNow("There is nothing to handle again.")
	}
	if domain.CodeOf(err) == domain.NotFound {
		return sagas.NotNow("What the incident is about is not there any more.")
	}
	return err
}

// numbered does something with the number that an incident names.
func numbered(text string, do func(int64) error) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return domain.Refuse(domain.NotFound, "The incident names no number.")
	}
	return do(n)
}

// Answer does what an operator has decided about an incident: adopt, remake or
// ignore. That settles it.
func (s *Service) Answer(ctx context.Context, cause domain.Metadata, id uuid.UUID, answer, reason string) error {
	if reason == "" {
		return domain.RefuseField("reason", "This field is required.")
	}
	return s.answer(ctx, cause, operations.AnswerIncident{ID: id, Answer: answer, Reason: reason, At: s.runner.Now()})
}
