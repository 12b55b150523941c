package accounts

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

// Set sets the password of the user of a one-time link, and ends the link. It
// refuses what [Service.TokenUser] refuses.
func (s *Service) Set(ctx context.Context, cause domain.Metadata, token, password string) error {
	user, err := s.TokenUser(ctx, token)
	if err != nil {
		return err
	}
	row, change, err := s.newPassword(ctx, user, password)
	if err != nil {
		return err
	}
	_, err = s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{credentials.UseToken(token, credentials.SetPassword), row}, change)
	return orDeadLink(err)
}

// Change sets another password for a user, after it has carried out more
// commands. Open links end.
func (s *Service) Change(ctx context.Context, cause domain.Metadata, user int64, password string, more ...domain.Command) error {
	row, change, err := s.newPassword(ctx, user, password)
	if err != nil {
		return err
	}
	rows := []eventstore.TxStatement{credentials.EndTokens(user, credentials.SetPassword), row}
	_, err = s.store.ExecuteWith(ctx, cause, rows, append(more, change)...)
	return err
}

// newPassword makes what sets a password: the row with its hash, and the
// command.
func (s *Service) newPassword(ctx context.Context, user int64, password string) (eventstore.TxStatement, domain.Command, error) {
	hash, err := s.vault.HashPassword(ctx, password)
	return credentials.PasswordRow(user, hash), account.ChangePassword{User: user, At: s.runner.Now()}, err
}
