package billing

import (
	"context"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Administrators order further services into their tenant. Users of the tenant read what
// was ordered for it (docs/orders.md, "Ordering into a tenant").

const ordersPath = prefix + "orders/"

func (s *orders) routes() []route.Route {
	return []route.Route{
		listing.Pages[tenantOrder](ordersPath, "Orders of the tenant, newest first", listing.Spec{
			Filters: orderFilters, Ordering: []string{"total"}, UUIDs: true,
		}, s.listOrders).As("tenant_order_list"),
		route.Post(ordersPath, "Order a service into the tenant, and get the page where it is paid", s.placeOrder).
			As("tenant_order_create").
			For(s.callers.TenantAdmin()).Barring(s.barClosed).Checking(route.Check(s.checkOrder)).Asking(func() field.Record {
			return &orderForm{methods: s.offers.Names()}
		}).
			Caching("no-store").Keeping(domain.KeepWeek).Resuming(s.resumeOrder).
			Saying("The caller is the customer. The service joins the active tenant: neither an account nor a tenant is made.").
			Failing(
				http.StatusServiceUnavailable,
				"The payment provider does not answer. The order waits, order_id names it: repeat the call with the same Idempotency-Key.",
			),
		route.Get(ordersPath+
			"{id:uuid}/", "An order of the tenant", record.Found[tenantOrder]).As("tenant_order_read").Of("Order").Finding(s.findOrder),
	}
}

func orderFilters() field.Set {
	return field.Set{
		field.Text("status", new(string)).Among(projections.OrderStatuses...).Doc("Only those in this status."),
		field.Int("tenant", new(int64)).Doc("Only those of this tenant."),
		field.Text("number", new(string)).Doc("Only the one with this number."),
		field.Int("plan", new(int64)).Doc("Only those of this plan."),
	}
}

// An orderForm is the form of the storefront without the customer, who is the caller.
type orderForm struct {
	order.Draft
	methods []string
}

// Fields are the form.
func (f *orderForm) Fields() field.Set {
	return slices.Concat(field.Set{
		field.Ref("plan_id", &f.PlanID).Required().Doc("A plan on offer."),
	}, buyer.Fields(&f.Customer.Details), field.Set{
		field.Text("payment_method", &f.PaymentMethod).Required().Among(f.methods...),
		field.Text("billing_period", (*string)(&f.Period)).Among(string(order.Monthly), string(order.Yearly)).
			Default(string(order.Monthly)),
		field.Flag("save_payment_method", &f.KeepMethod).Default(false).Doc(
			"The caller agrees that the provider keeps the payment method, and that renewals are charged by it.",
		),
		field.Text("domain", &f.Domain).Is(field.Domain).Default("").Doc("The domain to be hosted."),
		field.Text("os_choice", &f.OS).Max(64).Default("").Doc("VPS plans only: one of the plan's options; its default when absent."),
		field.Text("language", &f.Language).Spoken().Doc("That of the caller when absent."),
	}, record.MachineFields(&f.Draft))
}

// barClosed refuses orders for no tenant, and for one that is out of service.
func (s *orders) barClosed(ctx context.Context, c route.Call) error {
	id := caller.Of(c).Tenant()
	switch {
	case id == 0 && caller.Of(c).IsSuperuser:
		return nil // who has to act for a tenant first
	case id == 0:
		return &route.Refusal{Status: http.StatusForbidden, Detail: "No active tenant.", Code: "no_active_tenant"}
	}
	row, err := s.callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: id})
	if err != nil {
		return err
	}
	var t hosting.Tenant
	if err := row.Load(&t); err != nil {
		return err
	}
	if t.Closed(row.DisabledBy...) {
		return &route.Refusal{Status: http.StatusForbidden, Detail: "The tenant is suspended.", Code: "tenant_suspended"}
	}
	return nil
}

