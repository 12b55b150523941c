// Package accounts changes what users sign in with: passwords and one-time
// links, from the opening of an account to its erasure (docs/accounts.md). Each
// method is one transaction. Passwords come checked; only their hashes are kept.
package accounts

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what accounts need of the rest of the program.
type Deps struct {
	Runner *sagas.Runner
	Store  *eventstore.Store
	Vault  *credentials.Vault
	Limits *ratelimit.Windows
	Tables *projections.Tables
	Times  Times

	// LinkRows store the one-time link that a command asks for, and its secret
	// for the mail that brings it.
	LinkRows func(link account.RequestLink, token string, command uuid.UUID) []eventstore.TxStatement
	// Forget deletes what other areas keep of people besides events.
	Forget func(subjects []uuid.UUID) eventstore.TxStatement
	// Webhooks are what payment providers have told about orders of people.
	Webhooks func(ctx context.Context, subjects []uuid.UUID) ([]operations.Webhook, error)
	// Outbox keeps sent mails where the panel can delete them; nil: they are with a
	// mail server.
	Outbox Outbox
	// Listed is called after each erasure: it writes the list of erasures. Nil: there is
	// none.
	Listed func(context.Context)
}

// An Outbox keeps mails that were sent.
type Outbox interface {
	// Forget deletes the mails to these addresses.
	Forget(ctx context.Context, addresses []string) error
}

// A Service carries out changes of accounts.
type Service struct {
	runner   *sagas.Runner
	store    *eventstore.Store
	pool     *pgxpool.Pool
	vault    *credentials.Vault
	limits   *ratelimit.Windows
	tables   *projections.Tables
	times    Times
	linkRows func(account.RequestLink, string, uuid.UUID) []eventstore.TxStatement
	forget   func([]uuid.UUID) eventstore.TxStatement
	webhooks func(context.Context, []uuid.UUID) ([]operations.Webhook, error)
	outbox   Outbox
	listed   func(context.Context)
}

// New registers the answers to password resets with the runner.
func New(d Deps) *Service {
	s := &Service{
		runner: d.Runner, store: d.Store, pool: d.Store.Pool(), vault: d.Vault, limits: d.Limits, tables: d.Tables, times: d.Times,
		linkRows: d.LinkRows, forget: d.Forget, webhooks: d.Webhooks, outbox: d.Outbox, listed: d.Listed,
	}
	s.answerResets()
	return s
}

// Open opens an account, whose number and subject the caller has drawn. With
// an empty password, a link to choose one is mailed to its owner.
func (s *Service) Open(ctx context.Context, cause domain.Metadata, open account.Open, password string, more ...domain.Command) error {
	if password != "" {
		row, change, err := s.newPassword(ctx, open.User, password)
		if err != nil {
			return err
		}
		_, err = s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{row}, append([]domain.Command{open, change}, more...)...)
		return err
	}
	link := account.RequestLink{User: open.User, Link: account.Welcome, At: s.runner.Now()}
	_, err := s.request(ctx, cause, nil, link, append([]domain.Command{open}, more...)...)
	return err
}
