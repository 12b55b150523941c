// Package http is how people and programs outside talk to the panel: the
// storefront that other sites embed, the webhooks of payment providers, the
// pages on which a customer pays and sets a password, and what operators look
// at to see whether the panel is well.
//
// The package is named like the one in the standard library, on purpose: this
// is the only part of the program that speaks HTTP, and whoever imports it
// (only cmd does) has no need of net/http. It imports as panel.
package http

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A Server answers for all areas. Everything it needs of the rest of the
// program is one of these interfaces.
type Server struct {
	Settings Settings

	Commands    Commands
	Subjects    Subjects
	Numbers     Numbers
	Once        route.OnceKeys
	Limits      Limits
	Tables      *projections.Tables
	Payments    Payments
	Test        TestCheckout // nil: test payments are off
	Runs        Runs
	Accounts    Accounts
	Resources   Resources
	Jobs        Jobs
	Hooks       Hooks
	Orders      Orders
	Sagas       Machinery
	Inbox       Inbox
	Books       Books
	Credentials Credentials
	Tokens      Tokens
	TokenKeys   []TokenKey // the first signs tokens, all open them
	Sessions    Sessions
	Changes     Changes
	Happenings  Happenings
	Health      Health
	Metrics     http.Handler // nil: there is no /metrics
	Log         *slog.Logger

	// UnsubscribeKeys may have signed the links in mails.
	UnsubscribeKeys [][]byte
	// Letters shows the mails that the panel writes.
	Letters Letters

	// Sentence says in plain words what a fact is; nil: its name does.
	Sentence func(domain.Event) string

	keys     keyring
	memory   memory
	patience patience      // zero: the usual one
	beat     time.Duration // between the heartbeats of streams; zero: the usual one
	serving  atomic.Pointer[route.Table]
}

// Settings are what an operator has decided (docs/configuration.md).
type Settings struct {
	Version     string
	PublicURL   func() string // of the panel, without a slash at the end
	TaxRate     decimal.Decimal
	Currency    string         // of plans that name none
	NameServers []string       // of zones that name none, with final dots
	EngineWait  time.Duration  // that an answer waits for the hosting engine; 0: not at all
	Offers      []Offer        // payment methods that are configured
	Abuse       bool           // whether the limits against abuse hold
	Webhooks    []netip.Prefix // networks that tenants' webhooks may reach besides public addresses
	Trusted     []netip.Prefix

	// Unavailable tells that an error means: the database is away.
	Unavailable func(error) bool
}

// An Offer is a payment method that customers may choose.
type Offer struct {
	Name string // "stripe", "paypal", "test"
	Live bool   // whether its money is real
}

// Commands carries out what callers ask for, all or none.
type Commands interface {
	Execute(context.Context, domain.Cause, ...domain.Command) (domain.Receipt, error)
}

// Subjects finds the person behind an address, or makes one.
type Subjects interface {
	Subject(ctx context.Context, email string) (uuid.UUID, error)
}

// Numbers draws numbers for new records: "user", "plan", "widget".
type Numbers interface {
	NextIDs(ctx context.Context, sorts ...string) ([]int64, error)
}

// Payments takes what providers tell, and asks them.
type Payments interface {
	// Receive verifies a webhook and stores it; it is acted on later. A bad
	// signature is refused with domain.Invalid, one that cannot be checked
	// with domain.Unavailable.
	Receive(ctx context.Context, provider string, raw []byte, header map[string][]string) error
	// OpenSession makes sure that a pending order has a page to be paid on. A
	// repeat answers with the same session. It ends within 20 seconds.
	OpenSession(ctx context.Context, order uuid.UUID) (order.Session, error)
	// Hint asks to look at an order soon. It may be sent any number of times.
	Hint(ctx context.Context, order uuid.UUID, reason string) error
}

// TestCheckout is the test provider's own side of its page. What is not there
// is refused with domain.NotFound, a session that is over with domain.Conflict.
type TestCheckout interface {
	Session(ctx context.Context, id string) (order.TestSession, error)
	Act(context.Context, order.TestAction) (order.TestSession, error)
}

// Limits counts calls in sliding windows, shared by all processes.
type Limits interface {
	route.Limits
	// GiveBack undoes the last call of a key: it never came.
	GiveBack(ctx context.Context, key string) error
	// Forget lets a key begin anew.
	Forget(ctx context.Context, key string) error
}

// Accounts carries out what changes an account together with what stands
// beside the log, all or none. A link that is used, expired or unknown is
// refused with domain.NotFound.
type Accounts interface {
	// TokenUser tells whose one-time link it is, without using it up.
	TokenUser(ctx context.Context, token string) (user int64, err error)
	// Set uses a link up and sets the password of whoever holds it.
	Set(ctx context.Context, cause domain.Cause, token, password string) error
	// Change sets a user's password, after it has carried out more commands.
	Change(ctx context.Context, cause domain.Cause, user int64, password string, more ...domain.Command) error
	// Open makes an account with a password; without one, a link to set it is
	// mailed. More commands are carried out with it.
	Open(ctx context.Context, cause domain.Cause, open account.Open, password string, more ...domain.Command) error
	// AskReset mails a link to set a new password if the address has an
	// account. It does the same work if it has none.
	AskReset(ctx context.Context, email string) error
	// Link makes a one-time link for an operator to hand over, and mails it
	// too if it is to be sent.
	Link(ctx context.Context, cause domain.Cause, user int64, send bool) (domain.Link, error)
	// Erase ends an account and destroys what it holds of a person.
	Erase(ctx context.Context, cause domain.Cause, user int64) error
}

