package program

import (
	"context"
	"net"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	desk "hostpanel/domain/operations"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	panel "hostpanel/http"
	"hostpanel/http/caller"
	"hostpanel/http/css"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/orders"
)

// Server is the API, wired to the parts behind it.
func (p *Program) Server() *panel.Server {
	vault := credentials.Open(p.present(), p.Keys).Keeping(p.Config.Retention.Credentials)
	s := &panel.Server{
		Now: p.Store.Clock().Now,
		Settings: panel.Settings{
			Version: BuildOf().Version, PublicURL: p.PublicURL, Currency: p.Config.Currency, NameServers: p.Config.NameServers, Language: p.Config.Language,
			EngineWait: p.Config.EngineWait, Offers: p.offers(), Tax: p.Config.Policy.Tax, KeepDisputed: p.Config.Policy.KeepDisputed,
			Abuse: p.Config.AbuseLimits, Factor: p.Config.SecondFactor, Trusted: p.Config.TrustedProxies, Webhooks: p.Config.Webhooks, Origins: p.Config.Origins, LogAccess: p.Config.LogAccess, Unavailable: isAway,
		},
		AsOf: p.Config.AsOf, Commands: p.commands(), Subjects: p.Store, Numbers: p.Store, Once: idempotency.Open(p.present(), p.Keys), Limits: ratelimit.Open(p.present()), Tables: p.Tables,
		Storefront: p.storefront(), Subscriptions: p.Sagas.Billing, Documents: p.Sagas.Billing, Machines: p.Sagas.Reconciler, Payments: p.Sagas.Payments, Runs: p.Sagas.Progress(), Accounts: p.Sagas.Accounts, Hosting: p.hosting(), Jobs: p.Sagas.Jobs, WebhookEndpoints: p.Sagas.Notify.Endpoints(), Changes: p.Store, Feed: liveEventsOf(p.Store), Health: p, Log: p.Log,
		OrderDetails: p.Sagas.Operations, Orders: p.Sagas, Previews: orders.Previews{Setup: p.Sagas.Provisioner, Orders: p.storefront()}, RunAdmin: p.Sagas, IncidentAdmin: p.Sagas.Operations, Lookback: p.Sagas.Audit, Transparency: p.Sagas.Audit, Packs: p.Sagas.Audit, Watch: p.Sagas.Operations, Rebuilds: p.Sagas.Operations,
		Credentials: vault, Tokens: vault, TokenKeys: p.tokenKeys(), Sessions: vault,
		UnsubscribeKeys: p.unsubscribeKeys(), Mails: p.Sagas.Notify,
		InForce: func() []desk.Setting { return p.Config.InForce(p.PublicURL(), p.MailFrom()) },
	}
	figures := p.registry()
	figures.MustRegister(openStreams(s.Streams))
	s.Metrics = promhttp.HandlerFor(figures, scrapes)
	s.Answered = p.counts().answered
	if page := p.Hosted(); page != nil {
		s.HostedCheckout = page
	}
	return s
}

// scrapes are bounded, as the figures are read from the database.
var scrapes = promhttp.HandlerOpts{Timeout: 2 * scrapeTime}

// Monitor serves health and figures of a process without the API, until ctx
// ends.
func (p *Program) Monitor(ctx context.Context, listener net.Listener) error {
	return panel.Monitor(ctx, listener, p, promhttp.HandlerFor(p.registry(), scrapes))
}

// hosting carries out what is asked of hosting resources.
func (p *Program) hosting() *hosting.Service {
	o := hosting.Options{
		Tables: p.Tables, Resources: p.Sagas.Reconciler, Numbers: p.Store, Subjects: p.Store, Resolver: net.DefaultResolver,
		PublicURL: p.PublicURL, NameServers: p.Config.NameServers, StyleSheet: css.Problems, Now: p.Store.Clock().Now,
	}
	if p.ispconfig != nil {
		o.Forms = p.ispconfig
	}
	return hosting.New(o)
}

// storefront places orders.
func (p *Program) storefront() *orders.Service {
	return orders.New(orders.Options{
		Tables: p.Tables, Commands: p.Store, Subjects: p.Store, Payments: p.Sagas.Payments, Domains: p.hosting(), Offers: p.offers(),
		TaxRate: p.Config.Policy.TaxRate, Tax: p.Config.Policy.Tax, Now: p.Store.Clock().Now,
	})
}

// tokenKeys sign and open access tokens.
func (p *Program) tokenKeys() (all []caller.TokenKey) {
	for _, key := range p.Keys.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}

// unsubscribeKeys sign the links in mails by which people want no more of
// them: the first signs, all are good.
func (p *Program) unsubscribeKeys() (all [][]byte) {
	for _, key := range p.Keys.DeriveAll("unsubscribe") {
		all = append(all, key.Key)
	}
	return all
}

// Work starts the background work.
func (p *Program) Work(ctx context.Context, group *errgroup.Group) {
	if p.past != nil {
		p.watchPast(ctx, group)
		return
	}
	group.Go(func() error { p.Store.Follow(ctx); return nil })
	group.Go(func() error { return p.Sagas.Run(ctx) })
	group.Go(func() error { p.checkMail(ctx); return nil })
	group.Go(func() error { p.Sealer.Run(ctx, p.Log, p.Store.Changed); return nil })
	group.Go(func() error { hearWitnesses(ctx, p); return nil })
	group.Go(func() error { p.book.Run(ctx, p.Store.Changed, p.toldOfErasures); return nil })
	group.Go(func() error { p.Sealer.RunWitnesses(ctx, p.Log, p.Config.WitnessEvery); return nil })
	if p.cluster != nil {
		group.Go(func() error { return p.cluster.Watch(ctx, p.Log, p.reconnect) })
	}
	p.runProviders(ctx, group)
}
