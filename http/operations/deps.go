// Package operations serves what superusers do with the installation: accounts,
// plans, keys, orders, and the runs behind them (docs/operations.md).
package operations

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/audit"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// Deps are what operators' endpoints need of the rest of the program.
type Deps struct {
	Web            *web.Renderer
	Callers        *caller.Callers
	Commands       record.Commands
	Subjects       record.Subjects
	Numbers        record.Numbers
	Accounts       Accounts
	Sessions       Sessions
	OrderDetails   OrderDetails
	Orders         Orders
	Previews       Previews
	OrderRuns      OrderRuns
	Lookback       Lookback
	Packs          Packs
	Feed           route.LiveFeed
	RunAdmin       RunAdmin
	IncidentAdmin  IncidentAdmin
	Watch          Watch
	Rebuilds       Rebuilds
	Health         Health
	Payments       Payments
	Mails          Mails
	TestPayments   bool     // whether the test provider is on
	PaymentMethods []string // names of all of them
	Offers         order.Offers
	PublicURL      func() string
	Currency       string // of plans that name none
	InForce        func() []operations.Setting
}

// Accounts changes an account together with what is stored beside the log, all
// or nothing.
type Accounts interface {
	// Open makes an account with a password; without one, a link to set it is
	// mailed. More commands are carried out with it.
	Open(ctx context.Context, cause domain.Metadata, open account.Open, password string, more ...domain.Command) error
	// Change sets a user's password, after it has carried out more commands.
	Change(ctx context.Context, cause domain.Metadata, user int64, password string, more ...domain.Command) error
	// Link makes a one-time link for an operator to hand over, and mails it
	// too if send is set.
	Link(ctx context.Context, cause domain.Metadata, user int64, send bool) (domain.Link, error)
	// DisableFactor switches a user's second factor off.
	DisableFactor(ctx context.Context, cause domain.Metadata, user int64, reason string) error
	// Erase ends an account and destroys the personal data in it.
	Erase(ctx context.Context, cause domain.Metadata, user int64) error
}

// Lookback reads the log on behalf of callers.
type Lookback interface {
	web.Looks
	// StreamEvents are the events of a stream behind a version, oldest first.
	StreamEvents(ctx context.Context, who projections.Caller, stream domain.Stream, after, limit int) (audit.Events, error)
	// State is the record of a stream as of a moment.
	State(ctx context.Context, who projections.Caller, stream domain.Stream, at audit.Moment) (audit.State, error)
	// Diff compares a stream at two moments.
	Diff(ctx context.Context, who projections.Caller, stream domain.Stream, from, to audit.Moment) ([]audit.Change, error)
	// Sealed tells by which checkpoint the event at a position is proven.
	Sealed(ctx context.Context, position int64) (audit.Seal, error)
}

// Packs are evidence packs that operators ask for.
type Packs interface {
	// QueuePack begins an operation that makes a pack.
	QueuePack(ctx context.Context, cause domain.Metadata, who projections.Caller, id uuid.UUID, of audit.PackOf) error
	// PacksOf are the packs of an order that were asked for lately, the latest first.
	PacksOf(ctx context.Context, who projections.Caller, order uuid.UUID) ([]audit.Pack, error)
}

// Rebuilds are rebuilds of read tables that operators ask for.
type Rebuilds interface {
	// QueueRebuild begins an operation that rebuilds a read table, or finds the one that
	// is not over yet. A name that no table has is refused with domain.NotFound.
	QueueRebuild(ctx context.Context, cause domain.Metadata, user int64, name string) (projections.Operation, error)
}

// Mails previews and resends the mails that the panel writes.
type Mails interface {
	// Preview is a mail with sample data, in the brand of the tenant; 0: of none.
	// It is not sent. An unknown template is refused with domain.NotFound, an
	// unknown language or tenant with domain.Invalid and the field.
	Preview(ctx context.Context, template, language string, tenant int64) (notice.Mail, error)
	// ResendMail sends the welcome mail of an order once more, with a new link.
	// The old link is void.
	ResendMail(ctx context.Context, cause domain.Metadata, order uuid.UUID, reason string) error
	// OrderMails are the mails to the customer of an order, the oldest first, with
	// the secrets of links left out.
	OrderMails(ctx context.Context, order uuid.UUID) ([]operations.SentMail, error)
}
