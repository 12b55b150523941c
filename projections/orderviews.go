package projections

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/buyer"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
)

// An OrderReader reads orders, and what is on offer: plans, widgets and API keys.
type OrderReader Scope

// Orders returns the reader of orders.
func (s Scope) Orders() OrderReader { return OrderReader(s) }

// An OrderView is what the seller of the order may see of it, through the
// storefront: nothing about its customer (docs/storefront.md, "Orders").
type OrderView struct {
	ID            uuid.UUID
	OrderNumber   string
	Status        order.Status
	StatusMessage string `db:"-"` // see [OrderView.Explain]
	PlanName      string
	PeriodPrice   decimal.Decimal
	SetupFee      decimal.Decimal
	TaxRate       decimal.Decimal
	Currency      string
	BillingPeriod string
	Subtotal      decimal.Decimal
	Total         decimal.Decimal
	PaymentMethod string
	CreatedAt     time.Time

	Holds           []order.Hold
	Settling        bool
	CancelRequested bool
	Language        string
	FailedStep      string
	Version         int // of the order's stream
}

const orderViewColumns = `id, order_number, status, plan_name, period_price, setup_fee, tax_rate, currency, billing_period,
	subtotal, total, payment_method, created_at, holds, settling, cancel_requested, language, failed_step, version`

// Fields are the order as the storefront shows it.
func (o *OrderView) Fields() field.Set {
	return field.Set{
		field.UUID("id", &o.ID).ReadOnly(),
		field.Text("order_number", &o.OrderNumber).ReadOnly(),
		field.Text("status", (*string)(&o.Status)).ReadOnly(),
		field.Text("status_message", &o.StatusMessage).ReadOnly(),
		field.Text("plan_name", &o.PlanName).ReadOnly(),
		field.Amount("price", &o.PeriodPrice, 16, 4).ReadOnly(),
		field.Amount("setup_fee", &o.SetupFee, 16, 4).ReadOnly(),
		field.Amount("tax_rate", &o.TaxRate, 5, 2).ReadOnly(),
		field.Text("currency", &o.Currency).ReadOnly(),
		field.Text("billing_period", &o.BillingPeriod).ReadOnly(),
		field.Amount("subtotal", &o.Subtotal, 14, 2).ReadOnly(),
		field.Amount("total", &o.Total, 14, 2).ReadOnly(),
		field.Text("payment_method", &o.PaymentMethod).ReadOnly(),
		field.Time("created_at", &o.CreatedAt).ReadOnly(),
	}
}

// Explain puts the order's standing into words for its customer, in the
// order's language. While it is being provisioned only its run knows the step
// ("tenant.engine"); one that is parked knows by itself.
func (o *OrderView) Explain(step string) {
	if o.FailedStep != "" {
		step = o.FailedStep
	}
	o.StatusMessage = order.Message(order.Standing{
		Status: o.Status, Settling: o.Settling, OnHold: len(o.Holds) > 0, CancelRequested: o.CancelRequested, Step: step,
	}, o.Language)
}

// A Buyer is what an order or an invoice says of who is billed, beside name, company and
// email.
type Buyer struct {
	CustomerAddress    string
	CustomerCity       string
	CustomerPostalCode string
	CustomerCountry    string
	CustomerTaxID      string
}

// Details are the buyer's, as orders and invoices take them.
func (b Buyer) Details() buyer.Details {
	return buyer.Details{
		Address: b.CustomerAddress, City: b.CustomerCity, PostalCode: b.CustomerPostalCode, Country: b.CustomerCountry,
		TaxID: b.CustomerTaxID,
	}
}

// AddressLine is the address in one line: "Gran Vía 2, 48001 Bilbao, ES". What is blank is
// left out.
func (b Buyer) AddressLine() string {
	parts := []string{b.CustomerAddress, strings.TrimSpace(b.CustomerPostalCode + " " + b.CustomerCity), b.CustomerCountry}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ", ")
}

