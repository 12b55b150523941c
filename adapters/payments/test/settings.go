package test

import (
	"embed"
	"errors"
	"fmt"

	"hostpanel/adapters/payments"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
)

const name = "test"

// Settings are the flags and environment variables of the test provider.
type Settings struct {
	Payments      string `name:"test-payments" env:"HOSTPANEL_TEST_PAYMENTS" placeholder:"off"`
	WebhookSecret string `kong:"-" env:"HOSTPANEL_TEST_WEBHOOK_SECRET" secret:"" placeholder:"SECRET"`
}

// Abouts are the texts of the settings, by variable.
func (*Settings) Abouts() map[string]string {
	return map[string]string{
		"HOSTPANEL_TEST_PAYMENTS":       "Offer payments without money: on or off.",
		"HOSTPANEL_TEST_WEBHOOK_SECRET": "Signs the test provider's webhooks; none: derived from the secret key.",
	}
}

// Method is the test provider as a payment method.
func (*Settings) Method() order.Method {
	return order.Method{
		Name: name, Test: true, Currencies: money.Currencies(),
		Label: order.Label{EN: "Test payment, without money", ES: "Pago de prueba, sin dinero"},
	}
}

// Defaults are those of the settings: only the demo has the test provider by itself.
func (*Settings) Defaults(demo bool) map[string]string {
	return map[string]string{"HOSTPANEL_TEST_PAYMENTS": map[bool]string{true: "on", false: "off"}[demo]}
}

// Check validates the settings. The demo always offers the test provider.
func (s *Settings) Check(demo bool) (offered bool, warnings []string, err error) {
	switch {
	case s.Payments == "":
		return demo, nil, nil
	case s.Payments != "on" && s.Payments != "off":
		return false, nil, fmt.Errorf("HOSTPANEL_TEST_PAYMENTS is on or off, not %q", s.Payments)
	case demo && s.Payments == "off":
		return false, nil, errors.New("HOSTPANEL_TEST_PAYMENTS is off, but the demo pays with nothing else")
	}
	return s.Payments == "on", nil, nil
}

// Open returns the provider. Its books stand in the panel's own database.
func (s *Settings) Open(p payments.Panel) (order.Provider, error) {
	secret := s.WebhookSecret
	if secret == "" {
		secret = fmt.Sprintf("whsec_%x", p.Key("test webhooks"))
	}
	return New(p.Pool, Options{PublicURL: p.PublicURL, Secret: []byte(secret), Now: p.Now, Log: p.Log}), nil
}

// Migrations make the tables of the books.
func (*Settings) Migrations() embed.FS { return Migrations }
