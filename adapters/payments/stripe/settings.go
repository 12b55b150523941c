package stripe

import (
	"errors"
	"fmt"

	"hostpanel/adapters/payments"
	"hostpanel/domain/order"
)

const name = "stripe"

// Settings are the flags and environment variables of an account at Stripe.
type Settings struct {
	SecretKey     string `kong:"-" env:"STRIPE_SECRET_KEY" secret:"" placeholder:"SECRET"`
	WebhookSecret string `kong:"-" env:"STRIPE_WEBHOOK_SECRET" secret:"" placeholder:"SECRET"`
	APIURL        string `name:"stripe-api-url" env:"STRIPE_API_URL" placeholder:"URL"`
}

// Abouts are the texts of the settings, by variable.
func (*Settings) Abouts() map[string]string {
	return map[string]string{
		"STRIPE_SECRET_KEY":     "Of an account at Stripe, sk_live_… or sk_test_…; none: Stripe is not offered.",
		"STRIPE_WEBHOOK_SECRET": "Signs Stripe's webhooks; several with commas while rotating.",
		"STRIPE_API_URL":        "Where Stripe's API is; none: at Stripe.",
	}
}

// currencies are those that Stripe takes with the places that ISO 4217 gives them. Of
// three places it wants the last digit to be 0, which totals always have. ISK and UGX are
// not here: Stripe counts them in hundredths.
const currencies = "EUR USD GBP CHF PLN SEK NOK DKK CZK CAD AUD NZD SGD HKD MXN BRL ILS PHP THB HUF TWD RON TRY INR ZAR " +
	"JPY KRW CLP VND PYG XAF XOF XPF RWF BIF DJF GNF KMF MGA VUV BHD JOD KWD OMR TND"

// Method is Stripe as a payment method.
func (*Settings) Method() order.Method {
	return order.Method{
		Name: name, Currencies: payments.Currencies(currencies), Label: order.Label{EN: "Card (Stripe)", ES: "Tarjeta (Stripe)"},
	}
}

// Defaults are where Stripe is.
func (*Settings) Defaults(bool) map[string]string {
	return map[string]string{"STRIPE_API_URL": "https://" + api}
}

// Check validates the settings. Without a key Stripe is not offered.
func (s *Settings) Check(demo bool) (offered bool, warnings []string, err error) {
	if s.SecretKey == "" {
		if s.WebhookSecret != "" || s.APIURL != "" {
			warnings = append(warnings, "STRIPE_SECRET_KEY is not set: Stripe is not offered")
		}
		return false, warnings, nil
	}
	p, err := opened(s)
	if err != nil {
		return false, nil, fmt.Errorf("%s: %w", settingOf(err), err)
	}
	switch {
	case demo && p.Live():
		return false, nil, errors.New("STRIPE_SECRET_KEY: the demo takes no real money, so no key but sk_test_…")
	case !demo && !p.Live():
		warnings = append(warnings, "STRIPE_SECRET_KEY is one for tests: payments at Stripe are without money")
	}
	if len(p.secrets) == 0 {
		warnings = append(
			warnings,
			"STRIPE_WEBHOOK_SECRET is not set: Stripe's webhooks are turned away, and payments are noticed minutes later",
		)
	}
	return true, warnings, nil
}

// Open returns the provider.
func (s *Settings) Open(payments.Panel) (order.Provider, error) { return opened(s) }

// opened is a function, not a method: packages that see Settings would compile Stripe's types for it.
func opened(s *Settings) (*Provider, error) {
	return New(Options{Key: s.SecretKey, Secrets: payments.List(s.WebhookSecret), URL: s.APIURL})
}

// settingOf names the setting that an error of [New] is about.
func settingOf(err error) string {
	switch {
	case errors.Is(err, ErrKey):
		return "STRIPE_SECRET_KEY"
	case errors.Is(err, ErrSecret):
		return "STRIPE_WEBHOOK_SECRET"
	}
	return "STRIPE_API_URL"
}
