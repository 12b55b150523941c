// Package stripe takes payments through Stripe Checkout: the customer pays on
// Stripe's page, or a method that the customer has saved is charged. Stripe's news only make us look, and what Stripe's own books
// say is what was paid, given back or claimed back (docs/adapters.md,
// "Stripe"; rules S-1 to S-6).
package stripe

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	sdk "github.com/stripe/stripe-go/v85"

	"hostpanel/adapters/payments"
)

// Where Stripe is, unless an address is set.
const (
	api   = "api.stripe.com"
	pages = "checkout.stripe.com"
)

const (
	patience = 10 * time.Second // with one answer
	largest  = 4 << 20          // answer in bytes; one with a hundred refunds has a tenth of it
)

// Options are what Stripe needs to know of us, and where it is.
type Options struct {
	Key     string   // secret or restricted key: sk_live_…, sk_test_…, rk_live_…, rk_test_…
	Secrets []string // of webhooks (whsec_…), all of them good; without one nothing can be verified
	URL     string   // of the API; empty: Stripe's own
}

// A Provider is an account at Stripe.
type Provider struct {
	client  *sdk.Client
	secrets []string
	live    bool
	host    string
}

var keys = regexp.MustCompile(`^(?:sk|rk)_(live|test)_[A-Za-z0-9_]+$`)

// What [New] finds wrong with a field of [Options]; values are never told.
var (
	ErrKey    = errors.New("not a key such as sk_live_… or sk_test_…")
	ErrSecret = errors.New("one of the secrets is empty")
	ErrURL    = errors.New("not an address such as https://api.stripe.com; http is for this machine alone")
)

// New returns the provider. Nothing is asked of Stripe yet.
func New(o Options) (*Provider, error) {
	mode := keys.FindStringSubmatch(o.Key)
	if mode == nil {
		return nil, ErrKey
	}
	for _, secret := range o.Secrets {
		if strings.TrimSpace(secret) == "" {
			return nil, ErrSecret
		}
	}
	base, host, err := address(o.URL)
	if err != nil {
		return nil, err
	}
	return &Provider{client: clientOf(o.Key, base), secrets: o.Secrets, live: mode[1] == "live", host: host}, nil
}

// address is where the API is, and the host of the payment pages. A server
// that stands in for Stripe has both.
func address(text string) (base, host string, err error) {
	if text == "" {
		return sdk.APIURL, pages, nil
	}
	u, err := url.Parse(strings.TrimRight(text, "/"))
	if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", "", ErrURL
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !payments.Loopback(u.Hostname())) {
		return "", "", ErrURL // the key would travel in clear text
	}
	if u.Host == api {
		return u.String(), pages, nil
	}
	return u.String(), u.Host, nil
}

// clientOf talks to Stripe: one try for each call, so that the ledger knows of
// every one, and in silence, because answers hold personal data (rule S-1).
func clientOf(key, base string) *sdk.Client {
	backend := sdk.GetBackendWithConfig(sdk.APIBackend, &sdk.BackendConfig{
		URL: sdk.String(base), MaxNetworkRetries: sdk.Int64(0), EnableTelemetry: sdk.Bool(false),
		LeveledLogger: &sdk.LeveledLogger{Level: sdk.LevelNull},
		HTTPClient:    &http.Client{Timeout: patience, Transport: cautious{http.DefaultTransport.(*http.Transport).Clone()}},
	})
	return sdk.NewClient(key, sdk.WithBackends(&sdk.Backends{API: backend}))
}

// cautious follows no redirect, which could carry the key elsewhere, and reads
// no more than an answer can have.
type cautious struct{ next http.RoundTripper }

// RoundTrip makes one call.
func (c cautious) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if a.StatusCode/100 == 3 {
		_ = a.Body.Close()
		return nil, fmt.Errorf("redirected with %d", a.StatusCode)
	}
	a.Body = capped{io.LimitReader(a.Body, largest), a.Body}
	return a, nil
}

type capped struct {
	io.Reader
	io.Closer
}

// Name is that of the provider in orders.
func (p *Provider) Name() string { return name }

// Host is where the payment pages are.
func (p *Provider) Host() string { return p.host }

// Live tells whether the key moves real money.
func (p *Provider) Live() bool { return p.live }
