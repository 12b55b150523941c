package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"hostpanel/adapters/payments/stripe"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/catalogue"
)

// A panel is the program without HTTP, with an outside that answers at once.
type panel struct {
	store    *eventstore.Store
	tables   *projections.Tables
	sagas    *assembly.Panel
	keys     *sealing.Keyring
	url      string
	owner    *pgxpool.Pool
	readers  *pgxpool.Pool
	provider *provider
}

// panel sets up a database of the given name, with an outside that answers at once. Each
// function may set something else.
func (r *run) panel(ctx context.Context, name string, set ...func(*assembly.Options)) (*panel, error) {
	url, owner, err := r.database(ctx, name, program.Migrations()...)
	if err != nil {
		return nil, err
	}
	keys, err := sealing.ParseKeyring(sealing.NewSecretKey())
	if err != nil {
		return nil, err
	}
	if err := projections.Prepare(ctx, owner, eventstore.Open(owner, catalogue.Events(), keys).Reader()); err != nil {
		return nil, err
	}
	return r.open(ctx, url, owner, keys, set...)
}

// open is a process on a database that has its tables.
func (r *run) open(
	ctx context.Context, url string, owner *pgxpool.Pool, keys *sealing.Keyring, set ...func(*assembly.Options),
) (*panel, error) {
	pool, err := eventstore.Connect(ctx, url, 48)
	if err != nil {
		return nil, err
	}
	readers, err := eventstore.ConnectReaders(ctx, url, 16)
	if err != nil {
		return nil, err
	}
	p := &panel{url: url, owner: owner, readers: readers, keys: keys, tables: projections.Open(readers), provider: &provider{}}
	p.store = fresh(pool, keys)
	genuine, err := stripe.New(stripe.Options{Key: stripeKey, Secrets: []string{stripeSecret}})
	if err != nil {
		return nil, err
	}
	options := assembly.Options{
		Store: p.store, Tables: p.tables, Payments: map[string]order.Provider{"test": p.provider, "stripe": genuine},
		Engine: &instantEngine{}, Compute: compute.Fleet{instantCompute{}}, Mail: instantMail{},
		MailFrom: "hostpanel@localhost", PublicURL: func() string { return "http://127.0.0.1" },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, other := range set {
		other(&options)
	}
	p.sagas = assembly.New(options)
	p.store.Attach(eventstore.WithStarter(p.sagas.Runner))
	return p, nil
}

// fresh is the log as the program opens it, with nothing remembered.
func fresh(pool *pgxpool.Pool, keys *sealing.Keyring) *eventstore.Store {
	s := eventstore.Open(pool, catalogue.Events(), keys,
		eventstore.WithProjector(projections.Projector()), eventstore.WithIdempotencyKeys(idempotency.Statement))
	catalogue.Serve(s)
	return s
}

// program is what serves the API, with or without limits of calls.
func (p *panel) program(limits bool) *program.Program {
	whole := &program.Program{
		Config: &config.Config{AbuseLimits: limits, EngineWait: 3 * time.Second}, Log: slog.Default(),
		Store: p.store, Pool: p.store.Pool(), Tables: p.tables, Sagas: p.sagas, Keys: p.keys,
	}
	whole.SetPublicURL("http://127.0.0.1")
	return whole
}

func (p *panel) close() {
	p.readers.Close()
	p.store.Pool().Close()
	p.owner.Close()
}

// work lets the workers run until the returned function is called.
func (p *panel) work(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.sagas.Runner.Run(ctx) })
	wg.Go(func() { p.store.Hints().Follow(ctx) })
	return func() { cancel(); wg.Wait() }
}

var operator = domain.Metadata{Actor: "system:bench"}

// paidAt is the payment method of the orders.
var paidAt = order.Method{Name: "test", Test: true, Currencies: money.Currencies()}

// place puts in an order of the usual sort. Customers come back now and then.
func (p *panel) place(n int) order.Place {
	return order.Place{
		ID: uuid.New(), Suffix: suffix(n), Subject: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, n)),
		Customer: order.Customer{Name: "Ana Ruiz", Email: fmt.Sprintf("ana%d@example.com", n)},
		Plan: order.Plan{
			ID: 1, Name: "Starter", Slug: "starter", ResourceType: "hosting",
			Quotas: map[string]int64{
				"quota_sites": 1, "quota_databases": 1, "quota_domains": 1, "quota_ftp_users": 1,
				"quota_storage_gb": 10, "quota_mailboxes": 10,
			},
		},
		Period: order.Monthly, Price: decimal.RequireFromString("9.99"), TaxRate: decimal.RequireFromString("21.00"), Currency: "EUR",
		Method: paidAt, Language: "es", APIKey: "bench000", At: clock.Now().UTC(),
	}
}

