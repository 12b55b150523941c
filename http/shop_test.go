package http_test

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

	compute "hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/documents"
	engine "hostpanel/adapters/engine/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/adapters/mail/folder"
	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/money"
	"hostpanel/domain/notice"
	operation "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	panel "hostpanel/http"
	"hostpanel/http/css"
	"hostpanel/http/route"
	"hostpanel/http/route/routetest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
	usecases "hostpanel/sagas/hosting"
	"hostpanel/sagas/orders"
)

// offers are the payment methods: of them only the one without money is configured.
func offers() order.Offers {
	method := func(name string) order.Method {
		return order.Method{Name: name, Test: name == "test", Currencies: money.Currencies(), Label: order.Label{EN: "By " + name, ES: "Por " + name}}
	}
	return order.Offers{{Method: method("stripe")}, {Method: method("paypal")}, {Method: method("test"), Configured: true, Saves: true, Keeps: true, Host: "panel.example"}}
}

// A shop is the whole panel on a private database: log, read tables, sagas,
// the test provider and sandboxes for everything outside. Its workers rest
// until it opens.
type shop struct {
	*eventstore.Store
	*projections.Tables
	*assembly.Panel
	server    *panel.Server
	hosting   *usecases.Service
	orders    *orders.Service
	handler   http.Handler
	provider  *test.Provider
	owner     *pgxpool.Pool
	readers   *pgxpool.Pool
	logged    *logBook
	letters   string       // folder of mails
	listeners atomic.Int64 // of the log, that are open
	public    string
	known     routetest.Known
	close     func() // what open has started
}

const (
	public = "https://panel.example"
	secret = "the secret of the test provider"
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

var catalogue = assembly.Catalogue()

// database creates a private database with all tables.
func database(t testing.TB) string {
	t.Helper()
	return eventstoretest.Tables(t, projections.All.Fingerprints(), func(ctx context.Context, owner *pgxpool.Pool) error {
		return projections.Prepare(ctx, owner, eventstore.Open(owner, catalogue, eventstoretest.Keys(t)))
	},
		eventstore.Migration{Area: "sagas", Files: sagas.Migrations},
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "test_payments", Files: test.Migrations},
		eventstore.Migration{Area: "sandbox_engine", Files: engine.Migrations},
		eventstore.Migration{Area: "sandbox_compute", Files: compute.Migrations})
}

func openShop(t testing.TB, options ...func(*shop)) *shop {
	t.Helper()
	url := database(t)
	return shopOver(t, url, eventstoretest.Pool(t, url), eventstoretest.Readers(t, url), options...)
}

// shopOver is [openShop] over pools that a test has made for itself.
func shopOver(t testing.TB, url string, pool, readers *pgxpool.Pool, options ...func(*shop)) *shop {
	t.Helper()
	s := &shop{
		Store:  eventstore.Open(pool, catalogue, eventstoretest.Keys(t), eventstore.WithProjector(projections.Projector()), eventstore.WithIdempotencyKeys(idempotency.Statement), eventstoretest.Caused()),
		Tables: projections.Open(readers), readers: readers, owner: eventstoretest.Owner(t, url), logged: &logBook{}, letters: t.TempDir(),
		public: public, known: routetest.Known{},
	}
	assembly.Serve(s.Store)
	base, log := func() string { return s.public }, slog.New(slog.NewJSONHandler(s.logged, nil))
	s.provider = test.New(pool, test.Options{PublicURL: base, Secret: []byte(secret), Log: log})
	times := assembly.Defaults
	times.SessionCall, times.SessionPause, times.SessionBudget = 2*time.Second, 10*time.Millisecond, 3*time.Second
	times.ReadyFirst, times.EngineBase, times.LocalBase = 20*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	s.Panel = assembly.New(assembly.Options{
		Store: s.Store, Tables: s.Tables, Payments: map[string]order.Provider{"test": s.provider},
		Engine: engine.New(pool), Compute: compute.New(pool, compute.Sized(256<<10, 16<<10)), Mail: folder.New(s.letters), MailFrom: "panel@example.com",
		PublicURL: base, Times: times, Hashing: eventstoretest.Hashing, Log: log, Documents: invoicing.Writers{HTML: documents.HTML, PDF: documents.PDF}, Offers: offers(),
		Rebuild: func(ctx context.Context, names []string, o projections.Options) (projections.Result, error) {
			return projections.Rebuild(ctx, s.owner, eventstore.Open(s.owner, catalogue, s.Keys()), names, o)
		},
	})
	s.Attach(eventstore.WithStarter(s.Panel))
	s.hosting = usecases.New(usecases.Options{
		Tables: s.Tables, Resources: s.Reconciler, Numbers: s.Store, Subjects: s.Store, PublicURL: base, StyleSheet: css.Problems,
	})
	s.orders = orders.New(orders.Options{
		Tables: s.Tables, Commands: s.Store, Subjects: s.Store, Payments: s.Payments, Domains: s.hosting, Offers: offers(), TaxRate: price("21"),
	})
	s.server = &panel.Server{
		Settings: panel.Settings{
			Version: "test", PublicURL: base, Currency: "EUR", Offers: s.orders.Offers,
			Unavailable: func(err error) bool {
				return errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, puddle.ErrClosedPool) // tests close the pool
			},
			Trusted: []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")},
		},
		Commands: s.Store, Subjects: s.Store, Numbers: s.Store, Once: idempotency.Open(pool, s.Keys()), Limits: ratelimit.Open(pool), Tables: s.Tables, Changes: s.Store, Feed: happenings{eventstore.NewFeed(s.Store, notice.Heard, notice.EventTypes, order.EventTypes, sagas.EventTypes), &s.listeners},
		Credentials: s.vault(), Tokens: s.vault(), TokenKeys: keysOf(eventstoretest.Keys(t)), Sessions: s.vault(),
		Storefront: s.orders, Subscriptions: s.Billing, Documents: s.Billing, Machines: s.Reconciler, Payments: s.Payments, HostedCheckout: s.provider, Runs: s.Progress(), Accounts: s.Accounts, Hosting: s.hosting, Jobs: s.Jobs, WebhookEndpoints: s.Notify.Endpoints(), Health: health{s.Store}, Log: log,
		OrderDetails: s.Operations, Orders: s.Panel, Previews: orders.Previews{Setup: s.Provisioner, Orders: s.orders}, RunAdmin: s.Panel, IncidentAdmin: s.Operations, Lookback: s.Audit, Transparency: s.Audit, Packs: s.Audit, Watch: s.Operations, Rebuilds: s.Operations, Mails: s.Notify, InForce: someSettings,
	}
	for _, key := range eventstoretest.Keys(t).DeriveAll("unsubscribe") {
		s.server.UnsubscribeKeys = append(s.server.UnsubscribeKeys, key.Key)
	}
	for _, o := range options {
		o(s)
	}
	description.Do(func() { described = routetest.Read(t, s.server.Document()) }) // the same for all shops
	return s.rewire(t)
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

