// Package paneltest runs the whole panel for stories over HTTP: log, read tables, sagas, pages and the
// API, with the test provider and sandboxes in place of what is outside.
package paneltest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"
	"golang.org/x/sync/errgroup"

	hypervisor "hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/documents"
	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/mail/folder"
	"hostpanel/adapters/payments/test"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/money"
	operation "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/idempotency"
	panel "hostpanel/http"
	"hostpanel/http/route"
	"hostpanel/http/route/routetest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
	"hostpanel/sagas/catalogue"
	usecases "hostpanel/sagas/hosting"
	"hostpanel/sagas/orders"
	"hostpanel/sagas/sagastest"
)

// Offers are the payment methods: of them only the one without money is configured.
func Offers() order.Offers {
	method := func(name string) order.Method {
		return order.Method{
			Name: name, Test: name == "test", Currencies: money.Currencies(),
			Label: order.Label{EN: "By " + name, ES: "Por " + name},
		}
	}
	return order.Offers{
		{Method: method("stripe")},
		{Method: method("paypal")},
		{Method: method("test"), Configured: true, Saves: true, Keeps: true, Host: "panel.example"},
	}
}

// A Shop is the whole panel on a private database: log, read tables, sagas,
// the test provider and sandboxes for everything outside. Its workers rest
// until it starts.
type Shop struct {
	*eventstore.Store
	*projections.Tables
	*assembly.Panel
	Server    *panel.Server
	Hosting   *usecases.Service
	Orders    *orders.Service
	Handler   http.Handler
	Provider  *test.Provider
	Owner     *pgxpool.Pool
	Readers   *pgxpool.Pool
	Logged    *logBook
	Letters   string       // folder of mails
	Listeners atomic.Int64 // of the log, that are open
	Public    string
	Known     routetest.Known
	Close     func() // what Start has started
	url       string // of the database
}

const (
	PublicURL = "https://panel.example"           // of a shop that does not listen
	Secret    = "the secret of the test provider" // that signs its webhooks
)

// logBook records the log lines.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Database creates a private database with all tables.
func Database(t testing.TB) string {
	t.Helper()
	return sagastest.Database(t)
}

// Open opens a shop on a private database.
func Open(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	url := Database(t)
	return Over(t, url, eventstoretest.Pool(t, url), eventstoretest.Readers(t, url), options...)
}

// Over is [Open] over pools that a test has made for itself.
func Over(t testing.TB, url string, pool, readers *pgxpool.Pool, options ...func(*Shop)) *Shop {
	t.Helper()
	s := &Shop{
		Store: eventstore.Open(pool, sagastest.Catalogue, eventstoretest.Keys(t),
			eventstore.WithProjector(projections.Projector()), eventstore.WithIdempotencyKeys(idempotency.Statement),
			eventstoretest.Caused()),
		Tables: projections.Open(readers), Readers: readers, url: url, Owner: eventstoretest.Owner(t, url),
		Logged: &logBook{}, Letters: t.TempDir(),
		Public: PublicURL, Known: routetest.Known{},
	}
	catalogue.Serve(s.Store)
	base, log := func() string { return s.Public }, slog.New(slog.NewJSONHandler(s.Logged, nil))
	s.Provider = test.New(pool, test.Options{PublicURL: base, Secret: []byte(Secret), Log: log})
	times := assembly.Defaults
	times.SessionCall, times.SessionPause, times.SessionBudget = 2*time.Second, 10*time.Millisecond, 3*time.Second
	times.ReadyFirst, times.EngineBase, times.LocalBase = 20*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	s.Panel = assembly.New(assembly.Options{
		Store: s.Store, Tables: s.Tables, Payments: map[string]order.Provider{"test": s.Provider},
		Engine: engine.New(pool), Compute: compute.Fleet{hypervisor.New(pool, hypervisor.Sized(256<<10, 16<<10))},
		Mail:      folder.New(s.Letters),
		MailFrom:  "panel@example.com",
		PublicURL: base, Times: times, Hashing: eventstoretest.Hashing, Log: log,
		Documents: invoicing.Writers{HTML: documents.HTML, PDF: documents.PDF}, Offers: Offers(),
		Rebuild: func(ctx context.Context, names []string, o projections.Options) (projections.Result, error) {
			return projections.Rebuild(ctx, s.Owner, eventstore.Open(s.Owner, sagastest.Catalogue, s.Keys()).Reader(), names, o)
		},
	})
	s.Attach(eventstore.WithStarter(s.Runner))
	s.Server = program.Wire(program.Parts{
		Settings: panel.Settings{
			Version: "test", PublicURL: base, Currency: "EUR", Offers: Offers(),
			Unavailable: func(err error) bool {
				return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, puddle.ErrClosedPool) // tests close the pool
			},
			Trusted: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
		},
		Store: s.Store, Tables: s.Tables, Sagas: s.Panel, Present: pool, Vault: s.Vault(), Commands: s.Store,
		Policy: assembly.Policy{TaxRate: Price("21")},
		Hosted: s.Provider, Health: Health{s.Store}, InForce: someSettings, Log: log,
	})
	s.Hosting, s.Orders = s.Server.Hosting.(*usecases.Service), s.Server.Storefront.(*orders.Service)
	s.Server.Feed = happenings{s.Server.Feed, &s.Listeners}
	for _, o := range options {
		o(s)
	}
	description.Do(func() { described = routetest.Read(t, s.Server.Document()) }) // the same for all shops
	return s.Rewire(t)
}

