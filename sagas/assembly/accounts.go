package assembly

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// Accounts changes what people sign in with: passwords and one-time links,
// from the first to the end of an account (docs/accounts.md). Each method is
// one transaction. Passwords come checked; only their hashes are kept.
type Accounts struct{ s *Panel }

// Accounts are the accounts of everybody who may sign in.
func (s *Panel) Accounts() Accounts { return Accounts{s} }

// TokenUser tells whose link it is, without using it up. A link that is used,
// expired or unknown is refused with domain.NotFound.
func (a Accounts) TokenUser(ctx context.Context, token string) (int64, error) {
	user, err := a.s.vault.TokenUser(ctx, token, credentials.SetPassword)
	return user, orDeadLink(err)
}

// Set uses a link up and keeps the password, both or neither. Refusals are
// those of [Accounts.TokenUser].
func (a Accounts) Set(ctx context.Context, cause domain.Metadata, token, password string) error {
	user, err := a.TokenUser(ctx, token)
	if err != nil {
		return err
	}
	row, change, err := a.newPassword(ctx, user, password)
	if err != nil {
		return err
	}
	_, err = a.s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{credentials.UseToken(token, credentials.SetPassword), row}, change)
	return orDeadLink(err)
}

// Change gives a user another password, after whatever more is to be done. Links that are still out end: they were for the password before.
func (a Accounts) Change(ctx context.Context, cause domain.Metadata, user int64, password string, more ...domain.Command) error {
	row, change, err := a.newPassword(ctx, user, password)
	if err != nil {
		return err
	}
	rows := []eventstore.TxStatement{credentials.EndTokens(user, credentials.SetPassword), row}
	_, err = a.s.store.ExecuteWith(ctx, cause, rows, append(more, change)...)
	return err
}

// Open opens an account, whose number and subject the caller has drawn. With
// an empty password its owner is sent a link to choose one.
func (a Accounts) Open(ctx context.Context, cause domain.Metadata, open account.Open, password string, more ...domain.Command) error {
	if password != "" {
		row, change, err := a.newPassword(ctx, open.User, password)
		if err != nil {
			return err
		}
		_, err = a.s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{row}, append([]domain.Command{open, change}, more...)...)
		return err
	}
	link := account.RequestLink{User: open.User, Link: account.Welcome, At: a.s.Now()}
	_, err := a.request(ctx, cause, nil, link, append([]domain.Command{open}, more...)...)
	return err
}

// newPassword is what makes a password somebody's: a row for its hash, and
// the command that says so.
func (a Accounts) newPassword(ctx context.Context, user int64, password string) (eventstore.TxStatement, domain.Command, error) {
	hash, err := credentials.HashPassword(ctx, password)
	return credentials.PasswordRow(user, hash), account.ChangePassword{User: user, At: a.s.Now()}, err
}

func orDeadLink(err error) error {
	if errors.Is(err, credentials.ErrLink) {
		return domain.Refuse(domain.NotFound, "This link is no longer valid.")
	}
	return err
}

// Link makes a one-time link for a user, which ends earlier ones, and answers
// with it; with send it is mailed as well. Who has no account that is active is
// refused with domain.NotFound.
func (a Accounts) Link(ctx context.Context, cause domain.Metadata, user int64, send bool) (domain.Link, error) {
	why := account.Handed
	if send {
		why = account.Reset
	}
	link := domain.Link{ExpiresAt: a.s.Now().Add(a.s.times.LinkLife)}
	var err error
	link.Token, err = a.request(ctx, cause, nil, account.RequestLink{User: user, Link: why, At: a.s.Now()})
	return link, err
}

// request makes a new link, after the commands given, and answers with its
// secret. If the link is mailed, the secret waits for that under a key that
// follows from the cause.
func (a Accounts) request(ctx context.Context, cause domain.Metadata, rows []eventstore.TxStatement, link account.RequestLink, before ...domain.Command) (string, error) {
	if cause.ID == uuid.Nil {
		cause.ID = uuid.New()
	}
	token := credentials.NewToken()
	rows = append(rows, a.s.Notify.LinkRows(link, token, cause.ID)...)
	_, err := a.s.store.ExecuteWith(ctx, cause, rows, append(before, link)...)
	return token, err
}

// Erase ends an account and takes from us all that tells whose it was: the
// keys of the person's data, and everything to sign in with
// (docs/log.md, "Personal data"). Doing it again changes nothing.
func (a Accounts) Erase(ctx context.Context, cause domain.Metadata, user int64) error {
	subjects, err := a.subjects(ctx, user)
	if err != nil {
		return err
	}
	commands := []domain.Command{account.Deactivate{User: user, At: a.s.Now()}}
	for _, subject := range subjects {
		commands = append(commands, account.EraseSubject{Subject: subject, At: a.s.Now()})
	}
	rows := slices.Concat(eventstore.EraseRows(subjects...), credentials.SignOutRows(user), []eventstore.TxStatement{forgetWebhooks(subjects)})
	_, err = a.s.store.ExecuteWith(ctx, cause, rows, commands...)
	return err
}

// subjects are those under which data of a user was kept: one for each address
// that the account has had. One that has passed to another account stays.
func (a Accounts) subjects(ctx context.Context, user int64) ([]uuid.UUID, error) {
	history, err := a.s.store.Read(ctx, account.Stream(user))
	if err != nil {
		return nil, err
	}
	var all []uuid.UUID
	for _, r := range history {
		for _, subject := range r.Subjects {
			if slices.Contains(all, subject) {
				continue
			}
			owner, known, err := a.s.tables.For(projections.System).UserBySubject(ctx, subject)
			if err != nil {
				return nil, err
			}
			if !known || owner.ID == user {
				all = append(all, subject)
			}
		}
	}
	return all, nil
}

// forgetWebhooks drops what payment providers have told us about the orders of
// people: all that follows from it has been done or stands in columns.
func forgetWebhooks(subjects []uuid.UUID) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "webhook_inbox", SQL: `update webhook_inbox set body = null where body is not null and order_id in (select id from orders where subject = any($1))`,
		Args: []any{subjects}, WantRows: eventstore.AnyRows,
	}
}
