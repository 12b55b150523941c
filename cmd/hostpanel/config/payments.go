package config

import (
	"github.com/alecthomas/kong"

	"hostpanel/adapters/payments"
	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/test"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/order"
)

// Providers returns the payment providers, in the order in which the API names
// them. A new provider is a line here and a package below adapters/payments.
func Providers() kong.Plugins {
	return kong.Plugins{&stripe.Settings{}, &paypal.Settings{}, &test.Settings{}}
}

// A Provider is one payment provider of this program.
type Provider struct {
	payments.Settings
	Offered bool           // customers can choose it
	Opened  order.Provider // nil: it is not in use
}

// providers checks the settings of every payment provider.
func (c *Config) providers(s Settings) error {
	for _, one := range s.Payments {
		settings := one.(payments.Settings) //nolint:forcetypeassert // see Providers
		offered, warnings, err := settings.Check(c.Demo)
		if err != nil {
			return console.Misused("%w", err)
		}
		c.warnings = append(c.warnings, warnings...)
		c.Payments = append(c.Payments, &Provider{Settings: settings, Offered: offered})
	}
	return nil
}

// providerDefault is what a setting of a payment provider is when nothing is given.
func (c *Config) providerDefault(variable string) string {
	for _, p := range c.Payments {
		if with, has := p.Settings.(payments.Defaulting); has && with.Defaults(c.Demo)[variable] != "" {
			return with.Defaults(c.Demo)[variable]
		}
	}
	return ""
}
