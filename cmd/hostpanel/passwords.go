package main

import (
	"context"
	"errors"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/sagas"
)

// passwords sets the password of whoever holds the link of a welcome mail.
type passwords struct{ store *eventstore.Store }

// TokenUser tells whose link it is, without using it up.
func (p passwords) TokenUser(ctx context.Context, token string) (int64, error) {
	user, err := p.store.TokenUser(ctx, token, sagas.SetPassword)
	return user, orDeadLink(err)
}

// Set uses the link up and keeps the hash of the password, both or neither.
func (p passwords) Set(ctx context.Context, cause domain.Cause, token, password string) error {
	user, err := p.TokenUser(ctx, token)
	if err != nil {
		return err
	}
	rows := []eventstore.Row{
		eventstore.UseToken(token, sagas.SetPassword),
		eventstore.PasswordRow(user, eventstore.HashPassword(password)),
	}
	_, err = p.store.ExecuteWith(ctx, cause, rows, account.ChangePassword{User: user, At: time.Now().UTC()})
	return orDeadLink(err)
}

func orDeadLink(err error) error {
	if errors.Is(err, eventstore.ErrLink) {
		return domain.Refuse(domain.NotFound, "This link is no longer valid.")
	}
	return err
}
