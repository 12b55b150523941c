package sagastest

import (
	"cmp"
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/domain/tax"
	"hostpanel/sagas/orders"
)

// Drawn counts the orders of all worlds.
var Drawn atomic.Int64

// An OrderForm is what a test orders.
type OrderForm struct {
	Kind, Domain, Email, Company, Language string
	Provider                               string // empty: the test provider
	Period                                 order.Period
	Price, Setup                           string
	Details                                buyer.Details
	keeps                                  bool       // the payment method, for renewals
	Taxes                                  tax.Policy // zero: 21 percent for all
	Joins                                  order.Joining
	Package                                *int64         // of the plan; nil: it has quotas
	Machine                                order.Machine  // what its customer wants of it
	Places                                 *orders.Places // that choose the place of a machine; nil: new ones
	Size                                   *order.VPS     // of the machine that the plan sells; nil: a usual one
}

// Place puts in an order and takes it to the provider's page.
func (w *World) Place(o OrderForm) uuid.UUID {
	w.T.Helper()
	id := w.Placed(o)
	if _, err := w.Payments.Pages.OpenSession(w.T.Context(), id); err != nil {
		w.T.Fatal(err)
	}
	return id
}

// Placed puts in an order without opening its session.
func (w *World) Placed(o OrderForm) uuid.UUID {
	w.T.Helper()
	id := uuid.New()
	w.put(id, o)
	return id
}

// PlacedLater is the number of an order that is yet to come; placeAs lets it come.
func PlacedLater(w *World) uuid.UUID { return uuid.New() }

// PlaceAs puts in an order under a number and opens its session.
func PlaceAs(w *World, id uuid.UUID) {
	w.T.Helper()
	w.put(id, OrderForm{})
	_, err := w.Payments.Pages.OpenSession(w.T.Context(), id)
	w.Must(err)
}

func (w *World) put(id uuid.UUID, o OrderForm) {
	w.T.Helper()
	w.Must(w.TryPut(id, o))
}

// TryPut puts in an order. It may be repeated.
func (w *World) TryPut(id uuid.UUID, o OrderForm) error {
	n := Drawn.Add(1)
	email := cmp.Or(o.Email, fmt.Sprintf("ana%d@example.com", n))
	subject, err := w.Store.Subject(w.T.Context(), email)
	if err != nil {
		return err
	}
	plan := order.Plan{ID: 1, Name: "Basic", Slug: "basic", ResourceType: cmp.Or(o.Kind, "hosting")}
	switch plan.ResourceType {
	case "hosting":
		plan.Package = o.Package
		plan.Quotas = map[string]int64{"quota_sites": 5, "quota_storage_gb": 10}
	case "vps":
		plan.VPS = cmp.Or(o.Size, &order.VPS{Cores: 2, MemoryMB: 2048, DiskGB: 40, TrafficTB: 2, DefaultOS: "debian-12"})
	case "saas":
		plan.SaaS = &order.SaaS{MaxVMs: 3, MaxHostingAccounts: 10, MaxAgents: 2}
	}
	taxed := o.Taxes.Decide(decimal.RequireFromString("21"), o.Details, w.Runner.Now(), "system:storefront")
	c := order.Place{
		ID: id, Suffix: fmt.Sprintf("%06d", n), Subject: subject,
		Customer: order.Customer{Name: "Ana Ruiz", Email: email, Phone: "+34 600", Company: o.Company, Details: o.Details},
		Plan:     plan, Period: cmp.Or(o.Period, order.Monthly),
		Price:    decimal.RequireFromString(cmp.Or(o.Price, "12.10")),
		SetupFee: decimal.RequireFromString(cmp.Or(o.Setup, "0")), TaxRate: taxed.Rate, Tax: taxed.Treatment, Currency: "EUR",
		Method: order.Method{Name: cmp.Or(o.Provider, "test"), Test: true, Currencies: money.Currencies()},
		Domain: o.Domain, Language: cmp.Or(o.Language, "es"),
		Machine: o.Machine, APIKey: "ab12CD34", Owner: 7, Joins: o.Joins, At: w.Runner.Now(),
	}
	if o.keeps {
		c.KeepFor = subject
	}
	execute := func(c order.Place) error {
		_, err := w.Store.Execute(w.T.Context(), domain.Metadata{ID: id, Correlation: id, Actor: "api_key:ab12CD34"}, c)
		return err
	}
	if plan.VPS == nil {
		return execute(c)
	}
	places := o.Places
	if places == nil {
		places = orders.NewPlaces(w.Tables, 0, w.Runner.Now)
	}
	return places.Placed(w.T.Context(), c, execute)
}

// Paid pays an order and lets one webhook tell.
func (w *World) Paid(id uuid.UUID) {
	w.T.Helper()
	w.Pay.Pay(id, nil)
	w.Must(w.Webhook("evt_"+id.String(), id))
}

// Buy places an order and pays it.
func (w *World) Buy(o OrderForm) uuid.UUID {
	w.T.Helper()
	id := w.Place(o)
	w.Paid(id)
	return id
}

// Webhook brings news of an order's session.
func (w *World) Webhook(event string, id uuid.UUID) error {
	return w.Payments.Receive(w.T.Context(), "test", NewsBody(event, id), SignedHeader)
}

// GoesOn ends what [World.Pauses] has begun.
func GoesOn(w *World) {
	w.T.Helper()
	_, err := w.Pool.Exec(w.T.Context(), `update saga_queue set paused = false`)
	w.Must(err)
}

// StandsAt waits until the setting up of an order has come to a step.
func StandsAt(w *World, id uuid.UUID, step string) {
	w.T.Helper()
	w.Eventually("it stands at "+step, func() bool { run := w.Provision(id); return run.Key != "" && run.At().Name == step })
}

// Untouched checks that nothing of an order is left anywhere (V3).
func Untouched(w *World) {
	w.T.Helper()
	w.Equal("objects left outside", len(w.Engine.All())+len(w.Compute.All()), 0)
	w.Equal("effects left", w.Count(`select count(*) from effect where step in ('tenant.engine', 'site', 'vm')
		and state not in ('undone', 'absent')`), 0)
	w.Equal("claims left", w.Count(`select count(*) from external_claim`), 0)
	w.Equal("resources left", w.Count(`select count(*) from resources where status <> 'gone'`), 0)
}

// OffersItsPlan puts the plan of all orders on offer, at their price.
func OffersItsPlan(w *World) {
	w.T.Helper()
	var p storefront.Plan
	_, err := p.Fields().DecodeJSON(
		[]byte(`{"name":"Basic","slug":"basic","price":"12.10","currency":"EUR","resource_type":"hosting"}`),
		field.Create,
	)
	w.Must(err)
	_, err = w.Store.Execute(w.T.Context(), Operator, storefront.OfferPlan{Plan: 1, Spec: p.Fields().Values(), At: w.Runner.Now()})
	w.Must(err)
}

// MustParse is the number of an order.
func MustParse(id fmt.Stringer) uuid.UUID { return uuid.MustParse(id.String()) }
