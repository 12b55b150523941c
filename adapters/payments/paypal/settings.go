package paypal

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"

	"hostpanel/adapters/payments"
	"hostpanel/domain/order"
)

const name = "paypal"

// currencies are those that PayPal takes, with the decimal places of amounts
// in its API.
var currencies = func() map[string]int32 {
	taken := payments.Currencies("EUR USD GBP CHF PLN SEK NOK DKK CZK CAD AUD NZD SGD HKD MXN BRL ILS PHP THB JPY")
	maps.Copy(taken, map[string]int32{"HUF": 0, "TWD": 0})
	return taken
}()

// Settings are the flags and environment variables of an account at PayPal.
type Settings struct {
	ClientID     string `name:"paypal-client-id" env:"PAYPAL_CLIENT_ID" placeholder:"ID"`
	ClientSecret string `kong:"-" env:"PAYPAL_CLIENT_SECRET" secret:"" placeholder:"SECRET"`
	WebhookID    string `name:"paypal-webhook-id" env:"PAYPAL_WEBHOOK_ID" placeholder:"ID"`
	APIURL       string `name:"paypal-api-url" env:"PAYPAL_API_URL" placeholder:"URL"`

	// Roots and Dial are those of [Config]. No flag sets them.
	Roots *x509.CertPool                                                       `kong:"-"`
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) `kong:"-"`
}

// Abouts are the texts of the settings, by variable.
func (*Settings) Abouts() map[string]string {
	return map[string]string{
		"PAYPAL_CLIENT_ID":     "Of the app at PayPal; none: PayPal is not offered.",
		"PAYPAL_CLIENT_SECRET": "Of the app at PayPal.",
		"PAYPAL_WEBHOOK_ID":    "Under which PayPal sends webhooks; several with commas while it is being changed.",
		"PAYPAL_API_URL":       "PayPal's API; https://api-m.sandbox.paypal.com is the one without money.",
	}
}

// Method is PayPal as a payment method. It refuses payments of nothing.
func (*Settings) Method() order.Method {
	return order.Method{Name: name, Currencies: currencies, Least: 1, Label: order.Label{EN: "PayPal", ES: "PayPal"}}
}

// Defaults are where PayPal is.
func (*Settings) Defaults(bool) map[string]string { return map[string]string{"PAYPAL_API_URL": Live} }

// Check validates the settings. Without any of them PayPal is not offered.
func (s *Settings) Check(demo bool) (offered bool, warnings []string, err error) {
	if s.ClientID+s.ClientSecret+s.WebhookID+s.APIURL == "" {
		return false, nil, nil
	}
	if s.ClientID == "" || s.ClientSecret == "" {
		return false, nil, errors.New("PAYPAL_CLIENT_ID and PAYPAL_CLIENT_SECRET are needed for PayPal, both of them")
	}
	p, err := s.provider(nil)
	switch {
	case err != nil:
		return false, nil, fmt.Errorf("PAYPAL_API_URL: %w", err)
	case demo && p.Live():
		return false, nil, fmt.Errorf("PAYPAL_API_URL: the demo takes no real money; PayPal's sandbox is %s", Sandbox)
	case p.WebhookIDs == nil:
		warnings = append(warnings, "PAYPAL_WEBHOOK_ID is not set: PayPal's webhooks are refused, and payments are noticed late")
	}
	return true, warnings, nil
}

// Open returns the provider.
func (s *Settings) Open(p payments.Panel) (order.Provider, error) { return s.provider(p.Log) }

func (s *Settings) provider(log *slog.Logger) (*Provider, error) {
	return New(Config{
		ClientID: s.ClientID, ClientSecret: s.ClientSecret, WebhookIDs: payments.List(s.WebhookID), URL: s.APIURL,
		Roots: s.Roots, Dial: s.Dial, Log: log,
	})
}