const buyerColumns = `customer_address, customer_city, customer_postal_code, customer_country, customer_tax_id`

// An Order is all that is known of an order, for operators and for
// provisioning.
type Order struct {
	ID               uuid.UUID
	OrderNumber      string
	Status           order.Status
	Holds            []order.Hold
	Warnings         []order.Warning
	Settling         bool
	FailedStep       string
	FailedCode       string
	CancelReason     order.CancelReason
	Subject          uuid.UUID // of the customer's data
	CustomerName     string
	CustomerEmail    string
	CustomerPhone    string
	CustomerCompany  string
	PlanID           int64
	PlanName         string
	ResourceType     string
	Plan             order.Plan
	BillingPeriod    order.Period
	Price            decimal.Decimal // per month
	PeriodPrice      decimal.Decimal // per billing period, exact
	SetupFee         decimal.Decimal
	TaxRate          decimal.Decimal
	Total            decimal.Decimal
	Subtotal         decimal.Decimal
	Tax              decimal.Decimal
	Currency         string
	Minor            int64
	PaymentMethod    string
	Test             bool
	Domain           string
	OSChoice         string
	Hostname, SSHKey string // of a virtual server
	Language         string
	WidgetID         string
	APIKey           string // public id
	Owner            int64
	SuccessURL       string // "": that of the widget
	CancelURL        string
	SessionID        string
	PaymentURL       string
	SessionExpiresAt *time.Time
	PaymentID        string
	PaymentStatus    order.PaymentState
	Refunded         int64 // minor units of the payment that it runs on
	CancelRequested  bool
	Tenant           *int64     // that has the service, or that it joins; nil: none yet
	Subscribed       bool       // its service is billed, or was
	OrderedBy        *int64     // the user who ordered for a tenant that there was; nil: no user has
	Invoice          *uuid.UUID // that it pays; nil: it buys a service
	KeepFor          *uuid.UUID // who agreed that the payment method is kept; nil: it is not
	KeptMethod       *uuid.UUID // that is charged; nil: the customer pays on a page
	CreatedAt        time.Time
	UpdatedAt        time.Time
	Version          int // of the order's stream
	Buyer
	tax.Treatment
}

const taxColumnNames = `tax_kind, tax_country, tax_removed, tax_id_accepted_by`

const orderColumns = `id, order_number, status, holds, warnings, settling, failed_step, failed_code, cancel_reason, subject,
	customer_name, customer_email, customer_phone, customer_company, ` + buyerColumns + `, plan_id, plan_name, resource_type, plan,
	billing_period, price, period_price, setup_fee, tax_rate, ` + taxColumnNames + `, total, subtotal, tax, currency, minor, payment_method,
	test, domain, os_choice, hostname, ssh_key, language, widget_id, api_key, owner, success_url, cancel_url, session_id, payment_url,
	session_expires_at, payment_id, payment_status, refunded, cancel_requested, tenant, subscribed, ordered_by, invoice, keep_for,
	kept_method, created_at, updated_at, version`

// OrderView returns one order as the storefront shows it. Callers with a key
// see the orders that were placed with a key of the same owner. While one is
// being provisioned its message names the first step; see [OrderView.Explain].
func (s OrderReader) OrderView(ctx context.Context, id uuid.UUID) (OrderView, error) {
	w := s.caller.keyOwner("owner")
	w.and("id = ?", id)
	o, err := one[OrderView](ctx, s.db, "Order", `select `+orderViewColumns+` from orders`, w)
	o.Explain("")
	return o, err
}

// Order returns all about one order.
func (s OrderReader) Order(ctx context.Context, id uuid.UUID) (Order, error) {
	w := s.caller.operators()
	w.and("id = ?", id)
	return one[Order](ctx, s.db, "Order", `select `+orderColumns+` from orders`, w)
}