// someSettings are settings of each sort.
func someSettings() []operation.Setting {
	return []operation.Setting{
		{Name: "DATABASE_URL", About: "Postgres to use.", IsSecret: true},
		{Name: "HOSTPANEL_LISTEN", About: "Address to serve on.", Value: "127.0.0.1:8080"},
		{Name: "HOSTPANEL_SECRET_KEY", About: "32 bytes.", IsSecret: true, IsSet: true},
		{Name: "HOSTPANEL_CURRENCY", About: "Of plans that name none.", Value: "CHF", IsSet: true},
		{Name: "HOSTPANEL_TRUSTED_PROXIES", About: "Whose X-Forwarded-For is believed."},
	}
}

// Vault keeps passwords and sessions.
func (s *Shop) Vault() *credentials.Vault {
	return credentials.Open(s.Pool(), s.Keys()).Hashing(eventstoretest.Hashing)
}

// Rewire makes the handler anew, after a change of the server's settings, when it is called.
func (s *Shop) Rewire(t testing.TB) *Shop {
	t.Helper()
	handler := sync.OnceValue(func() http.Handler { return described.Watch(t, s.Server.Handler()) })
	s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler().ServeHTTP(w, r) })
	return s
}

var (
	description sync.Once
	described   *routetest.Description
)

// Start starts the server on a real port, the workers, and the provider's
// deliveries. All of them stop with close, or with the test.
func (s *Shop) Start(t testing.TB) *Shop {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Public = "http://" + listener.Addr().String()
	s.Server.Settings.Offers = slices.Clone(s.Server.Settings.Offers)
	for i := range s.Server.Settings.Offers {
		s.Server.Settings.Offers[i].Host = listener.Addr().String()
	}
	ctx, stop := context.WithCancel(context.Background())
	var all errgroup.Group
	all.Go(func() error { return s.Server.Serve(ctx, listener) })
	all.Go(func() error { return s.Runner.Run(ctx) })
	all.Go(func() error { return s.Provider.Run(ctx) })
	s.Close = sync.OnceFunc(func() {
		stop()
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.Close)
	return s
}

// The wiring between the parts, as the program does it.
type (
	// Health asks the database alone.
	Health struct{ store *eventstore.Store }

	happenings struct {
		route.LiveFeed
		open *atomic.Int64
	}

	countedListener struct {
		route.LiveEvents
		open *atomic.Int64
	}
)

// Listen counts the listener.
func (h happenings) Listen(ctx context.Context, after int64, topics ...domain.Stream) (route.LiveEvents, error) {
	l, err := h.LiveFeed.Listen(ctx, after, topics...)
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return countedListener{l, h.open}, nil
}

// Close counts the listener off.
func (l countedListener) Close() {
	l.LiveEvents.Close()
	l.open.Add(-1)
}

// Alive names nothing: all of the process lives.
func (Health) Alive() map[string]string { return nil }

// Ready names what is not.
func (h Health) Ready(ctx context.Context) map[string]string {
	if err := h.store.Pool().Ping(ctx); err != nil {
		return map[string]string{"database": "does not answer"}
	}
	return nil
}

// Call makes a call with headers in pairs.
func (s *Shop) Call(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}

// Count returns a number from the database.
func (s *Shop) Count(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	if err := s.Owner.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Events counts the events with a name in the log.
func (s *Shop) Events(t testing.TB, name string) int {
	t.Helper()
	return s.Count(t, `select count(*) from events where name = $1`, name)
}
