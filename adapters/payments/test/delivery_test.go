package test_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/payments/test"
	"hostpanel/domain/order"
)

// A listener is a panel that takes webhooks and answers each with the next status, then 200.
type listener struct {
	*httptest.Server
	t        *testing.T
	mu       sync.Mutex
	answers  []int
	received chan string // event ids
	busy     int
	mostBusy int
	verifier *test.Provider
}

func newPanel(t *testing.T, answers ...int) *listener {
	p := &listener{t: t, answers: answers, received: make(chan string, 1000), verifier: test.New(nil, test.Options{Secret: secret})}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

func (p *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	status := http.StatusOK
	if len(p.answers) > 0 {
		status, p.answers = p.answers[0], p.answers[1:]
	}
	p.busy++
	p.mostBusy = max(p.mostBusy, p.busy)
	p.mu.Unlock()
	raw, _ := io.ReadAll(r.Body)
	n, err := p.verifier.Verify(raw, r.Header, time.Now()) // signatures have the real time
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/storefront/webhooks/test/" {
		p.t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	w.Header().Set("Location", "/elsewhere")
	w.WriteHeader(status)
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
	p.received <- n.EventID
}

// next is the id of the next event that arrives.
func (p *listener) next() string {
	p.t.Helper()
	select {
	case id := <-p.received:
		return id
	case <-time.After(time.Minute):
		p.t.Fatal("no webhook came")
		return ""
	}
}

// delivering runs the provider until stop is called, at latest to the end of the test.
func delivering(t *testing.T, p *test.Provider) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func atPanel(t *testing.T, c *clock, p *listener, db *pgxpool.Pool) (*test.Provider, string) {
	provider := test.New(db, test.Options{
		PublicURL: func() string { return p.URL }, Secret: secret, Now: c.now, Log: slog.New(slog.DiscardHandler),
	})
	return provider, open(t, provider, checkout(c, uuid.New())).ID
}

func TestAPressedButtonIsToldToThePanel(t *testing.T) {
	c := newClock()
	p := newPanel(t)
	provider, session := atPanel(t, c, p, pool(t))
	delivering(t, provider)
	act(t, provider, order.HostedAction{Session: session, Action: "pay"})
	p.next()
}

func TestCopiesAreOneEventOrEachTheirOwn(t *testing.T) { // F-3, F-4
	for distinct, events := range map[bool]int{false: 1, true: 200} {
		c := newClock()
		p := newPanel(t)
		provider, session := atPanel(t, c, p, pool(t))
		delivering(t, provider)
		act(t, provider, order.HostedAction{Session: session, Action: "pay", Copies: 200, Distinct: distinct})
		seen := map[string]bool{}
		for range 200 {
			seen[p.next()] = true
		}
		if len(seen) != events {
			t.Errorf("200 copies, distinct %v: %d events", distinct, len(seen))
		}
		if p.mostBusy > 8 {
			t.Errorf("%d deliveries at once", p.mostBusy)
		}
	}
}

func TestAnUndeliverableWebhookIsGivenUpAfterThreeDays(t *testing.T) {
	c, db := newClock(), pool(t)
	p := newPanel(t, 500, 500)
	provider, session := atPanel(t, c, p, db)
	delivering(t, provider)
	act(t, provider, order.HostedAction{Session: session, Action: "pay"})
	for try := range 2 {
		p.next()
		afterTry(t, db, try+1)
		c.move(72*time.Hour + time.Second)
	}
	var open int
	if err := db.QueryRow(t.Context(), `select count(*) from test_payments.webhooks where over_at is null`).Scan(&open); err != nil ||
		open != 0 {
		t.Errorf("%d webhooks are still open (%v)", open, err)
	}
}

// afterTry waits until the outcome of a try is on record and returns when the
// next one is due.
func afterTry(t *testing.T, db *pgxpool.Pool, try int) (due time.Time) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		err := db.QueryRow(
			t.Context(), `select due_at from test_payments.webhooks where tries = $1 and lease_until < now()`, try,
		).Scan(&due)
		if err == nil {
			return due
		}
	}
	t.Fatalf("try %d was never recorded", try)
	return due
}

func TestAPaymentBeforeACrashIsToldAfterIt(t *testing.T) {
	c := newClock()
	p := newPanel(t)
	provider, session := atPanel(t, c, p, pool(t))
	act(t, provider, order.HostedAction{Session: session, Action: "pay"}) // nothing delivers yet
	delivering(t, provider)
	p.next()
}

func TestAWebhookMayBeDelayedOrDropped(t *testing.T) {
	c := newClock()
	p := newPanel(t)
	provider, session := atPanel(t, c, p, pool(t))
	delivering(t, provider)
	act(t, provider, order.HostedAction{Session: session, Action: "pay", Drop: true})
	wantBooks(t, provider, session, order.SessionComplete, paid(3509, "EUR"))
	late := open(t, provider, checkout(c, uuid.New())).ID
	act(t, provider, order.HostedAction{Session: late, Action: "pay", Delay: time.Hour})
	prompt := open(t, provider, checkout(c, uuid.New())).ID
	act(t, provider, order.HostedAction{Session: prompt, Action: "cancel"})
	p.next() // of prompt: what was delayed is not due
	select {
	case id := <-p.received:
		t.Errorf("%s came too early", id)
	default:
	}
	c.move(time.Hour)
	p.next()
}

func TestSettlementAndExpiryAreToldAsWell(t *testing.T) {
	c := newClock()
	p := newPanel(t)
	provider, session := atPanel(t, c, p, pool(t))
	open(t, provider, checkout(c, uuid.New()))
	delivering(t, provider)
	act(t, provider, order.HostedAction{Session: session, Action: "unpaid", Settle: time.Hour})
	unpaid := p.next()
	c.move(time.Hour)
	if settled := p.next(); settled == unpaid {
		t.Error("the settlement is no event of its own")
	}
	c.move(24 * time.Hour)
	p.next()
}

func TestWebhooksHoldNoPersonalData(t *testing.T) {
	c := newClock()
	db := pool(t)
	provider := test.New(db, test.Options{PublicURL: func() string { return "http://127.0.0.1:1" }, Secret: secret, Now: c.now})
	session := open(t, provider, checkout(c, uuid.New())).ID
	act(t, provider, order.HostedAction{Session: session, Action: "pay"})
	var everything string
	err := db.QueryRow(t.Context(), `select (select json_agg(s)::text
		from test_payments.sessions s) || (select json_agg(w)::text from test_payments.webhooks w)`).Scan(&everything)
	if err != nil || !strings.Contains(everything, session) {
		t.Fatalf("%v: %s", err, everything)
	}
	for _, canary := range []string{"canary@customer.test", string(secret)} {
		if strings.Contains(everything, canary) {
			t.Errorf("%q stands in the books", canary)
		}
	}
}
