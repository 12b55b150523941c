//go:build providers

package stripe_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/adapters/payments/stripe/stripetest"
)

// To run these tests, install their tools by make providers.

// witness passes calls on to a Stripe with books, and shows each to
// stripe-mock, which has none but knows Stripe's description of its API.
type witness struct {
	t     *testing.T
	books http.Handler
	mock  string // URL
	mu    sync.Mutex
	seen  map[string]int
}

func (w *witness) ServeHTTP(a http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		w.t.Error(err)
	}
	w.show(q, body)
	q.Body = io.NopCloser(bytes.NewReader(body))
	w.books.ServeHTTP(a, q)
}

func (w *witness) show(q *http.Request, body []byte) {
	copied, err := http.NewRequestWithContext(w.t.Context(), q.Method, w.mock+q.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		w.t.Error(err)
		return
	}
	copied.Header = q.Header.Clone()
	a, err := http.DefaultClient.Do(copied)
	if err != nil {
		w.t.Error(err)
		return
	}
	defer func() { _ = a.Body.Close() }()
	call := q.Method + " " + regexp.MustCompile(`/(?:cs_test|pi|pm|seti)_\w+`).ReplaceAllString(q.URL.Path, "/…")
	if a.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(a.Body)
		w.t.Errorf("%s %s: Stripe would answer %d: %s", call, body, a.StatusCode, said)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[call]++
}

// mock starts stripe-mock on this machine and returns where it is.
func mock(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, os.Getenv("STRIPE_MOCK"), "-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatalf("start stripe-mock (make providers installs it): %v", err)
	}
	t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	found := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if _, address, ok := strings.Cut(lines.Text(), "Listening for HTTP at address: "); ok {
				found <- "http://" + address
			}
		}
	}()
	select {
	case url := <-found:
		return url
	case <-time.After(time.Minute):
		t.Fatal("stripe-mock does not say where it listens")
		return ""
	}
}

func TestEveryRequestIsOneThatStripeDescribes(t *testing.T) {
	s := stripetest.Start(t, stripetest.Options{})
	books, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{t: t, books: httputil.NewSingleHostReverseProxy(books), mock: mock(t), seen: map[string]int{}}
	front := httptest.NewServer(w)
	t.Cleanup(front.Close)
	p := at(t, front.URL, stripetest.Key)
	session, call := sold(t, p, s)
	for range 11 { // more than come along with a session
		s.Refund(call.Payment, 1)
	}
	if _, err := p.Refund(t.Context(), call); err != nil {
		t.Error(err)
	}
	fetch(t, p, session)
	for _, language := range []string{"en", "pt-BR", "gl"} {
		c := checkout()
		c.Language = language
		if err := p.ExpireSession(t.Context(), open(t, p, c).ID); err != nil {
			t.Error(err)
		}
	}
	free := checkout()
	free.Minor = 0
	open(t, p, free)
	charges(t, p, s)
	adds(t, p, s)
	for _, call := range []string{
		"POST /v1/checkout/sessions", "GET /v1/checkout/sessions/…", "POST /v1/checkout/sessions/…/expire",
		"POST /v1/refunds", "GET /v1/refunds", "GET /v1/disputes",
		"POST /v1/payment_intents", "GET /v1/payment_intents/…", "POST /v1/payment_intents/…", "POST /v1/payment_intents/…/confirm",
		"POST /v1/payment_intents/…/cancel", "GET /v1/payment_methods/…", "POST /v1/payment_methods/…/detach",
		"GET /v1/setup_intents/…",
	} {
		if w.seen[call] == 0 {
			t.Errorf("%s was not made; there were %v", call, w.seen)
		}
	}
}

// adds makes every call about a method that is added without a payment: the session in the
// mode "setup", its end, and the setup intent.
func adds(t *testing.T, p *stripe.Provider, s *stripetest.Server) {
	t.Helper()
	page := setup(t, p, adding())
	s.Add(page.ID)
	if f := fetch(t, p, page.ID); f.Saved == nil {
		t.Errorf("nothing was added: %+v", f)
	}
	if err := p.ExpireSession(t.Context(), setup(t, p, adding()).ID); err != nil {
		t.Error(err)
	}
}

// charges makes every call about a saved method.
func charges(t *testing.T, p *stripe.Provider, s *stripetest.Server) {
	t.Helper()
	m := saved(t, p, s)
	for _, outcome := range []string{"succeeded", "refused charge_exceeds_source_limit"} {
		c := renewal(m)
		id := open(t, p, c).ID
		s.ChargesBecome(outcome)
		_ = p.Capture(t.Context(), captureOf(c, id))
		fetch(t, p, id)
		if err := p.ExpireSession(t.Context(), id); err != nil {
			t.Error(err)
		}
	}
	if err := p.Forget(t.Context(), m); err != nil {
		t.Error(err)
	}
	if err := p.Forget(t.Context(), m); err != nil { // looked up
		t.Error(err)
	}
}

func TestStripesLibraryForNodeSignsAsWeVerify(t *testing.T) {
	p, e, _ := told(t)
	now := time.Now()
	cmd := exec.CommandContext(t.Context(), "node", "sign.mjs", fmt.Sprint(now.Unix()), stripetest.Secret, "whsec_else")
	cmd.Dir = "testdata/node"
	cmd.Stdin = bytes.NewReader(e.Body)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	headers := strings.Fields(string(out))
	if len(headers) != 2 {
		t.Fatalf("signed %q", out)
	}
	if n, err := p.Verify(e.Body, http.Header{stripe.Header: headers[:1]}, now); err != nil || n.EventID != e.ID {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := p.Verify(e.Body, http.Header{stripe.Header: headers[1:]}, now); err == nil {
		t.Error("another secret was taken")
	}
}
