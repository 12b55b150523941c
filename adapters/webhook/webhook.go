// Package webhook tells tenants' own programs what has happened: it posts a
// signed message to an address that a stranger has chosen. So it calls nothing
// but the internet, by TLS, and believes nothing of what it is answered but
// the status (docs/webhooks.md, "Delivery"; docs/security.md, "Outbound webhooks").
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
)

// Options are how endpoints are called.
type Options struct {
	Networks []netip.Prefix   // that may be called although they are not the internet: on any port, and by http
	Resolver *net.Resolver    // nil: the machine's own
	Roots    *x509.CertPool   // authorities that sign endpoints' certificates; nil: the machine's own
	Timeout  time.Duration    // of one call; 0: 15 s
	Now      func() time.Time // nil: time.Now
}

// A Sender posts messages to endpoints. Nothing is kept from one call to the
// next: no connection, no cookie, no answer.
type Sender struct {
	clients map[string]*http.Client // by the scheme of the URL
	timeout time.Duration
	now     func() time.Time
}

// New prepares a sender.
func New(o Options) *Sender {
	s := &Sender{timeout: cmp.Or(o.Timeout, 15*time.Second), now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	s.clients = map[string]*http.Client{
		"https": client(o, addressPolicy{open: o.Networks, public: true}),
		"http":  client(o, addressPolicy{open: o.Networks}),
	}
	return s
}

const (
	connecting = 10 * time.Second // for the connection, and again for TLS
	headSize   = 16 << 10         // of the head of an answer
	bodySize   = 16 << 10         // of its body, as far as it is waited for
)

// client has no proxy: that would be who is called, wherever the name leads.
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

// Deliver posts a message, signed with each of the secrets, and answers with
// the status of the reply; 0: there was none. Anything but a 2xx is a
// *domain.Failure:
//
//   - gone, permanent: the endpoint says 410, and wants to hear nothing more
//   - address_refused, permanent: it is none that we call
//   - status_<n>, transient: it answered otherwise; RetryAfter is what it asks for
//   - dns_failed, unreachable, tls_failed, transient: it was not reached
//   - timeout, connection_lost, unknown: nobody knows what it has got
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
	_, _ = io.CopyN(io.Discard, a.Body, bodySize) // some receivers stop working when they are hung up on
	return a.StatusCode, judge(a, s.now())
}

func (s *Sender) head(q *http.Request, secrets [][]byte, m webhook.Message) {
	at := s.now()
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "hostpanel-webhooks/1",
		idHeader: m.ID, timeHeader: seconds(at), signatureHeader: sign(secrets, m.ID, at, m.Body()),
	} {
		q.Header.Set(name, value)
	}
}
