package sagastest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/orders"
)

// Renewals is a world that has a clock that a test moves, as a demo has.
type Renewals struct {
	*World
	Orders *orders.Service
}

// NewRenewals is a new world that runs.
func NewRenewals(t *testing.T) *Renewals {
	t.Helper()
	return RenewalsOn(NewWorldWithClock(t))
}

// RenewalsOn lets a world run whose clock can be advanced.
func RenewalsOn(w *World) *Renewals {
	w.T.Helper()
	w.Goes()
	return &Renewals{w, orders.New(orders.Options{
		Tables: w.Tables, Commands: w.Store, Subjects: w.Store, Payments: w.Payments.Pages, Now: w.Store.Clock().Now,
		Offers: testOffers,
	})}
}

// testOffers are the payment methods of a world.
var testOffers = order.Offers{{Method: order.Method{Name: "test", Test: true, Currencies: money.Currencies()}, Configured: true}}

// Serves sells a service that runs.
func (w *Renewals) Serves(o OrderForm) uuid.UUID {
	w.T.Helper()
	id := w.Buy(o)
	w.Becomes(id, order.StatusActive)
	return id
}

// Subscription is that of an order.
func (w *Renewals) Subscription(id uuid.UUID) billing.Subscription {
	w.T.Helper()
	s, _, err := eventstore.Fold(w.T.Context(), w.Store, billing.Subscriptions, billing.Advance{Order: id}.Stream())
	w.Must(err)
	return s
}

// Until waits for an event of a subscription to have happened so often, moving the clock
// from deadline to deadline. Both are told by one reading of its history.
func (w *Renewals) Until(id uuid.UUID, name string, times int) {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("%s has happened %d times", name, times), func() bool {
		history, err := w.Store.Read(w.T.Context(), billing.Advance{Order: id}.Stream())
		w.Must(err)
		var s billing.Subscription
		left := times
		for _, r := range history {
			s = billing.Subscriptions.Evolve(s, r.Event.(billing.SubscriptionEvent)) //nolint:forcetypeassert // of such a stream
			if r.Name == name {
				left--
			}
		}
		// a charge comes to its end first
		if wait := s.NextAt.Sub(w.Runner.Now()); left > 0 && wait > 0 && !s.NextAt.IsZero() && !s.Pending {
			w.Must(w.Store.Clock().Advance(w.T.Context(), wait))
		}
		return left <= 0
	})
}

// Pays pays the open invoice of a subscription at the provider.
func (w *Renewals) Pays(id uuid.UUID) uuid.UUID {
	w.T.Helper()
	page, err := w.Orders.PayInvoice(w.T.Context(), Cause, order.BillPayment{Invoice: w.Subscription(id).Open})
	w.Must(err)
	w.Paid(page.ID)
	return page.ID
}

// Cause is a user's.
func Cause() domain.Metadata { return domain.Metadata{ID: uuid.New(), Actor: "user:1"} }

// Invoice is the state of an invoice.
func (w *Renewals) Invoice(id uuid.UUID) billing.Invoice {
	w.T.Helper()
	i, _, err := eventstore.Fold(w.T.Context(), w.Store, billing.Invoices, billing.Pay{ID: id}.Stream())
	w.Must(err)
	return i
}

// Invoices are those of an order, the oldest first.
func (w *Renewals) Invoices(id uuid.UUID) []projections.Invoice {
	w.T.Helper()
	all, err := w.Tables.For(projections.System).Billing().Invoices(
		w.T.Context(),
		projections.Listing{Limit: 100, Filters: []projections.Filter{{Field: "order", Op: "=", Value: id}}},
	)
	w.Must(err)
	slices.Reverse(all.Rows)
	return all.Rows
}

// ServesWithCard sells a service whose customer has agreed that the card is kept.
func (w *Renewals) ServesWithCard(o OrderForm) (id uuid.UUID, token string) {
	w.T.Helper()
	o.keeps = true
	id = w.Serves(o)
	w.Eventually("the card is saved", func() bool { return w.Subscription(id).Method != uuid.Nil })
	return id, "pm_" + id.String()
}

// Charges are the orders that charged the renewals of a subscription.
func (w *Renewals) Charges(id uuid.UUID) (all []projections.Order) {
	w.T.Helper()
	for _, i := range w.Invoices(id) {
		paying, err := w.Tables.For(projections.System).Orders().OrdersPaying(w.T.Context(), i.ID)
		w.Must(err)
		all = append(all, paying...)
	}
	return all
}

// Stories of money that arrives without a provider: in parts, too much, twice, or at the
// same time as a payment at one.

// Account is the balance of the tenant of a service that was bought with test money.
func (w *Renewals) Account(id uuid.UUID) billing.CreditAccount {
	return billing.CreditAccount{Tenant: w.Subscription(id).Tenant, Currency: "EUR", Test: true}
}

