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

	"hostpanel/domain/order"
	"hostpanel/http/auth"
	"hostpanel/http/caller"
	"hostpanel/http/hosting"
	"hostpanel/http/operations"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/storefront"
	"hostpanel/projections"
)

// A Server answers for all areas. Everything it needs of the rest of the
// program is one of these interfaces.
type Server struct {
	Settings Settings

	Commands         record.Commands
	Subjects         record.Subjects
	Numbers          record.Numbers
	Once             route.OnceKeys
	Limits           caller.Limits
	Tables           *projections.Tables
	Storefront       storefront.Orders
	Payments         Payments
	HostedCheckout   storefront.HostedCheckout // nil: no such provider is in use
	Runs             storefront.Runs
	Accounts         Accounts
	Hosting          hosting.Service
	Jobs             hosting.Jobs
	WebhookEndpoints hosting.WebhookEndpoints
	Orders           operations.Orders
	RunAdmin         operations.RunAdmin
	Credentials      caller.Credentials
	Tokens           auth.Tokens
	TokenKeys        []caller.TokenKey // the first signs tokens, all open them
	Sessions         caller.Sessions
	Changes          storefront.Changes
	Feed             route.LiveFeed
	Health           Health
	Metrics          http.Handler // nil: there is no /metrics
	Log              *slog.Logger

	// UnsubscribeKeys may have signed the links in mails.
	UnsubscribeKeys [][]byte
	MailPreviews    operations.MailPreviews

	caches   caller.Caches
	patience patience      // zero: the usual one
	beat     time.Duration // between the heartbeats of streams; zero: the usual one
	serving  atomic.Pointer[route.Table]
}

// Settings are what an operator has decided (docs/configuration.md).
type Settings struct {
	Version    string
	PublicURL  func() string  // of the panel, without a slash at the end
	Currency   string         // of plans that name none
	EngineWait time.Duration  // that an answer waits for the hosting engine; 0: not at all
	Offers     order.Offers   // payment methods, in the order in which the API names them
	Abuse      bool           // whether the limits against abuse hold
	Webhooks   []netip.Prefix // networks that tenants' webhooks may reach besides public addresses
	Trusted    []netip.Prefix

	// Unavailable tells that an error means: the database is away.
	Unavailable func(error) bool
}

// Payments receives what payment providers tell, and carries out what operators
// decide about money.
type Payments interface {
	storefront.Payments
	operations.Payments
}

// Accounts carries out what changes accounts.
type Accounts interface {
	auth.Accounts
	operations.Accounts
}

// Health tells what keeps the panel from serving, by the name of the check:
// "database", "migrations", "projections". Empty: nothing does.
type Health interface {
	Ready(context.Context) map[string]string
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
		ErrorPage: s.renderer().RefusalPage,
	}, s.Areas()...)
}

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return slog.Default()
	}
	return s.Log
}