// checkOrder completes the form with the caller, and says what else is wrong with it. Test
// money pays where there is no other.
func (s *orders) checkOrder(ctx context.Context, c route.Call, f *orderForm, wrong *field.Errors) error {
	who := caller.Of(c)
	if who.Tenant() == 0 {
		wrong.Add("tenant", field.Missing)
		return nil
	}
	f.Customer.Name, f.Customer.Email = who.Name, who.Email
	if f.Customer.Name == "" {
		f.Customer.Name = who.Email
	}
	if !c.Sent.Has("language") {
		f.Language = who.Language
	}
	f.Joins = order.Joining{Tenant: who.Tenant(), User: who.ID}
	f.TestMoney = testMoneyAlone(s.offers)
	if f.KeepMethod && who.Person() == uuid.Nil {
		wrong.Add("save_payment_method", "Only members of the tenant can save a payment method.")
	}
	isSubTenant, err := s.billTo(ctx, c, f)
	if err != nil {
		return err
	}
	err = s.orders.Prepare(ctx, &f.Draft, wrong)
	if isSubTenant && f.Agreed.Plan.SaaS != nil {
		wrong.Add("plan_id", "A sub-tenant cannot have sub-tenants.")
	}
	return err
}

// billTo bills the tenant's company at its address, unless the form names another one, and
// tells whether it is a sub-tenant.
func (s *orders) billTo(ctx context.Context, c route.Call, f *orderForm) (isSubTenant bool, err error) {
	row, err := s.callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: f.Joins.Tenant})
	if err != nil {
		return false, err
	}
	var t hosting.Tenant
	if err := row.Load(&t); err != nil {
		return false, err
	}
	isSubTenant, f.Customer.Company = t.IsSubTenant(row.RequestedFor), t.CompanyName
	if slices.ContainsFunc(buyer.Names, c.Sent.Has) {
		return isSubTenant, nil
	}
	own := buyer.Details{Address: t.Address, City: t.City, PostalCode: t.PostalCode, Country: t.Country, TaxID: t.TaxID}
	var wrong field.Errors
	if buyer.Check(own, &wrong); len(wrong) == 0 && (own.Country == "" || buyer.IsCountry(own.Country)) {
		f.Customer.Details = own
	}
	return isSubTenant, nil
}

// testMoneyAlone tells whether no payment method takes real money.
func testMoneyAlone(offers order.Offers) bool {
	return !slices.ContainsFunc(offers, func(o order.Offer) bool { return o.Configured && o.Live })
}

// place puts the order into the log.
func (s *orders) place(ctx context.Context, c route.Call, f *orderForm) (uuid.UUID, error) {
	const perCustomer = 10 // in an hour
	if !f.TestMoney {
		if err := s.callers.Limiter.Spend(ctx, "orders_customer", strings.ToLower(f.Customer.Email), perCustomer, time.Hour); err != nil {
			return uuid.Nil, err
		}
	}
	return s.orders.Place(ctx, c.Cause, &f.Draft, func(id uuid.UUID) {
		c.Location(ordersPath + id.String() + "/")
		c.Correlate(id)
	})
}

func (s *orders) placeOrder(ctx context.Context, c route.Call, f *orderForm) (*record.Payable, error) {
	id, err := s.place(ctx, c, f)
	if err != nil {
		return nil, err
	}
	placed, err := s.orders.ToPayment(ctx, id)
	return record.ToPay(ctx, s.callers.Log(), placed, err, s.unavailable)
}

// resumeOrder goes on with an order whose first answer was never given, or was a 503.
func (s *orders) resumeOrder(ctx context.Context, _ route.Call, location string) (route.Answer, error) {
	id, err := orderAt(location)
	if err != nil {
		return nil, err
	}
	placed, err := s.orders.ToPayment(ctx, id)
	page, err := record.ToPay(ctx, s.callers.Log(), placed, err, s.unavailable)
	if err != nil {
		return nil, err
	}
	return page.Fields(), nil
}