// Books books a transfer for the tenant of a service.
func (w *Renewals) Books(id uuid.UUID, amount, reference string) uuid.UUID {
	w.T.Helper()
	booked, err := w.Billing.Book(w.T.Context(), Cause(), w.Transfer(id, amount, reference))
	w.Must(err)
	return booked
}

// Transfer is a payment into the account of a tenant.
func (w *Renewals) Transfer(id uuid.UUID, amount, reference string) billing.BookPayment {
	return billing.BookPayment{
		CreditAccount: w.Account(id), Amount: decimal.RequireFromString(amount), Method: "bank_transfer",
		Reference: reference, Received: w.Runner.Now(),
	}
}

// The plans of these stories: the one that orders have, a larger one, and a smaller one.
const (
	BasicPlan = 1
	LargePlan = 2
	SmallPlan = 3
)

const unlimited = `,"quota_databases":-1,"quota_mailboxes":-1,"quota_domains":-1,"quota_ftp_users":-1`

// WithPlans is a world in which plans can be changed.
func WithPlans(t *testing.T, change ...func(*assembly.Options)) *Renewals {
	t.Helper()
	w := NewWorldWithClock(t, change...)
	for id, body := range map[int64]string{
		BasicPlan: `{"name":"Basic","price":"12.10","resource_type":"hosting","quota_sites":5,"quota_storage_gb":10` + unlimited + `}`,
		LargePlan: `{"name":"Large","price":"24.20","resource_type":"hosting","quota_sites":10,"quota_storage_gb":10` + unlimited + `}`,
		SmallPlan: `{"name":"Small","price":"6.05","resource_type":"hosting","quota_sites":1,"quota_storage_gb":10` + unlimited + `}`,
		4:         `{"name":"Server","price":"6.05","resource_type":"vps"}`,
		5:         `{"name":"Agency","price":"48.40","resource_type":"saas","saas_max_vms":9}`,
		6:         `{"name":"Dollars","price":"6.05","currency":"USD","resource_type":"hosting"}`,
		8:         `{"name":"Studio","price":"12.10","resource_type":"saas","saas_max_vms":3}`,
		7:         `{"name":"Gone","price":"6.05","resource_type":"hosting","is_active":false}`,
	} {
		var p storefront.Plan
		_, err := p.Fields().DecodeJSON([]byte(body), field.Create)
		w.Must(err)
		w.Does(storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: w.Runner.Now()})
	}
	return RenewalsOn(w)
}

// Changes asks for another plan.
func (w *Renewals) Changes(id uuid.UUID, plan int64, cycle string) error {
	return w.Billing.ChangePlan(w.T.Context(), Cause(), id, plan, cycle)
}

// Client is the engine's name for the tenant of a service.
func (w *Renewals) Client(id uuid.UUID) string {
	return "tenant/" + hosting.CustomerNumber(w.Subscription(id).Tenant)
}

// SitesAtEngine is the limit of sites that the engine has.
func (w *Renewals) SitesAtEngine(id uuid.UUID) string {
	return string(w.Engine.All()[w.Client(id)].Values["max_sites"])
}

// Titles are those of the notifications of a user, the oldest first. Those of different
// streams come in any order: reactions to streams run at once.
func (w *Renewals) Titles(user int64) string {
	w.T.Helper()
	return w.Text(`select coalesce(string_agg(title, ', ' order by created_at, title), '') from notifications where user_id = $1`, user)
}

// PaysChange pays the open invoice of a change at the provider.
func (w *Renewals) PaysChange(id uuid.UUID) uuid.UUID {
	w.T.Helper()
	page, err := w.Orders.PayInvoice(w.T.Context(), Cause, order.BillPayment{Invoice: w.Subscription(id).Change.Invoice})
	w.Must(err)
	w.PaysTotal(page.ID, w.Subscription(id).Change.Invoice)
	return page.ID
}

// PaysTotal pays the total of an invoice by an order.
func (w *Renewals) PaysTotal(id, invoice uuid.UUID) {
	w.T.Helper()
	minor, _ := money.Minor(w.Invoice(invoice).Total, "EUR")
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = minor })
	w.Must(w.Webhook("evt_"+id.String(), id))
}

// Planned waits until the engine has the limit of a plan.
func (w *Renewals) Planned(id uuid.UUID, plan, sites string) {
	w.T.Helper()
	w.Eventually("the plan is "+plan, func() bool { return w.Subscription(id).PlanName == plan })
	w.Eventually("the engine has its limit", func() bool { return w.SitesAtEngine(id) == sites })
	w.Eventually("its run is done", func() bool {
		return w.Count(`select count(*) from saga_run where key like 'change-plan:%' and status <> 'done'`) == 0
	})
}
