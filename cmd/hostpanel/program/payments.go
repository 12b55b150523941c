package program

import (
	"context"

	"golang.org/x/sync/errgroup"

	"hostpanel/adapters/payments"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/orders"
)

// openProviders opens the payment providers that are in use. All is for
// commands: what a provider without real money has sent can be replayed
// whether or not it is offered.
func (p *Program) openProviders() (map[string]order.Provider, error) {
	all := map[string]order.Provider{}
	for _, one := range p.Config.Payments {
		needed := one.Offered || p.Config.Joined && one.Method().Test
		if !needed {
			continue
		}
		var err error
		one.Opened, err = one.Open(
			payments.Panel{PublicURL: p.PublicURL, Pool: p.Pool, Key: p.Keys.Derive, Now: p.Store.Clock().Now, Log: p.Log},
		)
		if err != nil {
			return nil, err
		}
		all[one.Method().Name] = one.Opened
	}
	return all, nil
}

// offers are the payment methods as the API shows them.
func (p *Program) offers() (all order.Offers) {
	for _, one := range p.Config.Payments {
		offer := order.Offer{Method: one.Method(), Configured: one.Opened != nil}
		if offer.Configured {
			offer.Live, offer.Host = one.Opened.Live(), one.Opened.Host()
			_, offer.Saves = one.Opened.(order.Saver)
			_, offer.Keeps = one.Opened.(order.Keeper)
		}
		all = append(all, offer)
	}
	return all
}

// hostedProvider is the provider whose payment page the panel itself shows.
type hostedProvider interface {
	orders.HostedCheckout
	WebhookSecret() string
}

// Hosted returns the provider whose payment page the panel itself shows; nil if
// it is not in use.
func (p *Program) Hosted() hostedProvider {
	for _, one := range p.Config.Payments {
		if h, ok := one.Opened.(hostedProvider); ok {
			return h
		}
	}
	return nil
}

// runProviders starts what providers do in the background.
func (p *Program) runProviders(ctx context.Context, group *errgroup.Group) {
	for _, one := range p.Config.Payments {
		if r, ok := one.Opened.(payments.Runner); ok {
			group.Go(func() error { return r.Run(ctx) })
		}
	}
}

// providerMigrations make the tables of providers that keep books of their own.
func providerMigrations() (all []eventstore.Migration) {
	for _, one := range config.Providers() {
		if m, ok := one.(payments.Migrating); ok {
			all = append(all, eventstore.Migration{Area: "payments_" + m.Method().Name, Files: m.Migrations()})
		}
	}
	return all
}
