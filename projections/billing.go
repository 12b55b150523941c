package projections

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// subscriptions is what customers pay for, and their invoices, which never
// change.
var subscriptions = New("billing", `
	create table subscriptions (
		order_id       uuid    primary key,
		tenant         bigint  not null,
		user_id        bigint  not null,
		plan_id        bigint  not null,
		plan_name      text    not null,
		billing_period text    not null,
		price          numeric not null, -- of one period
		currency       text    not null,
		status         text    not null, -- active, ended
		period_start   timestamptz not null,
		period_end     timestamptz not null, -- the first moment that is not paid for
		end_reason     text    not null default '',
		created_at     timestamptz not null,
		updated_at     timestamptz not null,
		version        int     not null  -- of the subscription's stream
	);
	create unique index subscriptions_of_tenant on subscriptions (tenant, order_id);
	create index subscriptions_newest on subscriptions (created_at desc, order_id desc) include (tenant);
	create index subscriptions_tenant on subscriptions (tenant, created_at desc, order_id desc);
	create index subscriptions_due on subscriptions (period_end) where status = 'active';

	create table invoices (
		id               uuid    primary key,
		number           text    not null,
		order_id         uuid    not null,
		tenant           bigint  not null,
		subject          uuid    not null,
		customer_name    text    not null,
		customer_email   text    not null,
		customer_company text    not null,
		seller           jsonb   not null,
		lines            jsonb   not null, -- their totals include tax
		total            numeric not null,
		subtotal         numeric not null,
		tax              numeric not null,
		tax_rate         numeric not null,
		currency         text    not null,
		status           text    not null,
		created_at       timestamptz not null, -- the moment of issue
		updated_at       timestamptz not null,
		version          int     not null, -- of the invoice's stream
		constraint invoices_subscription foreign key (tenant, order_id) references subscriptions (tenant, order_id)
	);
	create unique index invoices_order on invoices (order_id);
	create unique index invoices_number on invoices (number);
	create index invoices_newest on invoices (created_at desc, id desc) include (tenant);
	create index invoices_tenant on invoices (tenant, created_at desc, id desc);
	create index invoices_subject on invoices (subject);

	create table credit_notes (
		id        uuid    primary key,
		number    text    not null,
		order_id  uuid    not null,
		tenant    bigint  not null,
		invoice   text    not null,
		refund    text    not null, -- the provider's id
		total     numeric not null,
		subtotal  numeric not null,
		tax       numeric not null,
		tax_rate  numeric not null,
		currency  text    not null,
		created_at timestamptz not null, -- the moment of issue
		updated_at timestamptz not null
	);
	create unique index credit_notes_number on credit_notes (number);
	create unique index credit_notes_refund on credit_notes (order_id, refund);
	create index credit_notes_newest on credit_notes (created_at desc, id desc) include (tenant);
	create index credit_notes_tenant on credit_notes (tenant, created_at desc, id desc)`,

	On(func(at eventstore.RecordedEvent, e billing.SubscriptionStarted) Change {
		return insert("subscriptions", Row{
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"user_id", e.User},
			{"plan_id", e.Plan},
			{"plan_name", e.PlanName},
			{"billing_period", e.BillingPeriod},
			{"price", e.Price.String()},
			{"currency", e.Currency},
			{"status", "active"},
			{"period_start", e.PeriodStart},
			{"period_end", e.PeriodEnd},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e billing.SubscriptionEnded) Change {
		return update("subscriptions", Row{{"order_id", at.Stream.ID}}, changed(at, Row{{"status", "ended"}, {"end_reason", e.Reason}}))
	}),
	On(func(at eventstore.RecordedEvent, e billing.InvoiceIssued) Change {
		return insert("invoices", Row{
			{"id", at.Stream.ID},
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"subject", e.SubjectID},
			{"customer_name", e.Name},
			{"customer_email", e.Email},
			{"customer_company", e.Company},
			{"seller", e.Seller},
			{"lines", e.Lines},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"status", e.Status},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		}).after("subscriptions", Row{{"order_id", e.Order}})
	}).Unique("invoices_order", domain.Refuse(domain.Conflict, "The order has an invoice.")),
	On(func(at eventstore.RecordedEvent, e billing.CreditNoteIssued) Change {
		return insert("credit_notes", Row{
			{"id", at.ID},
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"invoice", e.Invoice},
			{"refund", e.Refund},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"created_at", e.At},
			{"updated_at", e.At},
		})
	}),
).
	ReadBy("subscriptions", operators, ofTenant("tenant")).
	ReadBy("invoices", operators, ofTenant("tenant")).
	ReadBy("credit_notes", operators, ofTenant("tenant"))

// A Subscription is a service that a customer pays for.
type Subscription struct {
	OrderID       uuid.UUID // of the order that started it
	Tenant        int64
	UserID        int64
	PlanID        int64
	PlanName      string
	BillingPeriod string
	Price         decimal.Decimal // of one period
	Currency      string
	Status        billing.SubscriptionStatus
	PeriodStart   time.Time
	PeriodEnd     time.Time // the first moment that is not paid for
	EndReason     string
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int // of the subscription's stream
}

