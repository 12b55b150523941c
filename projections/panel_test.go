package projections

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/notice"
	desk "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A panel is the whole log with all read tables.
type panel struct {
	*eventstore.Store
	*Tables
	owner   *pgxpool.Pool
	readers *pgxpool.Pool
	facts   domain.Catalogue
	drawn   atomic.Int64
}

func openPanel(t testing.TB) *panel {
	t.Helper()
	return openPanelAt(t, database(t))
}

// panelFacts are the events of the whole log.
var panelFacts = domain.NewCatalogue(
	order.EventTypes, account.EventTypes, hosting.EventTypes, billing.EventTypes, notice.EventTypes,
	webhook.EventTypes, storefront.EventTypes, desk.IncidentEventTypes,
)

// database creates a private database with all read tables, which take longer to make than
// most tests.
func database(t testing.TB) string {
	t.Helper()
	return eventstoretest.Tables(t, All.Fingerprints(), func(ctx context.Context, owner *pgxpool.Pool) error {
		return prepared(ctx, t, owner)
	})
}

func prepared(ctx context.Context, t testing.TB, owner *pgxpool.Pool) error {
	return Prepare(ctx, owner, eventstore.Open(owner, panelFacts, eventstoretest.Keys(t)).Reader())
}

// openPanelAt is one more process on the same database.
func openPanelAt(t testing.TB, url string) *panel {
	t.Helper()
	pool := eventstoretest.Pool(t, url)
	readers := eventstoretest.Readers(t, url)
	p := &panel{
		facts:  panelFacts,
		Store:  eventstore.Open(pool, panelFacts, eventstoretest.Keys(t), eventstore.WithProjector(Projector()), eventstoretest.Caused()),
		Tables: Open(readers), readers: readers, owner: eventstoretest.Owner(t, url),
	}
	eventstore.Serve(p.Store, order.Category, order.Decider)
	eventstore.Serve(p.Store, account.Category, account.Decider)
	eventstore.Serve(p.Store, account.SubjectCategory, account.Subjects)
	eventstore.Journal(p.Store, account.SecurityCategory, account.Security)
	for _, kind := range hosting.Kinds {
		eventstore.Serve(p.Store, kind.Name, hosting.Decider)
	}
	eventstore.Serve(p.Store, hosting.OperationCategory, hosting.Operations)
	eventstore.Serve(p.Store, billing.SubscriptionCategory, billing.Subscriptions)
	eventstore.Serve(p.Store, billing.PaymentMethodCategory, billing.PaymentMethods)
	eventstore.Serve(p.Store, billing.MethodSetupCategory, billing.MethodSetups)
	eventstore.Serve(p.Store, billing.CreditCategory, billing.Balances)
	eventstore.Serve(p.Store, billing.InvoiceCategory, billing.Invoices)
	eventstore.Journal(p.Store, billing.FiscalYearCategory, billing.FiscalYears)
	eventstore.Serve(p.Store, notice.NotificationCategory, notice.Notifications)
	eventstore.Serve(p.Store, notice.InboxCategory, notice.Inboxes)
	eventstore.Serve(p.Store, notice.PreferencesCategory, notice.Preferring)
	eventstore.Serve(p.Store, desk.IncidentCategory, desk.Incidents)
	eventstore.Serve(p.Store, webhook.EndpointCategory, webhook.Endpoints)
	eventstore.Serve(p.Store, webhook.DeliveryCategory, webhook.Deliveries)
	eventstore.Serve(p.Store, storefront.PlanCategory, storefront.Plans)
	eventstore.Serve(p.Store, storefront.WidgetCategory, storefront.Widgets)
	eventstore.Serve(p.Store, storefront.KeyCategory, storefront.Keys)
	if err := Prepare(t.Context(), p.owner, p.Reader()); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *panel) try(t testing.TB, commands ...domain.Command) error {
	t.Helper()
	_, err := p.Execute(t.Context(), domain.Metadata{Actor: "test"}, commands...)
	return err
}

func (p *panel) do(t testing.TB, commands ...domain.Command) {
	t.Helper()
	if err := p.try(t, commands...); err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless the commands are refused with this message.
func (p *panel) refused(t testing.TB, field, message string, commands ...domain.Command) {
	t.Helper()
	var refusal *domain.Error
	if err := p.try(t, commands...); !errors.As(err, &refusal) || refusal.Field != field || refusal.Message != message {
		t.Fatalf("want %s: %q, got %v", field, message, err)
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func amount(s string) decimal.Decimal { return decimal.RequireFromString(s) }

// place is an order for a hosting plan of 2.99 a month, for a year, through a
// key of user 7.
func (p *panel) place(domain string) order.Place {
	n := p.drawn.Add(1)
	return order.Place{
		ID: uuid.New(), Suffix: fmt.Sprintf("%06d", n), Subject: uuid.New(),
		Customer: order.Customer{Name: "Ana", Email: "ana@example.com", Phone: "+34 600", Company: "Ana SL"},
		Plan:     order.Plan{ID: 1, Name: "Basic", Slug: "basic", ResourceType: "hosting", Quotas: map[string]int64{"quota_sites": 5}},
		Period:   order.Yearly, Price: amount("2.99"), TaxRate: amount("21"), Currency: "EUR",
		Method: order.Method{Name: "test", Test: true, Currencies: money.Currencies()},
		Domain: domain, Language: "es", APIKey: "ab12CD34", Owner: 7, At: noon,
	}
}

// opened takes an order to the provider's page.
func (p *panel) opened(t testing.TB, c order.Place) uuid.UUID {
	t.Helper()
	p.do(t, c)
	p.do(t, order.OpenSession{ID: c.ID, Session: order.Session{
		ID: session(c.ID), URL: "http://127.0.0.1/pay", ExpiresAt: noon.Add(time.Hour),
	}, Host: "127.0.0.1", At: noon})
	return c.ID
}

func session(id uuid.UUID) string { return "cs_" + id.String() }

// truth is what the provider holds for true about the order's session.
func (p *panel) truth(c order.Place, s order.SessionState, payments ...order.Payment) order.Observe {
	for i := range payments {
		payments[i].Minor = cmp.Or(payments[i].Minor, 2870)
		payments[i].Currency, payments[i].At = "EUR", noon
	}
	return order.Observe{ID: c.ID, At: noon.Add(time.Minute), Fetched: order.Fetched{
		Provider: c.Method.Name, Session: session(c.ID), Order: c.ID, State: s, Payments: payments, ExpiresAt: noon.Add(time.Hour),
	}, PlanStillOffered: true, NamesFree: true}
}

func site(id, tenant int64, domain, forOrder string) hosting.Request {
	return hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: id}, Tenant: tenant,
		Spec: values(&hosting.Site{Domain: domain, IPAddress: "*", IsActive: true}), For: forOrder,
	}
}

func tenant(id int64, name, slug string) hosting.Request {
	return hosting.Request{
		Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Subject: uuid.New(),
		Spec: values(
			&hosting.Tenant{
				Name: name, Email: "t@example.com", Slug: slug, Username: hosting.CustomerNumber(id), Status: "active",
				IsActive: true, Limits: hosting.NoLimits(),
			},
		),
	}
}

func values(spec hosting.Spec) field.Values { return spec.Fields().Values() }

func shown(t testing.TB, r field.Record) string {
	t.Helper()
	text, err := json.Marshal(r.Fields())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func foldOf(t testing.TB, p *panel, ref hosting.Ref) (hosting.Resource, int, error) {
	return eventstore.Fold(t.Context(), p.Store, hosting.Decider, ref.Stream())
}