// Resources carries out what is asked of hosting resources, all or none. The
// specs name secrets by handles; their values are kept, sealed, until the
// engine has got them.
type Resources interface {
	Carry(ctx context.Context, cause domain.Cause, secrets map[uuid.UUID]string, commands ...domain.Command) (domain.Receipt, error)
}

// Letters shows the mails that the panel writes, without sending any. A
// template that is not there is refused with domain.NotFound, a language that
// is not spoken and a tenant that is not there with domain.Invalid and the field.
type Letters interface {
	// Preview is a mail with sample data, in the brand of the tenant; 0: of none.
	Preview(ctx context.Context, template, language string, tenant int64) (notice.Mail, error)
}

// Credentials knows passwords. It takes as long for a user without one, and
// for user 0, who is nobody.
type Credentials interface {
	CheckPassword(ctx context.Context, user int64, password string) (bool, error)
}

// Tokens keeps which refresh tokens are good. They are named by their jti; all
// that came of one sign-in are a family.
type Tokens interface {
	IssueRefresh(ctx context.Context, jti string, family uuid.UUID, user int64, until time.Time) error
	// RotateRefresh uses the old one up and issues the new one in its place.
	RotateRefresh(ctx context.Context, old, new string, until time.Time) (domain.Rotation, error)
	RevokeRefresh(ctx context.Context, jti string) (domain.Rotation, error)
	// RefreshState looks at one without changing anything.
	RefreshState(ctx context.Context, jti string) (domain.Rotation, error)
}

// Sessions keeps those of people in browsers, by a secret that their cookie
// holds.
type Sessions interface {
	OpenSession(ctx context.Context, user int64, version int) (id string, err error)
	Session(ctx context.Context, id string) (domain.Session, bool, error)
	// RenewSession gives the session a new secret, after the password was
	// asked for again.
	RenewSession(ctx context.Context, id string) (newID string, err error)
	EndSession(ctx context.Context, id string) error
}

// Runs knows how far the provisioning of an order is.
type Runs interface {
	// Step names the step at which it is: "tenant.engine". Empty: the first.
	Step(ctx context.Context, order uuid.UUID) (string, error)
	// Stream is where it is written down.
	Stream(order uuid.UUID) domain.Stream
}

// Changes tells when the log grows: the channel closes at the next fact.
type Changes interface{ Changed() <-chan struct{} }

// Happenings lets one hear of facts as they happen (docs/log.md, "Listening").
type Happenings interface {
	// Listen tells everything about the topics behind a position, and then what
	// happens. The position may be [route.FromNow]; one that is ahead of all
	// that has happened is refused with domain.Invalid.
	Listen(ctx context.Context, after int64, topics ...domain.Stream) (Listener, error)
}

// A Listener hears of what happens to some topics.
type Listener interface {
	// Ready is sent to when there is something to take.
	Ready() <-chan struct{}
	// Take is what has happened since the last time, and up to which position
	// that is everything.
	Take(context.Context) ([]domain.Happened, int64, error)
	// Lost tells that the position was too far back to tell it all.
	Lost() bool
	Close()
}

// Health tells what keeps the panel from serving, by the name of the check:
// "database", "migrations", "projections". Empty: nothing does.
type Health interface {
	Ready(context.Context) map[string]string
}

// Areas are all endpoints of the panel, by area.
func (s *Server) Areas() []route.Area {
	return []route.Area{
		s.tokens(), s.self(), s.hosting(), s.storefront(), s.webhooks(), s.checkout(), s.accounts(), s.unsubscribing(),
		s.entrance(), s.own(), s.desktop(), s.notifications(), s.operations(), s.watch(), s.files(),
	}
}

// Routes are all endpoints of the panel.
func (s *Server) Routes() []route.Route {
	var all []route.Route
	for _, area := range s.Areas() {
		for _, r := range area.Routes {
			if r.Access.Identify == nil {
				r.Access = area.Access
			}
			all = append(all, r)
		}
	}
	return all
}

// Handler is the panel, ready to be served. It panics if a route is declared
// wrongly.
func (s *Server) Handler() http.Handler { return s.table() }

// Streams is how many answers are open that do not end by themselves.
func (s *Server) Streams() int {
	if t := s.serving.Load(); t != nil {
		return t.Streams()
	}
	return 0
}

// Document is the OpenAPI document of the panel, as JSON.
func (s *Server) Document() []byte { return s.table().JSON() }

func (s *Server) table() *route.Table {
	return route.Mount(route.Options{
		Title: "hostpanel", License: "Apache-2.0", Version: s.Settings.Version, PublicURL: s.Settings.PublicURL, Once: s.Once,
		Unavailable: s.Settings.Unavailable, Trusted: s.Settings.Trusted, Log: s.log(), Heartbeat: s.beat,
		ErrorPage: s.refusalPage,
	}, s.Areas()...)
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.Default()
	}
	return s.Log
}

func (s *Server) now() time.Time { return time.Now().UTC() }

// system reads as the program itself, where the caller is a browser that
// holds nothing but an unguessable address.
func (s *Server) system() projections.Scope { return s.Tables.For(projections.System) }
