package accounts

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
)

// TokenUser is the user of a one-time link. The link stays valid. A link that is used,
// expired or unknown is refused with domain.NotFound.
func (s *Service) TokenUser(ctx context.Context, token string) (int64, error) {
	user, err := s.vault.TokenUser(ctx, token, credentials.SetPassword)
	return user, orDeadLink(err)
}

// Link makes a one-time link for a user and returns it. Earlier links end. With
// send it is mailed as well. Without an active account it is refused with
// domain.NotFound.
func (s *Service) Link(ctx context.Context, cause domain.Metadata, user int64, send bool) (domain.Link, error) {
	why := account.Handed
	if send {
		why = account.Reset
	}
	link := domain.Link{ExpiresAt: clock.Now().Add(s.times.LinkLife)}
	var err error
	link.Token, err = s.request(ctx, cause, nil, account.RequestLink{User: user, Link: why, At: s.runner.Now()})
	return link, err
}

// request makes a new link, after the commands given, and returns its secret.
// If the link is mailed, the secret waits for the mail under a key that follows
// from the cause.
func (s *Service) request(
	ctx context.Context, cause domain.Metadata, rows []eventstore.TxStatement, link account.RequestLink,
	before ...domain.Command,
) (string, error) {
	if cause.ID == uuid.Nil {
		cause.ID = uuid.New()
	}
	token := credentials.NewToken()
	_, err := s.store.ExecuteWith(ctx, cause, append(rows, s.linkRows(link, token, cause.ID)...), append(before, link)...)
	return token, err
}

func orDeadLink(err error) error {
	if errors.Is(err, credentials.ErrLink) {
		return domain.Refuse(domain.NotFound, "This link is no longer valid.")
	}
	return err
}