// orderAt is the order that a path names.
func orderAt(location string) (uuid.UUID, error) { return uuid.Parse(path.Base(location)) }

func (s *orders) listOrders(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[tenantOrder], error) {
	rows, err := s.callers.Scope(c).Orders().TenantOrders(ctx, l)
	return record.Map(rows, err, newTenantOrder)
}

func (s *orders) findOrder(ctx context.Context, c route.Call) (any, string, error) {
	row, err := s.callers.Scope(c).Orders().TenantOrder(ctx, c.UUID("id"))
	found := newTenantOrder(row)
	return record.Subject(&found, err)
}

// A tenantOrder is an order as the users of its tenant see it.
type tenantOrder struct {
	projections.Order
	message       string
	payAt         *string    // where it is paid; nil: it is not to be paid
	subscription  *uuid.UUID // nil: there is none yet
	firstDocument *uuid.UUID // the first invoice; nil: likewise
}

func newTenantOrder(row projections.Order) tenantOrder {
	o := tenantOrder{Order: row}
	o.message = o.said(o.Language)
	if unpaid := o.Status == order.StatusPending || o.Status == order.StatusPaymentProcessing; unpaid && o.PaymentURL != "" {
		o.payAt = &o.PaymentURL
	}
	if o.Subscribed {
		o.subscription, o.firstDocument = &o.ID, &o.ID
	}
	return o
}

// said is the status in words.
func (o *tenantOrder) said(language string) string {
	return order.Message(order.Standing{
		Status: o.Status, Settling: o.Settling, OnHold: len(o.Holds) > 0, CancelRequested: o.CancelRequested, Step: o.FailedStep,
	}, language)
}

// Tag changes with the order.
func (o *tenantOrder) Tag() string { return record.Tag("order", o.ID.String(), o.Version) }

// Fields are the order.
func (o *tenantOrder) Fields() field.Set {
	return field.Set{
		field.UUID("id", &o.ID).ReadOnly(),
		field.Text("order_number", &o.OrderNumber).ReadOnly(),
		field.NullInt("tenant", &o.Tenant).ReadOnly(),
		field.Text("status", (*string)(&o.Status)).Among(projections.OrderStatuses...).ReadOnly().Worded("tenant_order_state_"),
		field.Text("status_message", &o.message).ReadOnly(),
		field.Int("plan", &o.PlanID).ReadOnly(),
		field.Text("plan_name", &o.PlanName).ReadOnly(),
		field.Text("resource_type", &o.ResourceType).Among("hosting", "vps", "saas").ReadOnly(),
		field.Text("billing_period", (*string)(&o.BillingPeriod)).Among("monthly", "yearly").ReadOnly(),
		field.Amount("price", &o.PeriodPrice, 16, 4).ReadOnly().Doc("Of one period, tax included."),
		field.Amount("setup_fee", &o.SetupFee, 16, 4).ReadOnly(),
		field.Amount("tax_rate", &o.TaxRate, 5, 2).ReadOnly(),
		field.Amount("subtotal", &o.Subtotal, 14, 2).ReadOnly(),
		field.Amount("total", &o.Total, 14, 2).ReadOnly().In(&o.Currency),
		field.Text("currency", &o.Currency).ReadOnly(),
		field.Text("payment_method", &o.PaymentMethod).ReadOnly(),
		field.NullText("payment_url", &o.payAt).ReadOnly().Doc("Where the order is paid; null: it is not to be paid."),
		field.Text("domain", &o.Domain).ReadOnly(),
		field.Text("os_choice", &o.OSChoice).ReadOnly(),
		field.NullUUID("subscription", &o.subscription).ReadOnly().Doc("Of the service; null until it is set up."),
		field.NullUUID("invoice", &o.firstDocument).ReadOnly().Doc("The first one; null until the service is set up."),
		field.Time("created_at", &o.CreatedAt).ReadOnly(),
		field.Time("updated_at", &o.UpdatedAt).ReadOnly(),
	}
}
