package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	panel "hostpanel/http"
	"hostpanel/http/caller"
	"hostpanel/http/css"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/provisioning"
)

type serveCommand struct {
	Demo bool `help:"With everything to try it out, and nothing real: test payments, sandboxes, plans, a widget, keys."`
}

// Run serves until it is told to stop, then ends what runs and leaves the rest
// to the next start.
func (s serveCommand) Run(ctx context.Context, settings Settings, c console) error {
	return unlessStopped(ctx, s.run(ctx, settings, c))
}

// unlessStopped drops errors that follow from a requested stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s serveCommand) run(ctx context.Context, settings Settings, c console) error {
	config, err := configure(settings, s.Demo)
	if err != nil {
		return err
	}
	log := newLog(c.err, config.logLevel)
	slog.SetDefault(log)
	config.announce(log)
	p, err := open(ctx, config, log, serving)
	if err != nil {
		return err
	}
	defer p.close()
	listener, err := p.listen(ctx)
	if err != nil {
		return err
	}
	if err := p.settle(ctx, c); err != nil {
		_ = listener.Close()
		return err
	}
	return p.serve(ctx, listener, c)
}

// listen claims the address, which tells where we are reached.
func (p *program) listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", p.config.listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", p.config.listen, err)
	}
	if p.config.publicURL == "" {
		p.setPublicURL("http://" + reachable(listener.Addr()))
	}
	return listener, nil
}

// reachable is an address that a browser can go to: one that listens on every
// interface is reached on this machine.
func reachable(at net.Addr) string {
	tcp, ok := at.(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return at.String()
}

// settle makes what a panel cannot be without.
func (p *program) settle(ctx context.Context, c console) error {
	if p.config.demo {
		return p.seedDemo(ctx)
	}
	return p.ensureAdmin(ctx, c)
}

// serve runs everything until ctx ends or a part breaks; then all parts end.
func (p *program) serve(ctx context.Context, listener net.Listener, c console) error {
	server := p.server()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return server.Serve(ctx, listener) })
	group.Go(func() error {
		if p.awaitReady(ctx) {
			fmt.Fprintf(c.out, "hostpanel is ready at %s\n", "http://"+reachable(listener.Addr()))
		}
		return nil
	})
	p.work(ctx, group)
	err := group.Wait()
	p.log.Info("hostpanel has stopped")
	return err
}

// work starts the background work.
func (p *program) work(ctx context.Context, group *errgroup.Group) {
	group.Go(func() error { p.store.Follow(ctx); return nil })
	group.Go(func() error { return p.sagas.Run(ctx) })
	p.runProviders(ctx, group)
}

// awaitReady waits until /readyz is 200.
func (p *program) awaitReady(ctx context.Context) bool {
	for {
		if len(p.Ready(ctx)) == 0 {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// server is the API, wired to the parts behind it.
func (p *program) server() *panel.Server {
	vault := credentials.Open(p.pool, p.keys)
	s := &panel.Server{
		Settings: panel.Settings{
			Version: version(), PublicURL: p.publicURL, Currency: p.config.currency,
			EngineWait: p.config.engineWait, Offers: p.offers(),
			Abuse: p.config.abuseLimits, Trusted: p.config.trustedProxies, Webhooks: p.config.webhooks, Unavailable: isAway,
		},
		Commands: p.store, Subjects: p.store, Numbers: p.store, Once: idempotency.Open(p.pool, p.keys), Limits: ratelimit.Open(p.pool), Tables: p.tables,
		Storefront: p.storefront(), Payments: p.sagas, Runs: p.sagas.Progress(), Accounts: p.sagas.Accounts(), Hosting: p.hosting(), Jobs: p.sagas.Jobs(), WebhookEndpoints: p.sagas.Hooks(), Changes: p.store, Feed: happeningsOf(p.store), Health: p, Log: p.log,
		Orders: p.sagas, RunAdmin: p.sagas, Inbox: p.sagas, Reconciliation: p.sagas,
		Credentials: vault, Tokens: vault, TokenKeys: p.tokenKeys(), Sessions: vault,
		UnsubscribeKeys: p.unsubscribeKeys(), MailPreviews: p.sagas,
	}
	figures := p.registry()
	figures.MustRegister(openStreams(s.Streams))
	s.Metrics = promhttp.HandlerFor(figures, promhttp.HandlerOpts{Timeout: 2 * scrapeTime})
	if page := p.hosted(); page != nil {
		s.HostedCheckout = page
	}
	return s
}

// hosting carries out what is asked of hosting resources.
func (p *program) hosting() *hosting.Service {
	return hosting.New(hosting.Options{
		Tables: p.tables, Resources: p.sagas.Resources(), Numbers: p.store, Subjects: p.store,
		PublicURL: p.publicURL, NameServers: p.config.nameServers, StyleSheet: css.Problems,
	})
}

// storefront places orders.
func (p *program) storefront() *provisioning.Service {
	return provisioning.New(provisioning.Options{
		Tables: p.tables, Commands: p.store, Subjects: p.store, Payments: p.sagas, Offers: p.offers(), TaxRate: p.config.taxRate,
	})
}

// tokenKeys sign and open access tokens.
func (p *program) tokenKeys() (all []caller.TokenKey) {
	for _, key := range p.keys.DeriveAll("access tokens") {
		all = append(all, caller.TokenKey(key))
	}
	return all
}

// unsubscribeKeys sign the links in mails by which people want no more of
// them: the first signs, all are good.
func (p *program) unsubscribeKeys() (all [][]byte) {
	for _, key := range p.keys.DeriveAll("unsubscribe") {
		all = append(all, key.Key)
	}
	return all
}

// version is that of the build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