// An Invoice is what a customer was billed.
type Invoice struct {
	ID              uuid.UUID
	Number          string // "INV-2026-000001"
	OrderID         uuid.UUID
	Tenant          int64
	Subject         uuid.UUID
	CustomerName    string
	CustomerEmail   string
	CustomerCompany string
	Seller          billing.Seller
	Lines           []billing.Line
	Total           decimal.Decimal
	Subtotal        decimal.Decimal
	Tax             decimal.Decimal
	TaxRate         decimal.Decimal
	Currency        string
	Status          string
	CreatedAt       time.Time // the moment of issue
	UpdatedAt       time.Time
	Version         int // of the invoice's stream
}

// A CreditNote is what a customer was given back of an invoice.
type CreditNote struct {
	ID        uuid.UUID
	Number    string // "CN-2026-000001"
	OrderID   uuid.UUID
	Tenant    int64
	Invoice   string // its number
	Refund    string // the provider's id
	Total     decimal.Decimal
	Subtotal  decimal.Decimal
	Tax       decimal.Decimal
	TaxRate   decimal.Decimal
	Currency  string
	CreatedAt time.Time // the moment of issue
	UpdatedAt time.Time
}

const subscriptionColumns = `s.order_id, s.tenant, s.user_id, s.plan_id, s.plan_name, s.billing_period, s.price, s.currency, s.status,
	s.period_start, s.period_end, s.end_reason, s.created_at, s.updated_at, s.version`

const invoiceColumns = `i.id, i.number, i.order_id, i.tenant, i.subject, i.customer_name, i.customer_email, i.customer_company, i.seller, i.lines,
	i.total, i.subtotal, i.tax, i.tax_rate, i.currency, i.status, i.created_at, i.updated_at, i.version`

const creditNoteColumns = `n.id, n.number, n.order_id, n.tenant, n.invoice, n.refund, n.total, n.subtotal, n.tax, n.tax_rate, n.currency, n.created_at, n.updated_at`

var (
	subscriptionsBy = listedBy{
		columns: subscriptionColumns, from: "subscriptions s", id: "s.order_id", key: "order_id",
		fields: with(fieldsOf("s", "status", "tenant", "billing_period", "period_end"), "id", "s.order_id"),
	}
	invoicesBy = listedBy{
		columns: invoiceColumns, from: "invoices i", id: "i.id", key: "id",
		fields: with(fieldsOf("i", "status", "tenant", "number", "total"), "order", "i.order_id"),
	}
	creditNotesBy = listedBy{
		columns: creditNoteColumns, from: "credit_notes n", id: "n.id", key: "id",
		fields: with(fieldsOf("n", "tenant", "number", "total", "invoice"), "order", "n.order_id"),
	}
)

// Subscriptions lists those of the caller's active tenant; superusers without one see all.
func (s OrderReader) Subscriptions(ctx context.Context, l Listing) (Listed[Subscription], error) {
	return part[Subscription](ctx, s, subscriptionsBy, s.tenant("s.tenant"), l)
}

// Invoices lists what the caller's tenant was billed; superusers without one see all.
func (s OrderReader) Invoices(ctx context.Context, l Listing) (Listed[Invoice], error) {
	return part[Invoice](ctx, s, invoicesBy, s.tenant("i.tenant"), l)
}

// CreditNotes lists what was credited to the caller's tenant; superusers without one see
// all.
func (s OrderReader) CreditNotes(ctx context.Context, l Listing) (Listed[CreditNote], error) {
	return part[CreditNote](ctx, s, creditNotesBy, s.tenant("n.tenant"), l)
}

// Subscription is one of the caller's tenant, by the order that started it.
func (s OrderReader) Subscription(ctx context.Context, order uuid.UUID) (Subscription, error) {
	w := s.tenantOrAll("s.tenant")
	w.and("s.order_id = ?", order)
	return one[Subscription](ctx, s, "Subscription", `select `+subscriptionColumns+` from subscriptions s`, w)
}

// SubscriptionOfOrder returns the subscription that an order started, if it has come so
// far.
func (s OrderReader) SubscriptionOfOrder(ctx context.Context, order uuid.UUID) (Subscription, bool, error) {
	return maybe(s.Subscription(ctx, order))
}

// Invoice is one of the caller's tenant.
func (s OrderReader) Invoice(ctx context.Context, id uuid.UUID) (Invoice, error) {
	w := s.tenantOrAll("i.tenant")
	w.and("i.id = ?", id)
	return one[Invoice](ctx, s, "Invoice", `select `+invoiceColumns+` from invoices i`, w)
}

// InvoiceOfOrder returns the invoice of an order, if it has come so far.
func (s OrderReader) InvoiceOfOrder(ctx context.Context, order uuid.UUID) (Invoice, bool, error) {
	w := s.tenantOrAll("i.tenant")
	w.and("i.order_id = ?", order)
	return maybe(one[Invoice](ctx, s, "Invoice", `select `+invoiceColumns+` from invoices i`, w))
}

// CreditNote is one of the caller's tenant.
func (s OrderReader) CreditNote(ctx context.Context, id uuid.UUID) (CreditNote, error) {
	w := s.tenantOrAll("n.tenant")
	w.and("n.id = ?", id)
	return one[CreditNote](ctx, s, "CreditNote", `select `+creditNoteColumns+` from credit_notes n`, w)
}

// CreditNotesOfOrder lists what was credited of an order's invoice, oldest first.
func (s OrderReader) CreditNotesOfOrder(ctx context.Context, order uuid.UUID) ([]CreditNote, error) {
	w := s.tenantOrAll("n.tenant")
	w.and("n.order_id = ?", order)
	return list[CreditNote](ctx, s, `select `+creditNoteColumns+` from credit_notes n`, w, ` order by n.created_at, n.number`)
}
