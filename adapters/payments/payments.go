// Package payments is what every payment provider declares to the panel. Each
// provider is a package below this one that exports Settings; cmd/hostpanel
// lists them. No other package knows the name of a provider.
package payments

import (
	"context"
	"embed"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
)

// Settings are the flags and environment variables of one provider: a pointer
// to a struct with the tags of package kong.
type Settings interface {
	// Abouts say what each setting is about, by variable.
	Abouts() map[string]string
	// Method describes the provider as a payment method. It does not depend
	// on the settings.
	Method() order.Method
	// Check validates the settings. It tells whether customers are offered the
	// provider. The demo takes no real money.
	Check(demo bool) (offered bool, warnings []string, err error)
	// Open returns the provider. It is called after Check has offered it. A
	// provider without real money is also opened when it is not offered.
	Open(Panel) (order.Provider, error)
}

// Migrating settings are those of a provider with tables in the panel's
// database.
type Migrating interface {
	Settings
	Migrations() embed.FS
}

// Defaulting settings have values where nothing is given.
type Defaulting interface {
	Settings
	// Defaults are these values, by variable.
	Defaults(demo bool) map[string]string
}

// A Runner is a provider with work in the background. Run ends with its context.
type Runner interface{ Run(context.Context) error }

// A Reacher is a provider outside the panel. Reach tells whether its API answers
// and accepts the credentials; it changes nothing there.
type Reacher interface{ Reach(context.Context) error }

// A Panel is what a provider may use of the panel.
type Panel struct {
	PublicURL func() string               // without a slash at the end
	Pool      *pgxpool.Pool               // for a provider that keeps its books in the panel's database
	Key       func(purpose string) []byte // derived from the panel's secret key
	Now       func() time.Time            // the business clock, for a provider of the panel's own
	Log       *slog.Logger
}

// NotConfigured refuses a webhook that cannot be verified without a setting.
var NotConfigured = &domain.Error{
	Code: domain.Unavailable, Reason: "provider_not_configured", Message: "The payment provider is not configured.",
}

// InvalidSignature refuses a webhook whose signature is missing, wrong or too old.
var InvalidSignature = domain.Refuse(domain.Invalid, "Invalid signature.")

// Loopback tells whether a host is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// List splits a setting at its commas.
func List(text string) (parts []string) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// Currencies returns the known currencies out of codes, separated by spaces,
// with the decimal places of their minor units.
func Currencies(codes string) map[string]int32 {
	taken := map[string]int32{}
	for code := range strings.FieldsSeq(codes) {
		if places, known := money.Places(code); known {
			taken[code] = places
		}
	}
	return taken
}
