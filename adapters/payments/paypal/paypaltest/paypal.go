// Package paypaltest is a PayPal of one's own, for tests: an API over HTTP
// with state behind it, the customer's page, webhooks that are signed by
// certificates of its own authority, and faults to order. It counts what it
// has really done, whatever its callers were told (docs/adapters.md, "PayPal").
package paypaltest

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// What the panel has to be told of this PayPal.
const (
	ClientID     = "test-client"
	ClientSecret = "test-client-secret-canary"
	WebhookID    = "WH0TEST"
	Merchant     = "MERCHANT0TEST"

	// CertificateHost is where the certificates are, for who comes by [PayPal.Dial].
	CertificateHost = "api.sandbox.paypal.com"
)

// A PayPal is one running copy.
type PayPal struct {
	URL string // of the API and the customer's pages

	api, certificates *httptest.Server
	stop              context.CancelFunc
	alive             context.Context

	mu       sync.Mutex
	next     int
	now      func() time.Time
	token    string // the only one that is good
	orders   map[string]*Order
	methods  map[string]bool   // that are kept, by token
	setups   map[string]*Setup // setup tokens, by id
	kept     []*Setup          // of which a method was made, even if they are gone
	unkept   string            // why no method is made of them from now on
	asked    map[string]*asked // by path and PayPal-Request-Id
	done     map[string]int    // by call and key
	calls    map[string]int    // by call, with those that came to nothing
	faults   []*Fault
	captures string // status of captures from now on
	vaulting string // what becomes of methods that are to be kept
	outbox   []Webhook
	served   map[string]http.HandlerFunc // certificates, by path
	dialled  []string
	lost     bool // webhooks are not even written down
	senders  sync.WaitGroup
}

// Start runs a PayPal. Close it.
func Start() *PayPal {
	p := &PayPal{
		now: time.Now, orders: map[string]*Order{}, methods: map[string]bool{}, vaulting: "VAULTED",
		setups: map[string]*Setup{}, asked: map[string]*asked{}, done: map[string]int{}, calls: map[string]int{},
		captures: "COMPLETED", served: map[string]http.HandlerFunc{},
	}
	p.alive, p.stop = context.WithCancel(context.Background())
	p.api = httptest.NewServer(p.routes())
	p.URL = p.api.URL
	p.certificates = serveCertificates(p)
	return p
}

// Close ends it, and everything that waits for an answer.
func (p *PayPal) Close() {
	p.stop()
	p.senders.Wait()
	p.api.CloseClientConnections()
	p.api.Close()
	p.certificates.Close()
}

// Roots vouch for the certificates, for the panel under test.
func (p *PayPal) Roots() *x509.CertPool { return authority().pool }

// Dial connects to this PayPal's certificates where PayPal's own host is
// meant, and writes every address down. Any other is dialled as it is.
func (p *PayPal) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	p.mu.Lock()
	p.dialled = append(p.dialled, address)
	p.mu.Unlock()
	if address == CertificateHost+":443" {
		address = p.certificates.Listener.Addr().String()
	}
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// Dialled are the addresses that certificates were asked for at.
func (p *PayPal) Dialled() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.dialled...)
}

// Now makes orders and captures carry other times than those of this machine.
func (p *PayPal) Now(now func() time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

// Revoke makes the token bad that callers have.
func (p *PayPal) Revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.token = ""
}

// Done is how often a call has really done something under a key: "create",
// "capture", "refund", "setup", "finish" or "forget". An empty key counts all.
func (p *PayPal) Done(call, key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key != "" {
		return p.done[call+" "+key]
	}
	return p.done[call]
}

// Calls is how often a call was made, whatever came of it: those of Done,
// "token", "get", "patch", "get setup", "list" and "certificate".
func (p *PayPal) Calls(call string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[call]
}

// did counts something that was really done.
func (p *PayPal) did(call, key string) {
	p.done[call]++
	p.done[call+" "+key]++
}

// id makes the next id, in PayPal's manner.
func (p *PayPal) id(of string) string {
	p.next++
	return fmt.Sprintf("%s%014d", of, p.next)
}
