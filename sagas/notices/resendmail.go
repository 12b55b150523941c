package notices

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/sagas"
)

// ResendMail sends the welcome mail of an order once more. An account without a
// password gets a new link, which ends earlier ones (rule C-2). An order without
// an account, or whose account has ended, is refused with domain.Conflict.
func (n *Notifier) ResendMail(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	user, number, err := n.accountOf(ctx, id)
	if err != nil {
		return err
	}
	cause = sagas.ByOperator(cause, id)
	var rows []eventstore.TxStatement
	if !user.HasPassword {
		rows = n.mailedLinkRows(credentials.NewToken(), number, resentKey(id, cause.ID))
	}
	_, err = n.store.ExecuteWith(ctx, cause, rows, order.ResendMail{ID: id, Reason: reason, At: n.runner.Now()})
	return err
}

// accountOf is the account that an order has opened, or that got access to its
// tenant.
func (n *Notifier) accountOf(ctx context.Context, id uuid.UUID) (user account.User, number int64, err error) {
	to, err := n.customer(ctx, id)
	if err != nil && domain.CodeOf(err) != domain.NotFound {
		return user, 0, err
	}
	if to.User != 0 {
		user, _, err = eventstore.Fold(ctx, n.store, account.Decider, account.Stream(to.User))
	}
	if err == nil && !user.Active || domain.CodeOf(err) == domain.NotFound {
		err = &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The order has no account."}
	}
	return user, to.User, err
}

// resentKey names the mail that an operator's request asks for.
func resentKey(id, request uuid.UUID) string { return welcomeKey(id) + "/" + request.String() }

// resentMail is the run that sends the mail once more.
func (n *Notifier) resentMail(ctx context.Context, r eventstore.RecordedEvent) (sagas.Start, error) {
	id := uuid.MustParse(r.Stream.ID)
	to, err := n.customer(ctx, id)
	if err != nil {
		return sagas.Start{}, err
	}
	user, _, err := eventstore.Fold(ctx, n.store, account.Decider, account.Stream(to.User))
	mail := WelcomeOf(id, to)
	mail.Key, mail.Opened = resentKey(id, r.Metadata.ID), !user.HasPassword
	return n.welcomeMails.Start(mail.Key, mail, id), err
}