func (s *shop) vault() *credentials.Vault {
	return credentials.Open(s.Pool(), s.Keys()).Hashing(eventstoretest.Hashing)
}

// rewire rebuilds the handler after a change of the server's settings.
func (s *shop) rewire(t testing.TB) *shop {
	t.Helper()
	s.handler = described.Watch(t, s.server.Handler())
	return s
}

var (
	description sync.Once
	described   *routetest.Description
)

// loseDatabase makes the database unavailable for the rest of the test.
func (s *shop) loseDatabase() {
	s.Pool().Close()
	s.readers.Close()
}

// open starts the server on a real port, the workers, and the provider's
// deliveries. All of them stop with close, or with the test.
func (s *shop) open(t testing.TB) *shop {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.public = "http://" + listener.Addr().String()
	s.server.Settings.Offers = slices.Clone(s.server.Settings.Offers)
	for i := range s.server.Settings.Offers {
		s.server.Settings.Offers[i].Host = listener.Addr().String()
	}
	ctx, stop := context.WithCancel(context.Background())
	var all errgroup.Group
	all.Go(func() error { return s.server.Serve(ctx, listener) })
	all.Go(func() error { return s.Run(ctx) })
	all.Go(func() error { return s.provider.Run(ctx) })
	s.close = sync.OnceFunc(func() {
		stop()
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.close)
	return s
}

// The wiring between the parts, as the program does it.
type (
	health struct{ *eventstore.Store }

	happenings struct {
		*eventstore.Feed
		open *atomic.Int64
	}

	countedListener struct {
		*eventstore.Listener
		open *atomic.Int64
	}
)

func (h happenings) Listen(ctx context.Context, after int64, topics ...domain.Stream) (route.LiveEvents, error) {
	l, err := h.Feed.Listen(ctx, after, topics...)
	if err != nil {
		return nil, err
	}
	h.open.Add(1)
	return countedListener{l, h.open}, nil
}

func (l countedListener) Close() {
	l.Listener.Close()
	l.open.Add(-1)
}

func (health) Alive() map[string]string { return nil }

func (h health) Ready(ctx context.Context) map[string]string {
	if err := h.Pool().Ping(ctx); err != nil {
		return map[string]string{"database": "does not answer"}
	}
	return nil
}

// A request is one call with headers in pairs.
func (s *shop) call(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func (s *shop) count(t testing.TB, sql string, args ...any) (n int) {
	t.Helper()
	if err := s.owner.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// events counts the events with a name in the log.
func (s *shop) events(t testing.TB, name string) int {
	t.Helper()
	return s.count(t, `select count(*) from events where name = $1`, name)
}
