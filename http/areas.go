package http

import (
	"slices"

	"hostpanel/http/accounts"
	"hostpanel/http/audit"
	"hostpanel/http/billing"
	"hostpanel/http/caller"
	"hostpanel/http/demo"
	"hostpanel/http/export"
	"hostpanel/http/hosting"
	"hostpanel/http/notices"
	"hostpanel/http/operations"
	"hostpanel/http/orders"
	"hostpanel/http/pages"
	"hostpanel/http/payments"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Areas are all endpoints of the panel, by area. Their order is that of the
// API document. A further area is a package and a line here.
func (s *Server) Areas() []route.Area {
	return slices.Concat(
		s.forBrowsers(s.accounts().Routes()...),
		s.forBrowsers(s.hosting().Routes()),
		s.storefront().Routes(),
		[]route.Area{(&payments.Area{Callers: s.callers(), Inbox: s.Payments, Offers: s.Settings.Offers}).Routes()},
		s.storefront().PageRoutes(),
		[]route.Area{s.accounts().SetPasswordRoutes(), s.notifications().UnsubscribeRoutes()},
		s.accounts().PageRoutes(),
		[]route.Area{
			s.operations().PageRoutes(), s.hosting().OperatorRoutes(), s.hosting().PageRoutes(),
			s.notifications().PageRoutes(), s.billing().PageRoutes(),
		},
		s.forBrowsers(s.notifications().Routes(), s.operations().Routes(), s.audit().Routes(), s.billing().Routes()),
		[]route.Area{s.audit().LogRoutes(), s.watch(), pages.Routes(s.callers())},
		s.demo(),
	)
}

// forBrowsers opens areas to pages of the origins that the operator has named.
// Callers prove who they are by a token; cookies open no such area.
func (s *Server) forBrowsers(areas ...route.Area) []route.Area {
	if len(s.Settings.Origins) > 0 {
		for i := range areas {
			areas[i].CORS = &route.CORS{Origins: s.Settings.Origins}
		}
	}
	return areas
}

// demo are the pages that only a demo has.
func (s *Server) demo() []route.Area {
	if s.Demo == nil {
		return nil
	}
	return []route.Area{
		(&demo.Area{Callers: s.callers(), Settings: *s.Demo, PublicURL: s.Settings.PublicURL}).Routes(),
	}
}

func (s *Server) callers() *caller.Callers {
	return caller.New(caller.Deps{
		Tables: s.Tables, Commands: s.Commands, Credentials: s.Credentials, Sessions: s.Sessions, Limits: s.Limits, Once: s.Once,
		TokenKeys: s.TokenKeys, PublicURL: s.Settings.PublicURL, Abuse: s.Settings.Abuse, Factor: s.Settings.Factor,
		Now: s.Now, AsOf: s.AsOf, Log: s.log(), Caches: &s.caches,
	})
}

func (s *Server) renderer() *web.Renderer { return &web.Renderer{Callers: s.callers(), AsOf: s.AsOf} }

func (s *Server) accounts() *accounts.Area {
	return accounts.New(accounts.Deps{
		Web: s.renderer(), Callers: s.callers(), Commands: s.Commands, Accounts: s.Accounts, Tokens: s.Tokens, Sessions: s.Sessions,
		Demo: s.Demo.SignIns(),
	})
}

func (s *Server) hosting() *hosting.Area {
	return hosting.New(hosting.Deps{
		Web: s.renderer(), Callers: s.callers(), Commands: s.Commands, Numbers: s.Numbers, Service: s.Hosting, Machines: s.MachineActs,
		Jobs: s.Jobs, WebhookEndpoints: s.WebhookEndpoints, Lookback: s.Lookback,
		Snapshots: s.Tables, Exports: []export.Part{s.billing().Export()}, NameServers: s.Settings.NameServers,
		EngineWait: s.Settings.EngineWait, Changes: s.Changes, WebhookNetworks: s.Settings.Webhooks,
	})
}

func (s *Server) storefront() *orders.Area {
	return &orders.Area{
		Web: s.renderer(), Callers: s.callers(), Orders: s.Storefront, Payments: s.Payments, Hosted: s.HostedCheckout,
		Runs: s.Runs, Feed: s.Feed,
		Changes: s.Changes, Offers: s.Settings.Offers, Tax: s.Settings.Tax, PublicURL: s.Settings.PublicURL,
		LinkKeys: s.UnsubscribeKeys, Abuse: s.Settings.Abuse,
		Unavailable: s.Settings.Unavailable,
	}
}

func (s *Server) audit() *audit.Area {
	return &audit.Area{
		Web: s.renderer(), Callers: s.callers(), Lookback: s.Lookback, Transparency: s.Transparency,
		LogAccess: s.Settings.LogAccess, Packs: s.Packs,
	}
}

func (s *Server) notifications() *notices.Area {
	return &notices.Area{
		Web: s.renderer(), Callers: s.callers(), Commands: s.Commands, Feed: s.Feed, UnsubscribeKeys: s.UnsubscribeKeys,
	}
}

func (s *Server) billing() *billing.Area {
	return billing.New(billing.Deps{
		Web: s.renderer(), Callers: s.callers(), Orders: s.Storefront, Subscriptions: s.Subscriptions,
		Documents: s.Documents, Machines: s.Machines, Consoles: s.Consoles, Screens: s.Screens, ConsoleBounds: s.Settings.Consoles,
		Lookback: s.Lookback, KeepDisputed: s.Settings.KeepDisputed,
		Offers: s.Settings.Offers, PublicURL: s.Settings.PublicURL, Unavailable: s.Settings.Unavailable,
		Setups: s.Payments, Changes: s.Changes, Currency: s.Settings.Currency,
	})
}

func (s *Server) operations() *operations.Area {
	return operations.New(operations.Deps{
		Web: s.renderer(), Callers: s.callers(), Commands: s.Commands, Subjects: s.Subjects, Numbers: s.Numbers,
		Accounts: s.Accounts, Sessions: s.Sessions,
		OrderDetails: s.OrderDetails, Orders: s.Orders, Previews: s.Previews, OrderRuns: s.Runs, Lookback: s.Lookback,
		Packs: s.Packs, Feed: s.Feed, RunAdmin: s.RunAdmin, IncidentAdmin: s.IncidentAdmin,
		Watch: s.Watch, Rebuilds: s.Rebuilds, Health: s.Health, Payments: s.Payments, Mails: s.Mails, TestPayments: s.HostedCheckout != nil,
		PaymentMethods: s.Settings.Offers.Names(), Offers: s.Settings.Offers, PublicURL: s.Settings.PublicURL,
		Currency: s.Settings.Currency, InForce: s.InForce,
	})
}

// ForgetKey makes the next call with an API key look it up anew.
func (s *Server) ForgetKey(id string) { s.callers().Keys.Forget(id) }
