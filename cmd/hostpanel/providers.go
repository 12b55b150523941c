package main

import (
	"context"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"hostpanel/adapters/payments"
	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/http/storefront"
)

// providers returns the payment providers, in the order in which the API names
// them. A new provider is a line here and a package below adapters/payments.
func providers() kong.Plugins {
	return kong.Plugins{&stripe.Settings{}, &paypal.Settings{}, &test.Settings{}}
}

// A provider is one payment provider of this program.
type provider struct {
	payments.Settings
	offered bool           // customers can choose it
	opened  order.Provider // nil: it is not in use
}

// providers checks the settings of every payment provider.
func (c *config) providers(s Settings) error {
	if s.Payments == nil {
		s.Payments = providers()
	}
	for _, one := range s.Payments {
		settings := one.(payments.Settings) //nolint:forcetypeassert // see providers
		offered, warnings, err := settings.Check(c.demo)
		if err != nil {
			return misused("%w", err)
		}
		c.warnings = append(c.warnings, warnings...)
		c.payments = append(c.payments, &provider{Settings: settings, offered: offered})
	}
	return nil
}

// openProviders opens the payment providers that are in use. All is for
// commands: what a provider without real money has sent can be replayed
// whether or not it is offered.
func (p *program) openProviders() (map[string]order.Provider, error) {
	all := map[string]order.Provider{}
	for _, one := range p.config.payments {
		needed := one.offered || p.config.joined && one.Method().Test
		if !needed {
			continue
		}
		var err error
		one.opened, err = one.Open(payments.Panel{PublicURL: p.publicURL, Pool: p.pool, Key: p.keys.Derive, Log: p.log})
		if err != nil {
			return nil, err
		}
		all[one.Method().Name] = one.opened
	}
	return all, nil
}

// offers are the payment methods as the API shows them.
func (p *program) offers() (all order.Offers) {
	for _, one := range p.config.payments {
		all = append(all, order.Offer{Method: one.Method(), Configured: one.opened != nil, Live: one.opened != nil && one.opened.Live()})
	}
	return all
}

// hostedProvider is the provider whose payment page the panel itself shows.
type hostedProvider interface {
	storefront.HostedCheckout
	WebhookSecret() string
}

// hosted returns the provider whose payment page the panel itself shows; nil if
// it is not in use.
func (p *program) hosted() hostedProvider {
	for _, one := range p.config.payments {
		if h, ok := one.opened.(hostedProvider); ok {
			return h
		}
	}
	return nil
}

// runProviders starts what providers do in the background.
func (p *program) runProviders(ctx context.Context, group *errgroup.Group) {
	for _, one := range p.config.payments {
		if r, ok := one.opened.(payments.Runner); ok {
			group.Go(func() error { return r.Run(ctx) })
		}
	}
}

// providerMigrations make the tables of providers that keep books of their own.
func providerMigrations() (all []eventstore.Migration) {
	for _, one := range providers() {
		if m, ok := one.(payments.Migrating); ok {
			all = append(all, eventstore.Migration{Area: "payments_" + m.Method().Name, Files: m.Migrations()})
		}
	}
	return all
}
