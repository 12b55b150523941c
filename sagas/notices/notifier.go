// Package notices tells people and other programs what has happened:
// notifications in the panel, mails, and webhooks to the endpoints of tenants.
// docs/notifications.md says who is told what; docs/webhooks.md describes the
// messages to endpoints, docs/sagas.md how mails are sent once.
package notices

import (
	"context"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Mail hands a message to a mail server. A failure is transient while the
// server refused before its final answer, permanent when it refused for good,
// and unknown when the connection was lost after the data.
type Mail interface {
	Send(context.Context, notice.Mail) error
}

// Webhooks posts a message to an endpoint of a tenant, signed with each of the
// secrets, and answers with the status of the reply, 0 for none. Anything but
// a 2xx is a failure; none names the endpoint (docs/webhooks.md, "Delivery").
type Webhooks interface {
	Deliver(ctx context.Context, url string, secrets [][]byte, m webhook.Message) (status int, err error)
}

// A Customer is the account that an order was set up for.
type Customer struct {
	User   int64
	Opened bool // the account was opened for this order
	Tenant int64
}

// Deps are what notifications need of the program around them.
type Deps struct {
	Runner    *sagas.Runner
	Store     *eventstore.Store
	Vault     *credentials.Vault
	Tables    *projections.Tables
	Mail      Mail
	Webhooks  Webhooks
	MailFrom  string        // sender of mails
	PublicURL func() string // of the panel, without a slash at the end
	Times     Times

	// Customer answers with domain.NotFound while the provisioning of the order
	// has not begun.
	Customer func(ctx context.Context, order uuid.UUID) (Customer, error)

	// MayJoin is the user who may let an unpaid order join a tenant; 0: no user.
	MayJoin func(ctx context.Context, order uuid.UUID) (user int64, err error)

	// UnsubscribeKeys sign the links in mails that end more mails like them, or let an order
	// join a tenant. The first signs; without any, mails carry no such link.
	UnsubscribeKeys [][]byte
}

// A Notifier tells users by notification and mail. It reacts to the log by
// itself; other areas ask it for the mails of accounts and orders.
type Notifier struct {
	runner          *sagas.Runner
	store           *eventstore.Store
	vault           *credentials.Vault
	tables          *projections.Tables
	mail            Mail
	mailFrom        string
	publicURL       func() string
	unsubscribeKeys [][]byte
	customer        func(context.Context, uuid.UUID) (Customer, error)
	mayJoin         func(context.Context, uuid.UUID) (int64, error)
	times           Times

	welcomeMails      sagas.Definition[WelcomeMail]
	linkMails         sagas.Definition[LinkMail]
	approvalLostMails sagas.Definition[OrderMail]
	notificationMails sagas.Definition[NewsMail]
	joiningMails      sagas.Definition[JoiningMail]
}

// New registers notifications, mails and webhooks with the runner.
func New(d Deps) *Notifier {
	n := &Notifier{
		runner: d.Runner, store: d.Store, vault: d.Vault, tables: d.Tables, mail: d.Mail, mailFrom: d.MailFrom,
		publicURL: d.PublicURL, unsubscribeKeys: d.UnsubscribeKeys, customer: d.Customer, mayJoin: d.MayJoin, times: d.Times,
	}
	n.registerMails()
	joiningOffer{n}.registerJoiningMails()
	registerWebhooks(d)
	n.runner.OnAppend(n.mailStarts)
	n.runner.OnEvent(n.react, sagas.NamesOf(toldOf...)...)
	return n
}
