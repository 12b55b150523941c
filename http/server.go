// Package http serves the panel to people and programs. It wires the areas: the
// storefront, accounts, hosting, operations and notifications. It also serves
// the webhooks of payment providers, health checks and metrics (docs/api.md).
//
// The package has the name of the standard library's net/http. Only cmd imports
// it, under the name panel.
package http

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"

	kinds "hostpanel/domain/hosting"
	desk "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/domain/webhook"
	"hostpanel/http/accounts"
	"hostpanel/http/audit"
	"hostpanel/http/billing"
	"hostpanel/http/caller"
	"hostpanel/http/demo"
	"hostpanel/http/hosting"
	"hostpanel/http/operations"
	"hostpanel/http/orders"
	"hostpanel/http/payments"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A Server serves all areas. Its fields are the settings and the interfaces to
// the rest of the program.
type Server struct {
	Settings Settings

	Commands         record.Commands
	Subjects         record.Subjects
	Numbers          record.Numbers
	Once             route.OnceKeys
	Limits           caller.Limits
	Tables           *projections.Tables
	Storefront       Orders
	Subscriptions    billing.Subscriptions
	Documents        billing.Documents
	Machines         billing.Machines
	Consoles         billing.Consoles
	Screens          billing.Screens
	Payments         Payments
	HostedCheckout   orders.HostedCheckout // nil: no configured provider has one
	Runs             orders.Runs
	Accounts         Accounts
	Hosting          hosting.Service
	MachineActs      hosting.Machines
	Jobs             hosting.Jobs
	WebhookEndpoints hosting.WebhookEndpoints
	OrderDetails     operations.OrderDetails
	Orders           operations.Orders
	Previews         operations.Previews
	Lookback         Lookback
	Transparency     audit.Transparency
	Packs            Packs
	RunAdmin         operations.RunAdmin
	IncidentAdmin    operations.IncidentAdmin
	Watch            operations.Watch
	Rebuilds         operations.Rebuilds
	Credentials      caller.Credentials
	Tokens           accounts.Tokens
	TokenKeys        []caller.TokenKey // the first signs tokens, all verify them
	Sessions         Sessions
	Changes          waiting.Log
	Feed             route.LiveFeed
	Health           Health
	AsOf             time.Time        // the moment that a view of the past shows; zero: this is the present
	Now              func() time.Time // business time; nil: the real time
	Metrics          http.Handler     // nil: /metrics does not exist
	Log              *slog.Logger
	Demo             *demo.Settings                                             // nil: this is no demo
	Answered         func(method, route string, status int, took time.Duration) // counts answers; nil: nothing does

	InForce func() []desk.Setting // the program's settings, without secrets

	// UnsubscribeKeys verify the links in mails.
	UnsubscribeKeys [][]byte
	Mails           operations.Mails

	caches  caller.Caches
	serving atomic.Pointer[route.Table]
}

// Settings are an operator's settings (docs/configuration.md).
type Settings struct {
	Version       string
	PublicURL     func() string  // of the panel, without a slash at the end
	Currency      string         // of plans without a currency
	NameServers   []string       // of DNS zones that name none, with final dots
	SiteAddresses []string       // under which sites with the address * are reached
	Language      string         // of people, orders and widgets that name none; "": Spanish
	EngineWait    time.Duration  // longest wait of an answer for the hosting engine; 0: none
	Offers        order.Offers   // payment methods, in the order in which the API names them
	Tax           tax.Policy     // by which orders are taxed
	KeepDisputed  bool           // whether services go on while their payment is disputed
	Abuse         bool           // whether the rate limits apply
	Factor        bool           // whether superusers need a second factor
	Webhooks      []netip.Prefix // networks that tenants' webhooks may reach besides public addresses
	Trusted       []netip.Prefix
	Origins       []string // from which browsers may call the APIs, besides the storefront
	LogAccess     audit.LogAccess
	Heartbeat     time.Duration // interval between the heartbeats of streams; zero: the default
	Patience      Patience      // with slow clients
	Consoles      billing.ConsoleBounds

	// Unavailable tells whether an error means that the database is unavailable.
	Unavailable func(error) bool
}

// Orders places orders, for services and for open invoices.
type Orders interface {
	orders.Orders
	billing.Orders
}

// Payments receives the webhooks of payment providers, and carries out refunds
// and other payment decisions of operators.
type Payments interface {
	orders.Payments
	payments.Inbox
	billing.Setups
	operations.Payments
}

// Accounts carries out changes of accounts.
type Accounts interface {
	accounts.Accounts
	operations.Accounts
}

// Sessions are those of users in browsers.
type Sessions interface {
	caller.Sessions
	operations.Sessions
}

// Lookback reads the log on behalf of callers.
type Lookback interface {
	audit.Lookback
	operations.Lookback
	web.Lookback
}

// Packs are evidence packs that callers ask for.
type Packs interface {
	audit.Packs
	operations.Packs
}

// Health names the failed checks: "database", "migrations", "projections".
// Empty: the panel is ready.
type Health interface {
	// Alive names what of the process has ended, such as "postgres", the server
	// that it runs itself.
	Alive() map[string]string
	Ready(context.Context) map[string]string
}

// Routes returns all endpoints of the panel.
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

// Handler returns the panel's HTTP handler. It panics if a route is declared
// wrongly.
func (s *Server) Handler() http.Handler { return s.table() }

// Streams is the number of open event streams.
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
		Unavailable: s.Settings.Unavailable, Trusted: s.Settings.Trusted, Log: s.log(), Heartbeat: s.Settings.Heartbeat,
		Answered:  s.Answered,
		ErrorPage: s.renderer().RefusalPage, Examples: examples(), Language: s.Settings.Language,
		Webhooks: webhooks(), Past: s.past(),
	}, s.Areas()...)
}

// webhooks are the messages that tenants' programs can receive.
func webhooks() (all []route.Webhook) {
	for _, one := range webhook.Types(kinds.Announced()) {
		all = append(all, route.Webhook{Name: one.Name, When: one.Says})
	}
	return all
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.Default()
	}
	return s.Log
}
