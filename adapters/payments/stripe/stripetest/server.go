// Package stripetest is a Stripe to try things out with: an API over HTTP with
// books of its own, which keeps its promises about idempotency keys, refuses
// what it does not know, signs and delivers webhooks, and fails when it is told
// to. What customers, their banks and people at Stripe's dashboard do is a
// method of [Server]. Name it in STRIPE_API_URL (docs/adapters.md, "Stripe").
package stripetest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key and Secret are good at every [Server] that is started without others.
const (
	Key    = "sk_test_OfTheTests"
	Secret = "whsec_of_the_tests"
)

// Options are how a [Server] differs from others.
type Options struct {
	Key      string           // that it takes; empty: [Key]. sk_live_… makes it one of real money
	Secrets  []string         // each of which signs every webhook; none: [Secret]
	Webhooks string           // where they are delivered; empty: nowhere, until [Server.DeliverTo]
	Now      func() time.Time // nil: time.Now
}

// A Server is one account at Stripe.
type Server struct {
	URL string // of the API, and of the payment pages

	options Options
	http    *httptest.Server
	over    context.Context // once the server is closed
	close   context.CancelFunc

	mu       sync.Mutex
	sessions map[string]*session
	intents  map[string]*intent
	methods  map[string]*method
	setups   map[string]*setup
	refunds  []*refund  // oldest first
	disputes []*dispute // likewise
	keys     map[string]*kept
	made     map[string]int // by idempotency key
	calls    []Call
	faults   []Fault
	becomes  string // of refunds that are asked for
	outcome  string // of charges that are confirmed
	post     delivery
}

// A Call is one request to the API.
type Call struct {
	Name   string // open, fetch, expire, refund, refunds, disputes, charge, intent, note, confirm, cancel, method, detach
	Key    string // of idempotency
	Params map[string]string
}

// New starts a server on this machine. Close it.
func New(o Options) *Server {
	if o.Key == "" {
		o.Key = Key
	}
	if len(o.Secrets) == 0 {
		o.Secrets = []string{Secret}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{
		options: o, sessions: map[string]*session{}, intents: map[string]*intent{}, keys: map[string]*kept{}, made: map[string]int{},
		methods: map[string]*method{}, setups: map[string]*setup{}, becomes: "succeeded", outcome: "succeeded",
		post: delivery{to: o.Webhooks, copies: 1},
	}
	s.over, s.close = context.WithCancel(context.Background())
	s.http = httptest.NewServer(s.routes())
	s.URL = s.http.URL
	return s
}

// Start is [New] for the time of a test.
func Start(t testing.TB, o Options) *Server {
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

// Close ends what is being answered and delivered.
func (s *Server) Close() {
	s.close()
	s.http.CloseClientConnections()
	s.http.Close()
	s.post.running.Wait()
}

func (s *Server) routes() http.Handler {
	m := http.NewServeMux()
	m.Handle("POST /v1/checkout/sessions", s.answering("open", opening, s.open))
	m.Handle("GET /v1/checkout/sessions/{id}", s.answering("fetch", expanding, s.fetch))
	m.Handle("POST /v1/checkout/sessions/{id}/expire", s.answering("expire", expanding, s.expire))
	m.Handle("POST /v1/refunds", s.answering("refund", refunding, s.refund))
	m.Handle("GET /v1/refunds", s.answering("refunds", listing, s.listRefunds))
	m.Handle("GET /v1/disputes", s.answering("disputes", listing, s.listDisputes))
	m.Handle("POST /v1/payment_intents", s.answering("charge", charging, s.charge))
	m.Handle("GET /v1/payment_intents/{id}", s.answering("intent", expanding, s.fetchIntent))
	m.Handle("POST /v1/payment_intents/{id}", s.answering("note", noting, s.note))
	m.Handle("POST /v1/payment_intents/{id}/confirm", s.answering("confirm", confirming, s.confirm))
	m.Handle("POST /v1/payment_intents/{id}/cancel", s.answering("cancel", cancelling, s.cancelIntent))
	m.Handle("GET /v1/setup_intents/{id}", s.answering("setup", expanding, s.fetchSetup))
	m.Handle("GET /v1/payment_methods/{id}", s.answering("method", expanding, s.fetchMethod))
	m.Handle("POST /v1/payment_methods/{id}/detach", s.answering("detach", expanding, s.detach))
	m.HandleFunc("GET /c/pay/{id}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("Here the customer would pay.\n"))
	})
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		invalid("", "", "Unrecognized request URL ("+r.Method+": "+r.URL.Path+").").as(http.StatusNotFound).write(w)
	})
	return m
}

// live tells whether the account is one of real money.
func (s *Server) live() bool { return strings.Contains(s.options.Key, "_live_") }

func (s *Server) now() time.Time { return s.options.Now() }

// mode is part of the ids of sessions.
func (s *Server) mode() string {
	if s.live() {
		return "live_"
	}
	return "test_"
}

func newID(prefix string) string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails
	return prefix + hex.EncodeToString(b)
}

// Calls are all that have been made, in their order. An empty name is any.
func (s *Server) Calls(name string) (found []Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		if name == "" || c.Name == name {
			found = append(found, c)
		}
	}
	return found
}

// Created tells how many objects a key has created: more than one is an error
// of the caller that used it for so long, or of this server.
func (s *Server) Created(key string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.made[key]
}

// Keys are those under which something was created.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.made))
}