// OrderByNumber finds an order by what people call it ("ORD-20261121-7F3K9Q").
func (s OrderReader) OrderByNumber(ctx context.Context, number string) (Order, error) {
	w := s.caller.operators()
	w.and("order_number = ?", number)
	return one[Order](ctx, s.db, "Order", `select `+orderColumns+` from orders`, w)
}

// OrderForRun is what provisioning has to know of the order.
func (s OrderReader) OrderForRun(ctx context.Context, id uuid.UUID) (Order, error) {
	return s.Order(ctx, id)
}

// OrdersPaying lists the orders that were placed to pay an invoice, oldest first.
func (s OrderReader) OrdersPaying(ctx context.Context, invoice uuid.UUID) ([]Order, error) {
	w := s.caller.operators()
	w.and("invoice = ?", invoice)
	return list[Order](ctx, s.db, `select `+orderColumns+` from orders`, w, ` order by created_at, id`)
}

var tenantOrdersBy = listRules{
	columns: orderColumns, from: "orders o", id: "o.id", key: "id",
	fields: with(fieldsOf("o", "status", "tenant", "total"), "number", "o.order_number", "plan", "o.plan_id"),
}

// buysService leaves out orders that pay an invoice.
const buysService = `invoice is null`

// TenantOrders lists what was ordered for the caller's tenant; superusers without one see
// all.
func (s OrderReader) TenantOrders(ctx context.Context, l Listing) (Listed[Order], error) {
	w := s.caller.tenant("o.tenant")
	w.conditions = append(w.conditions, buysService, "o.tenant is not null")
	return part[Order](ctx, s.db, tenantOrdersBy, w, l)
}

// TenantOrder is one of the caller's tenant.
func (s OrderReader) TenantOrder(ctx context.Context, id uuid.UUID) (Order, error) {
	w := s.caller.tenantOrAll("tenant")
	w.conditions = append(w.conditions, buysService, "tenant is not null")
	w.and("id = ?", id)
	return one[Order](ctx, s.db, "Order", `select `+orderColumns+` from orders`, w)
}

// A ServiceOrder is one whose service a tenant has, or has had.
type ServiceOrder struct {
	OrderID      uuid.UUID
	ResourceType string
	Plan         order.Plan
	Made         bool // the order has made the tenant
	Subscription string
}

// ServicesOf are the orders whose services a tenant has, or has had, oldest first.
func (s BillingReader) ServicesOf(ctx context.Context, tenant int64) ([]ServiceOrder, error) {
	w := s.caller.operators()
	w.and("s.tenant = ?", tenant)
	return list[ServiceOrder](ctx, s.db, `select s.order_id, o.resource_type, o.plan, o.ordered_by is null as made, s.status as subscription
		from subscriptions s join orders o on o.id = s.order_id`, w, ` order by s.created_at, s.order_id`)
}

// A Service is what a tenant has bought: an order that is paid, with its subscription.
type Service struct {
	OrderID       uuid.UUID
	OrderNumber   string
	Tenant        int64
	ResourceType  string
	Status        ServiceStatus
	PlanID        int64 // that counts now
	PlanName      string
	Plan          order.Plan // as it was bought
	Domain        string
	Made          bool // the order has made the tenant
	Subscribed    bool
	BillingPeriod string
	Price         decimal.Decimal // of one period
	Currency      string
	PeriodEnd     *time.Time // the first moment that is not paid for; nil: no subscription has begun
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int // of the order's stream
}

// A ServiceStatus is how a service stands.
type ServiceStatus string

// ServiceStatuses are all of them. Those in the middle are of the subscription.
var ServiceStatuses = []string{
	string(ServiceProvisioning), "active", "past_due", string(ServiceSuspended), "cancelling", string(ServiceEnded),
}

// The statuses that follow from more than the subscription.
const (
	ServiceProvisioning ServiceStatus = "provisioning" // paid for, and not set up yet
	ServiceSuspended    ServiceStatus = "suspended"    // not paid, or the payment is disputed
	ServiceEnded        ServiceStatus = "ended"
)

