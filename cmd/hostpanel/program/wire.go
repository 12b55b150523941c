package program

import (
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	kinds "hostpanel/domain/hosting"
	desk "hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/eventstore/sealing"
	panel "hostpanel/http"
	"hostpanel/http/caller"
	"hostpanel/http/css"
	checkout "hostpanel/http/orders"
	"hostpanel/http/record"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/hosting/console"
	"hostpanel/sagas/orders"
)

// Parts are what the API is wired of. The program fills them, and so do tests that run
// the panel without it.
type Parts struct {
	Settings panel.Settings
	Store    *eventstore.Store
	Tables   *projections.Tables
	Sagas    *assembly.Panel
	Present  *pgxpool.Pool // of rows that are no events, in a view of the past too
	Vault    *credentials.Vault
	Commands record.Commands
	Policy   assembly.Policy
	Hosted   checkout.HostedCheckout // nil: no configured provider has one
	Resolver hosting.Resolver        // of names on the internet
	Forms    kinds.FormChecker       // nil: the engine takes all that the panel takes
	Hosts    []string                // of the engine
	Health   panel.Health
	InForce  func() []desk.Setting
	AsOf     time.Time // of a view of the past
	Log      *slog.Logger
}

// Wire gives the API everything behind it.
func Wire(p Parts) *panel.Server {
	now, areas := p.Store.Clock().Now, p.Sagas.Areas
	p.Settings.Tax, p.Settings.KeepDisputed = p.Policy.Tax, p.Policy.KeepDisputed
	resources := hosting.New(hosting.Options{
		Tables: p.Tables, Resources: areas.Reconciler, Numbers: p.Store, Subjects: p.Store, Forms: p.Forms,
		Resolver:  p.Resolver,
		PublicURL: p.Settings.PublicURL, NameServers: p.Settings.NameServers, Hosts: p.Hosts, StyleSheet: css.Problems, Now: now,
		SiteAddresses: p.Settings.SiteAddresses,
	})
	storefront := orders.New(orders.Options{
		Tables: p.Tables, Commands: p.Store, Subjects: p.Store, Payments: areas.Payments.Pages, Domains: resources,
		Offers: p.Settings.Offers, TaxRate: p.Policy.TaxRate, Tax: p.Policy.Tax, Rest: p.Policy.AddressRest, Now: now,
	})
	return &panel.Server{
		Settings: p.Settings, AsOf: p.AsOf, Now: now, InForce: p.InForce, Health: p.Health, Log: p.Log,

		Commands: p.Commands, Subjects: p.Store, Numbers: p.Store, Changes: p.Store, Feed: liveEventsOf(p.Store),
		Tables: p.Tables,
		Once:   idempotency.Open(p.Present, p.Store.Keys()), Limits: ratelimit.Open(p.Present),
		Credentials: p.Vault, Tokens: p.Vault, Sessions: p.Vault,
		TokenKeys: tokenKeys(p.Store.Keys()), UnsubscribeKeys: unsubscribeKeys(p.Store.Keys()),

		Accounts: areas.Accounts,
		Hosting:  resources, MachineActs: hosting.Machines{Service: resources}, Jobs: areas.Jobs,
		WebhookEndpoints: areas.Notify.Endpoints(),
		Storefront:       storefront, HostedCheckout: p.Hosted, Payments: areas.Payments, Runs: p.Sagas.Orders.Progress(),
		Subscriptions: areas.Billing, Documents: areas.Billing, Machines: areas.Reconciler,
		Consoles: &console.Consoles{Store: p.Store, Vault: p.Vault}, Screens: areas.Reconciler,
		Lookback: areas.Audit, Transparency: areas.Audit, Packs: areas.Audit,

		Orders: p.Sagas.Orders, OrderDetails: areas.Operations,
		Previews: orders.Previews{Setup: p.Sagas.Orders, Orders: storefront},
		RunAdmin: p.Sagas.Runner.Operators, IncidentAdmin: areas.Operations, Watch: areas.Operations, Rebuilds: areas.Operations,
		Mails: areas.Notify,
	}
}

// tokenKeys sign and open access tokens.
func tokenKeys(keys *sealing.Keyring) (all []caller.TokenKey) {
	for _, key := range keys.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}

// unsubscribeKeys sign the links in mails by which people want no more of
// them: the first signs, all are good.
func unsubscribeKeys(keys *sealing.Keyring) (all [][]byte) {
	for _, key := range keys.DeriveAll("unsubscribe") {
		all = append(all, key.Key)
	}
	return all
}
