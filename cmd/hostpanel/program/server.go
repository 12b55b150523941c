package program

import (
	"context"
	"net"
	"net/url"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	desk "hostpanel/domain/operations"
	"hostpanel/eventstore/credentials"
	panel "hostpanel/http"
)

// Server is the API, wired to the parts behind it.
func (p *Program) Server() *panel.Server {
	parts := Parts{
		Settings: panel.Settings{
			Version: BuildOf().Version, PublicURL: p.PublicURL, Currency: p.Config.Currency,
			NameServers: p.Config.NameServers, SiteAddresses: p.Config.SiteAddresses,
			Language: p.Config.Language, EngineWait: p.Config.EngineWait, Offers: p.offers(), Abuse: p.Config.AbuseLimits,
			Factor: p.Config.SecondFactor, Trusted: p.Config.TrustedProxies, Webhooks: p.Config.Webhooks,
			Origins: p.Config.Origins, LogAccess: p.Config.LogAccess, Unavailable: isAway,
		},
		Store: p.Store, Tables: p.Tables, Sagas: p.Sagas, Present: p.present(),
		Vault:    credentials.Open(p.present(), p.Keys).Keeping(p.Config.Retention.Credentials),
		Commands: p.commands(), Policy: p.Config.Policy, Resolver: net.DefaultResolver, Health: p, AsOf: p.Config.AsOf,
		Log:     p.Log,
		InForce: func() []desk.Setting { return p.Config.InForce(p.PublicURL(), p.MailFrom()) },
	}
	if p.ispconfig != nil {
		parts.Forms = p.ispconfig
		if at, err := url.Parse(p.Config.ISPConfig.URL); err == nil {
			parts.Hosts = []string{at.Hostname()}
		}
	}
	if page := p.Hosted(); page != nil {
		parts.Hosted = page
	}
	s := Wire(parts)
	figures := p.Registry()
	figures.MustRegister(openStreams(s.Streams))
	s.Metrics = promhttp.HandlerFor(figures, scrapes)
	s.Answered = p.counts().answered
	return s
}

// scrapes are bounded, as the figures are read from the database.
var scrapes = promhttp.HandlerOpts{Timeout: 2 * scrapeTime}

// Monitor serves health and figures of a process without the API, until ctx
// ends.
func (p *Program) Monitor(ctx context.Context, listener net.Listener) error {
	return panel.Monitor(ctx, listener, p, promhttp.HandlerFor(p.Registry(), scrapes))
}

// Work starts the background work.
func (p *Program) Work(ctx context.Context, group *errgroup.Group) {
	if p.past != nil {
		p.watchPast(ctx, group)
		return
	}
	group.Go(func() error { p.Store.Hints().Follow(ctx); return nil })
	group.Go(func() error { return p.Sagas.Runner.Run(ctx) })
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
