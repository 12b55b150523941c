package assembly

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// ResendMail sends the welcome mail of an order once more: to an account that
// has no password yet with a new link, which ends those before (rule C-2). An
// order that has no account, or none any more, is refused with domain.Conflict.
func (s *Panel) ResendMail(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	user, number, err := s.accountOf(ctx, id)
	if err != nil {
		return err
	}
	cause = sagas.ByOperator(cause, id)
	var rows []eventstore.TxStatement
	if !user.HasPassword {
		rows = s.tokenRows(credentials.NewToken(), number, resentKey(id, cause.ID))
	}
	if _, err := s.store.ExecuteWith(ctx, cause, rows, order.ResendMail{ID: id, Reason: reason, At: s.Now()}); err != nil {
		return err
	}
	s.Wake(mailQueue)
	return nil
}

// accountOf is the account that an order has opened, or was let into.
func (s *Panel) accountOf(ctx context.Context, id uuid.UUID) (user account.User, number int64, err error) {
	in, err := s.provisioned(ctx, id)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return user, 0, err
	}
	if number = in.User; number != 0 {
		user, _, err = eventstore.Fold(ctx, s.store, account.Decider, account.Stream(number))
	}
	if err == nil && !user.Active || domain.CodeOf(err) == domain.NotFound {
		err = &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The order has no account."}
	}
	return user, number, err
}

// resentKey names the mail that an operator has asked for.
func resentKey(id, request uuid.UUID) string {
	return sagas.EffectKey(id, "welcome") + "/" + request.String()
}

// resent is the run that sends the mail once more.
func (s *Panel) resent(ctx context.Context, r eventstore.RecordedEvent) (sagas.Start, error) {
	id := uuid.MustParse(r.Stream.ID)
	in, err := s.provisioned(ctx, id)
	if err != nil {
		return sagas.Start{}, err
	}
	user, _, err := eventstore.Fold(ctx, s.store, account.Decider, account.Stream(in.User))
	mail := in.welcome()
	mail.Key, mail.Opened = resentKey(id, r.Metadata.ID), !user.HasPassword
	return s.lateWelcome.Start(mail.Key, mail, id), err
}
