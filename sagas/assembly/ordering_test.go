package assembly_test

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
)

var drawn atomic.Int64

// An ordering is what a test orders.
type ordering struct {
	kind, domain, email, company, language string
	provider                               string // empty: the test provider
	period                                 order.Period
	price, setup                           string
	details                                buyer.Details
	keeps                                  bool       // the payment method, for renewals
	taxes                                  tax.Policy // zero: 21 percent for all
	joins                                  order.Joining
}

// place puts in an order and takes it to the provider's page.
func (w *world) place(o ordering) uuid.UUID {
	w.t.Helper()
	id := w.placed(o)
	if _, err := w.Payments.OpenSession(w.t.Context(), id); err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) placed(o ordering) uuid.UUID {
	w.t.Helper()
	id := uuid.New()
	w.put(id, o)
	return id
}

// placedLater is the number of an order that is yet to come; placeAs lets it come.
func (w *world) placedLater() uuid.UUID { return uuid.New() }

func (w *world) placeAs(id uuid.UUID) {
	w.t.Helper()
	w.put(id, ordering{})
	_, err := w.Payments.OpenSession(w.t.Context(), id)
	w.must(err)
}

func (w *world) put(id uuid.UUID, o ordering) {
	w.t.Helper()
	w.must(w.tryPut(id, o))
}

// tryPut puts in an order. It may be repeated.
func (w *world) tryPut(id uuid.UUID, o ordering) error {
	n := drawn.Add(1)
	email := cmp.Or(o.email, fmt.Sprintf("ana%d@example.com", n))
	subject, err := w.store.Subject(w.t.Context(), email)
	if err != nil {
		return err
	}
	plan := order.Plan{ID: 1, Name: "Basic", Slug: "basic", ResourceType: cmp.Or(o.kind, "hosting")}
	switch plan.ResourceType {
	case "hosting":
		plan.Quotas = map[string]int64{"quota_sites": 5, "quota_storage_gb": 10}
	case "vps":
		plan.VPS = &order.VPS{Cores: 2, MemoryMB: 2048, DiskGB: 40, TrafficTB: 2, DefaultOS: "debian-12"}
	case "saas":
		plan.SaaS = &order.SaaS{MaxVMs: 3, MaxHostingAccounts: 10, MaxAgents: 2}
	}
	taxed := o.taxes.Decide(decimal.RequireFromString("21"), o.details, w.Now(), "system:storefront")
	c := order.Place{
		ID: id, Suffix: fmt.Sprintf("%06d", n), Subject: subject,
		Customer: order.Customer{Name: "Ana Ruiz", Email: email, Phone: "+34 600", Company: o.company, Details: o.details},
		Plan:     plan, Period: cmp.Or(o.period, order.Monthly), Price: decimal.RequireFromString(cmp.Or(o.price, "12.10")), SetupFee: decimal.RequireFromString(cmp.Or(o.setup, "0")), TaxRate: taxed.Rate, Tax: taxed.Treatment, Currency: "EUR",
		Method: order.Method{Name: cmp.Or(o.provider, "test"), Test: true, Currencies: money.Currencies()}, Domain: o.domain, Language: cmp.Or(o.language, "es"), APIKey: "ab12CD34", Owner: 7, Joins: o.joins, At: w.Now(),
	}
	if o.keeps {
		c.KeepFor = subject
	}
	_, err = w.store.Execute(w.t.Context(), domain.Metadata{ID: id, Correlation: id, Actor: "api_key:ab12CD34"}, c)
	return err
}

// paid pays an order and lets one webhook tell.
func (w *world) paid(id uuid.UUID) {
	w.t.Helper()
	w.pay.pay(id, nil)
	w.must(w.webhook("evt_"+id.String(), id))
}

// buy places an order and pays it.
func (w *world) buy(o ordering) uuid.UUID {
	w.t.Helper()
	id := w.place(o)
	w.paid(id)
	return id
}

func (w *world) webhook(event string, id uuid.UUID) error {
	return w.Payments.Receive(w.t.Context(), "test", newsBody(event, id), signed)
}
