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
	create index subscriptions_tenant on subscriptions (tenant, created_at desc, order_id desc);
	create index subscriptions_due on subscriptions (period_end) where status = 'active';

	create table invoices (
		number           text    primary key,
		order_id         uuid    not null,
		tenant           bigint  not null,
		subject          uuid    not null,
		customer_name    text    not null,
		customer_email   text    not null,
		customer_company text    not null,
		line             text    not null,
		total            numeric not null,
		subtotal         numeric not null,
		tax              numeric not null,
		tax_rate         numeric not null,
		currency         text    not null,
		status           text    not null,
		issued_at        timestamptz not null,
		constraint invoices_subscription foreign key (tenant, order_id) references subscriptions (tenant, order_id)
	);
	create unique index invoices_order on invoices (order_id);
	create index invoices_tenant on invoices (tenant, issued_at desc, number desc);
	create index invoices_subject on invoices (subject);

	create table credit_notes (
		number    text    primary key,
		order_id  uuid    not null,
		tenant    bigint  not null,
		invoice   text    not null,
		refund    text    not null, -- the provider's id
		total     numeric not null,
		subtotal  numeric not null,
		tax       numeric not null,
		tax_rate  numeric not null,
		currency  text    not null,
		issued_at timestamptz not null
	);
	create unique index credit_notes_refund on credit_notes (order_id, refund);
	create index credit_notes_tenant on credit_notes (tenant, issued_at desc, number desc)`,

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
	On(func(_ eventstore.RecordedEvent, e billing.InvoiceIssued) Change {
		return insert("invoices", Row{
			{"number", e.Number()},
			{"order_id", e.Order},
			{"tenant", e.Tenant},
			{"subject", e.SubjectID},
			{"customer_name", e.Name},
			{"customer_email", e.Email},
			{"customer_company", e.Company},
			{"line", e.Line},
			{"total", e.Total.String()},
			{"subtotal", e.Subtotal.String()},
			{"tax", e.Tax.String()},
			{"tax_rate", e.TaxRate.String()},
			{"currency", e.Currency},
			{"status", e.Status},
			{"issued_at", e.At},
		}).after("subscriptions", Row{{"order_id", e.Order}})
	}).Unique("invoices_order", domain.Refuse(domain.Conflict, "The order has an invoice.")),
	On(func(_ eventstore.RecordedEvent, e billing.CreditNoteIssued) Change {
		return insert("credit_notes", Row{
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
			{"issued_at", e.At},
		})
	}),
).
	ReadBy("subscriptions", operators, ofTenant("tenant")).
	ReadBy("invoices", operators, ofTenant("tenant")).
	ReadBy("credit_notes", operators, ofTenant("tenant"))

// A Subscription is a service that a customer pays for.
type Subscription struct {
	OrderID       uuid.UUID
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
	Version       int
}

const subscriptionColumns = `order_id, tenant, user_id, plan_id, plan_name, billing_period, price, currency, status,
	period_start, period_end, end_reason, created_at, updated_at, version`

// An Invoice is what a customer was billed.
type Invoice struct {
	Number          string // "INV-2026-000001"
	OrderID         uuid.UUID
	Tenant          int64
	Subject         uuid.UUID
	CustomerName    string
	CustomerEmail   string
	CustomerCompany string
	Line            string
	Total           decimal.Decimal
	Subtotal        decimal.Decimal
	Tax             decimal.Decimal
	TaxRate         decimal.Decimal
	Currency        string
	Status          string
	IssuedAt        time.Time
}

// A CreditNote is what a customer was given back of an invoice.
type CreditNote struct {
	Number   string // "CN-2026-000001"
	OrderID  uuid.UUID
	Tenant   int64
	Invoice  string
	Refund   string // the provider's id
	Total    decimal.Decimal
	Subtotal decimal.Decimal
	Tax      decimal.Decimal
	TaxRate  decimal.Decimal
	Currency string
	IssuedAt time.Time
}

const creditNoteColumns = `number, order_id, tenant, invoice, refund, total, subtotal, tax, tax_rate, currency, issued_at`

const invoiceColumns = `number, order_id, tenant, subject, customer_name, customer_email, customer_company, line,
	total, subtotal, tax, tax_rate, currency, status, issued_at`

// SubscriptionOfOrder returns the subscription that an order started, if it
// has come so far.
func (s OrderReader) SubscriptionOfOrder(ctx context.Context, order uuid.UUID) (Subscription, bool, error) {
	w := s.tenantOrAll("tenant")
	w.and("order_id = ?", order)
	return maybe(one[Subscription](ctx, s, "Subscription", `select `+subscriptionColumns+` from subscriptions`, w))
}

// InvoiceOfOrder returns the invoice of an order, if it has come so far.
func (s OrderReader) InvoiceOfOrder(ctx context.Context, order uuid.UUID) (Invoice, bool, error) {
	w := s.tenantOrAll("tenant")
	w.and("order_id = ?", order)
	return maybe(one[Invoice](ctx, s, "Invoice", `select `+invoiceColumns+` from invoices`, w))
}

// CreditNotesOfOrder lists what was credited of an order's invoice, oldest
// first.
func (s OrderReader) CreditNotesOfOrder(ctx context.Context, order uuid.UUID) ([]CreditNote, error) {
	w := s.tenantOrAll("tenant")
	w.and("order_id = ?", order)
	return list[CreditNote](ctx, s, `select `+creditNoteColumns+` from credit_notes`, w, ` order by issued_at, number`)
}

// Invoices lists what the caller's tenant was billed, newest first.
func (s OrderReader) Invoices(ctx context.Context, limit int) ([]Invoice, error) {
	w := s.tenant("tenant")
	return list[Invoice](ctx, s, `select `+invoiceColumns+` from invoices`, w, w.newest("issued_at", "number", limit))
}
