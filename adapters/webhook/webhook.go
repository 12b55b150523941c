// Package webhook posts signed messages about events to the endpoints of tenants.
// Tenants choose the URLs, so it calls public addresses only, with TLS, and uses
// only the status of the answer (docs/webhooks.md, "Delivery"; docs/security.md,
// "Outbound webhooks").
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"hostpanel/domain/webhook"
	"hostpanel/eventstore/clock"
)

// Options configure the calls of endpoints.
type Options struct {
	Networks []netip.Prefix   // private networks that may be called, on any port and by http
	Resolver *net.Resolver    // nil: the machine's own
	Roots    *x509.CertPool   // certificate authorities; nil: the machine's own
	Timeout  time.Duration    // of one call; 0: 15 s
	Now      func() time.Time // nil: clock.Now

	Installation string // of the panel, in the header hostpanel-installation
}

// A Sender posts messages to endpoints. Each call uses a new connection without
// cookies.
type Sender struct {
	clients map[string]*http.Client // by the scheme of the URL
	timeout time.Duration
	now     func() time.Time
	panel   string
}

// New returns a sender.
func New(o Options) *Sender {
	s := &Sender{timeout: cmp.Or(o.Timeout, 15*time.Second), now: clock.Or(o.Now), panel: o.Installation}
	s.clients = map[string]*http.Client{
		"https": client(o, addressPolicy{open: o.Networks, public: true}),
		"http":  client(o, addressPolicy{open: o.Networks}),
	}
	return s
}

const (
	connecting = 10 * time.Second // for the connection, and for the TLS handshake
	headSize   = 16 << 10         // limit of an answer's headers
	bodySize   = 16 << 10         // limit of the answer's body that is read
)

// client uses no proxy, because a proxy would bypass the check of addresses.
func client(o Options, d addressPolicy) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: dialer(o, d).DialContext, DisableKeepAlives: true, DisableCompression: true,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.Roots},
			TLSHandshakeTimeout: connecting, MaxResponseHeaderBytes: headSize,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Deliver posts a message, signed with each of the secrets, and returns the status
// of the answer; 0: none came. Any status but a 2xx is a *domain.Failure:
//
//   - gone, permanent: the endpoint answered 410
//   - address_refused, permanent: the address is not allowed
//   - status_<n>, transient: another status; RetryAfter is that of the answer
//   - dns_failed, unreachable, tls_failed, transient: the call was not sent
//   - timeout, connection_lost, unknown: the message may have been received
//
// No failure names the endpoint: its URL may hold a password.
func (s *Sender) Deliver(ctx context.Context, to string, secrets [][]byte, m webhook.Message) (status int, err error) {
	u, err := url.Parse(to)
	if err != nil || u.Hostname() == "" || u.User != nil {
		return 0, refused()
	}
	c, known := s.clients[u.Scheme]
	if !known {
		return 0, refused()
	}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(limited, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	q, err := http.NewRequestWithContext(traced, http.MethodPost, u.String(), bytes.NewReader(m.Body()))
	if err != nil {
		return 0, refused()
	}
	s.head(q, secrets, m)
	a, err := c.Do(q)
	if err != nil {
		return 0, unanswered(ctx, limited, connected.Load(), err)
	}
	defer func() { _ = a.Body.Close() }()
	_, _ = io.CopyN(io.Discard, a.Body, bodySize) // some receivers fail if the connection is closed early
	return a.StatusCode, judge(a, s.now())
}

func (s *Sender) head(q *http.Request, secrets [][]byte, m webhook.Message) {
	at := s.now()
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "hostpanel-webhooks/1",
		idHeader: m.ID, timeHeader: seconds(at), signatureHeader: sign(secrets, m.ID, at, m.Body()),
		panelHeader: s.panel,
	} {
		q.Header.Set(name, value)
	}
}