// isService picks the orders that have bought a service for a tenant, and were paid.
const isService = `o.invoice is null and o.tenant is not null and (o.subscribed or o.status in ('paid', 'provisioning', 'failed'))`

// servicesBy is how services are listed. They are no table: each is an order beside its
// subscription. An open dispute suspends one unless the installation keeps disputed ones.
func servicesBy(keepDisputed bool) listRules {
	const its = `(select x.status from subscriptions x where x.order_id = o.id)`
	disputed := `'dispute' = any(o.holds)`
	if keepDisputed {
		disputed = `false`
	}
	status := `(case when ` + its + ` = 'ended' or o.status in ('cancelled', 'refunded') then 'ended'
		when o.status in ('paid', 'provisioning', 'failed') then 'provisioning'
		when ` + disputed + ` then 'suspended' else coalesce(` + its + `, 'provisioning') end)`
	const updated = `greatest(o.updated_at, (select x.updated_at from subscriptions x where x.order_id = o.id))`
	return listRules{
		columns: `o.id as order_id, o.order_number, o.tenant, o.resource_type, ` + status + ` as status,
			coalesce(s.plan_id, o.plan_id) as plan_id, coalesce(s.plan_name, o.plan_name) as plan_name,
			o.plan, o.domain, o.ordered_by is null as made, s.order_id is not null as subscribed,
			coalesce(s.billing_period, o.billing_period) as billing_period, coalesce(s.price, o.period_price) as price,
			o.currency, s.period_end, o.created_at, ` + updated + ` as updated_at, o.version`,
		from: "orders o", joined: ` left join subscriptions s on s.order_id = o.id`, id: "o.id", key: "id",
		fields: with(fieldsOf("o", "tenant"), "status", status, "kind", "o.resource_type", "updated_at", updated),
	}
}

// Services lists those of the caller's tenant; superusers without one see all.
func (s BillingReader) Services(ctx context.Context, l Listing, keepDisputed bool) (Listed[Service], error) {
	w := s.caller.tenant("o.tenant")
	w.conditions = append(w.conditions, isService)
	return part[Service](ctx, s.db, servicesBy(keepDisputed), w, l)
}

// Service is one of the caller's tenant, by its order.
func (s BillingReader) Service(ctx context.Context, order uuid.UUID, keepDisputed bool) (Service, error) {
	w, by := s.caller.tenantOrAll("o.tenant"), servicesBy(keepDisputed)
	w.conditions = append(w.conditions, isService)
	w.and("o.id = ?", order)
	return one[Service](ctx, s.db, "Service", `select `+by.columns+` from `+by.from+by.joined, w)
}

// An OrderFilter picks orders; the zero value of a field sets no condition.
type OrderFilter struct {
	Status order.Status
	Hold   order.Hold
	Plan   int64
	Before time.Time // placed earlier than
	Limit  int       // 0: 100
}

// Orders lists orders, newest first.
func (s OrderReader) Orders(ctx context.Context, f OrderFilter) ([]Order, error) {
	w := s.caller.operators()
	given(w, "status = ?", f.Status)
	given(w, "? = any(holds)", f.Hold)
	given(w, "plan_id = ?", f.Plan)
	given(w, "created_at < ?", f.Before)
	return list[Order](ctx, s.db, `select `+orderColumns+` from orders`, w, w.newest("created_at", "id", f.Limit))
}

// OrdersByStatus counts orders.
func (s OrderReader) OrdersByStatus(ctx context.Context) (map[order.Status]int64, error) {
	type row struct {
		Status order.Status
		Orders int64
	}
	rows, err := list[row](ctx, s.db, `select status, count(*) as orders from orders`, s.caller.operators(), ` group by status`)
	counts := make(map[order.Status]int64, len(rows))
	for _, r := range rows {
		counts[r.Status] = r.Orders
	}
	return counts, err
}