// suffix is the n-th of the random parts that order numbers have.
func suffix(n int) string {
	const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var s [6]byte
	for i := range s {
		s[i] = digits[n%len(digits)]
		n /= len(digits)
	}
	return string(s[:])
}

// checkout places an order and opens its session, ready to be paid.
func (p *panel) checkout(ctx context.Context, n int) (uuid.UUID, error) {
	c := p.place(n)
	if _, err := p.store.Execute(ctx, operator, c); err != nil {
		return c.ID, err
	}
	_, err := p.sagas.Payments.Pages.OpenSession(ctx, c.ID)
	return c.ID, err
}

// A provider holds every session for paid in full.
type provider struct{ sessions sync.Map }

func (*provider) Name() string { return "test" }
func (*provider) Host() string { return "127.0.0.1" }

func (p *provider) OpenSession(_ context.Context, c order.Checkout) (order.Session, error) {
	p.sessions.Store("cs_"+c.Order.String(), c)
	return order.Session{ID: "cs_" + c.Order.String(), URL: "http://127.0.0.1/pay/" + c.Order.String(), ExpiresAt: c.ExpiresAt}, nil
}

func (p *provider) Fetch(_ context.Context, session string) (order.Fetched, error) {
	found, ok := p.sessions.Load(session)
	if !ok {
		return order.Fetched{}, domain.Fail(domain.Permanent, "no_session", fmt.Errorf("no session %s", session))
	}
	c := found.(order.Checkout)
	return order.Fetched{
		Provider: "test", Session: session, Order: c.Order, State: order.SessionComplete, ExpiresAt: c.ExpiresAt,
		Payments: []order.Payment{
			{ID: "pay_" + c.Order.String(), State: order.StatePaid, Minor: c.Minor, Currency: c.Currency, At: clock.Now().UTC()},
		},
	}, nil
}

func (*provider) ExpireSession(context.Context, string) error { return nil }

func (*provider) Live() bool { return false }

func (*provider) Refund(_ context.Context, c order.RefundCall) (order.Refund, error) {
	return order.Refund{
		ID: "re_" + c.Key, State: order.RefundSucceeded, Minor: c.Minor, Currency: c.Currency, Reference: c.Reference,
		At: clock.Now().UTC(),
	}, nil
}

// Verify takes a body of 3 kB whose header carries the references; its cost is
// that of one HMAC, as with the real providers.
func (*provider) Verify(raw []byte, header map[string][]string, _ time.Time) (order.News, error) {
	id, err := uuid.Parse(header["Order"][0])
	return order.News{
		EventID: header["Event"][0], Type: "checkout.session.completed", ObjectRef: "cs_" + id.String(), Order: id,
		VerifiedBy: "bench", Handled: true,
	}, err
}

// The rest of the outside makes whatever it is asked for, at once.
type (
	instantEngine struct {
		next    atomic.Int64
		objects sync.Map
	}
	instantCompute struct{ compute.Hypervisor }
	instantMail    struct{}
)

func (*instantEngine) Server() string { return "bench" }

func (e *instantEngine) Find(_ context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	for _, key := range []string{kind + "/name/" + name, kind + "/ref/" + ref} {
		if found, ok := e.objects.Load(key); ok {
			return found.(hosting.EngineObject), true, nil
		}
	}
	return hosting.EngineObject{}, false, nil
}

func (e *instantEngine) Create(_ context.Context, o hosting.EngineObject) (int64, error) {
	o.ID, o.Applied = e.next.Add(1), true
	e.objects.Store(o.Kind+"/name/"+o.Name, o)
	e.objects.Store(o.Kind+"/ref/"+o.Ref, o)
	return o.ID, nil
}

func (*instantEngine) Change(context.Context, hosting.EngineObject) error { return nil }
func (*instantEngine) Remove(context.Context, hosting.EngineObject) error { return nil }
func (*instantEngine) List(context.Context, string, int64) ([]hosting.EngineObject, error) {
	return nil, nil
}

func (*instantEngine) Usage(context.Context, int64) (hosting.Usage, error) {
	return hosting.Usage{ReadAt: clock.Now()}, nil
}

func (instantCompute) Server() string { return "bench" }

func (instantCompute) Find(context.Context, compute.Machine) (seen compute.Seen, is bool, err error) {
	return seen, false, nil
}

func (instantCompute) Create(_ context.Context, m compute.Machine) (string, error) {
	return m.Name, nil
}
func (instantCompute) Change(context.Context, string, compute.Machine) error { return nil }
func (instantCompute) Remove(context.Context, string, compute.Machine) error { return nil }

func (instantMail) Send(context.Context, notice.Mail) error { return nil }
