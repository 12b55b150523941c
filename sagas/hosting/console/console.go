// Package console gives users the screens of their machines (docs/machines-console.md): the
// tickets that open one each, and what the log knows of it.
package console

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
)

// Consoles issues tickets for consoles, and uses them up.
type Consoles struct {
	Store *eventstore.Store
	Vault *credentials.Vault
}

// errTicket refuses a ticket that is used, expired or unknown.
var errTicket = &domain.Error{Code: domain.NotFound, Reason: "ticket_not_valid", Message: "The ticket is not valid."}

// Issue makes a ticket. Earlier ones for the same end.
func (c *Consoles) Issue(ctx context.Context, cause domain.Metadata, t hosting.ConsoleTicket) (ticket string, until time.Time, err error) {
	ticket, until = credentials.NewToken(), clock.Now().Add(hosting.ConsoleTicketLife).UTC()
	_, err = c.Store.ExecuteWith(ctx, cause, credentials.TokenRows(ticket, t.Purpose(), t.User, hosting.ConsoleTicketLife))
	return ticket, until, err
}

// Read tells what a ticket opens and for whom. It is not used up.
func (c *Consoles) Read(ctx context.Context, ticket string) (hosting.ConsoleTicket, error) {
	_, purpose, err := c.Vault.TokenPurpose(ctx, ticket)
	t, is := hosting.ConsoleTicketOf(purpose)
	if errors.Is(err, credentials.ErrLink) || err == nil && !is {
		err = errTicket
	}
	return t, err
}

// Open uses a ticket up, in the append that tells who has opened the console.
func (c *Consoles) Open(ctx context.Context, cause domain.Metadata, ticket string, t hosting.ConsoleTicket) error {
	_, err := c.Store.ExecuteWith(
		ctx, cause, []eventstore.TxStatement{credentials.UseToken(ticket, t.Purpose())},
		hosting.OpenConsole{Ref: t.Ref()},
	)
	if errors.Is(err, credentials.ErrLink) {
		err = errTicket
	}
	return err
}

// SessionStands tells whether a session of a browser has not ended. It counts as a visit if
// the user has done something.
func (c *Consoles) SessionStands(ctx context.Context, user int64, session uuid.UUID, visit bool) (bool, error) {
	return c.Vault.SessionStands(ctx, user, session, visit)
}
