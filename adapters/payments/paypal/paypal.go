// Package paypal takes money through PayPal: the customer agrees to pay on
// PayPal's page, and the panel takes what was agreed, or charges an account that
// the customer has saved. A few small calls of PayPal's REST API do all of it;
// its webhooks are checked here, without asking PayPal, and believed in nothing
// but what they refer to (docs/adapters.md, "PayPal").
package paypal

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2/clientcredentials"

	"hostpanel/adapters/payments"
)

// A Config says which account at PayPal is paid.
type Config struct {
	ClientID, ClientSecret string   // of the app at PayPal
	WebhookIDs             []string // under which PayPal sends us news; none: no webhook can be verified
	URL                    string   // of the API: [Live], [Sandbox] or a server on this machine; empty: Live

	// How the certificates are fetched that sign webhooks, and who vouches for
	// them. Nothing outside a program's own code can set them.
	Roots *x509.CertPool                                                       // nil: those of the system
	Dial  func(ctx context.Context, network, address string) (net.Conn, error) // nil: over the network

	Log *slog.Logger // nil: no log
}

// PayPal's two worlds: with money, and without.
const (
	Live    = "https://api-m.paypal.com"
	Sandbox = "https://api-m.sandbox.paypal.com"
)

// A world is where PayPal's API, its pages and its certificates live.
type world struct {
	api, pages, certificates string // hosts
	live                     bool
}

var worlds = []world{
	{"api-m.paypal.com", "www.paypal.com", "api.paypal.com", true},
	{"api.paypal.com", "www.paypal.com", "api.paypal.com", true},
	{"api-m.sandbox.paypal.com", "www.sandbox.paypal.com", "api.sandbox.paypal.com", false},
	{"api.sandbox.paypal.com", "www.sandbox.paypal.com", "api.sandbox.paypal.com", false},
}

// A Provider is one account at PayPal.
type Provider struct {
	Config
	world world
	http  *http.Client
	purse *purse
	certs *certificates
}

// New returns the provider of a configuration. It calls nothing yet. An
// address that is neither PayPal's nor on this machine is an error.
func New(c Config) (*Provider, error) {
	if c.ClientID == "" || c.ClientSecret == "" {
		return nil, errors.New("paypal: a client id and its secret are needed")
	}
	if c.URL == "" {
		c.URL = Live
	}
	c.URL = strings.TrimSuffix(c.URL, "/")
	world, err := worldOf(c.URL)
	if err != nil {
		return nil, err
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	client := &http.Client{Timeout: callLimit, CheckRedirect: stay}
	return &Provider{
		Config: c, world: world, http: client,
		purse: newPurse(
			client,
			clientcredentials.Config{ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.URL + "/v1/oauth2/token"},
		),
		certs: newCertificates(world.certificates, c.Roots, c.Dial),
	}, nil
}

// worldOf finds the world of an API. A server on this machine stands for the
// sandbox, with its own pages.
func worldOf(api string) (world, error) {
	u, err := url.Parse(api)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return world{}, errors.New("paypal: the address of the API is not one such as " + Live)
	}
	for _, w := range worlds {
		if u.Scheme == "https" && u.Host == w.api {
			return w, nil
		}
	}
	if (u.Scheme == "http" || u.Scheme == "https") && payments.Loopback(u.Hostname()) {
		return world{api: u.Host, pages: u.Host, certificates: "api.sandbox.paypal.com"}, nil
	}
	return world{}, errors.New("paypal: the API is at " + Live + " or " + Sandbox + ", or on this machine")
}

// stay follows no redirects: a redirected write would be a second one.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Name is that of the provider in orders.
func (p *Provider) Name() string { return name }

// Host is where PayPal's payment pages live.
func (p *Provider) Host() string { return p.world.pages }

// Live tells whether real money moves.
func (p *Provider) Live() bool { return p.world.live }
