package route

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"hostpanel/domain"
)

// A Keyring knows the holders of API keys. It answers with [InvalidKey] or
// [ExpiredKey] for keys that open nothing.
type Keyring interface {
	Holder(ctx context.Context, key string, from netip.Addr) (Caller, error)
}

// Limits counts calls in a sliding window, shared by all processes.
type Limits interface {
	Take(ctx context.Context, key string, limit int, window time.Duration) (domain.Quota, error)
}

const apiKeyHeader = "X-Api-Key" // as net/http writes it

// What an API key may be refused with.
var (
	NoKey = &Refusal{
		Status: http.StatusUnauthorized, Detail: "Authentication credentials were not provided.",
		Slug: "not_authenticated",
	}
	InvalidKey   = &Refusal{Status: http.StatusUnauthorized, Detail: "Invalid API key.", Slug: "invalid_api_key"}
	ExpiredKey   = &Refusal{Status: http.StatusUnauthorized, Detail: "API key has expired.", Slug: "api_key_expired"}
	WrongOrigin  = &Refusal{Status: http.StatusForbidden, Detail: "Origin not allowed for this API key.", Slug: "origin_not_allowed"}
	NoPermission = &Refusal{
		Status: http.StatusForbidden, Detail: "You do not have permission to perform this action.",
		Slug: "permission_denied",
	}
)

// APIKey is the access rule of the storefront: the header X-API-Key, the
// origins of the key, and its calls per minute. public is our own URL, whose
// origin every key admits.
func APIKey(keys Keyring, limits Limits, public func() string) Access {
	return Access{
		Rule:      "storefront key",
		Scheme:    "apiKey",
		Security:  map[string]any{"type": "apiKey", "in": "header", "name": "X-API-Key"},
		Challenge: `ApiKey realm="storefront"`,
		Identify: func(ctx context.Context, r Request) (Caller, error) {
			key := r.Header.Get(apiKeyHeader)
			if key == "" {
				return Caller{}, NoKey
			}
			return keys.Holder(ctx, key, r.IP)
		},
		Admit: func(_ context.Context, r Request, c Caller) error {
			if origin := r.Header.Get("Origin"); origin != "" && !AdmitsOrigin(c.Origins, origin, public()) {
				return WrongOrigin
			}
			return nil
		},
		Limit: func(ctx context.Context, _ Request, c Caller) (Limit, error) {
			left, err := limits.Take(ctx, c.Principal, c.PerMinute, time.Minute)
			return Limit{Name: "key", Quota: left}, err
		},
	}
}
