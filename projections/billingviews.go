package projections

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
)

// A BillingReader reads subscriptions, services, invoices, payment methods and credit.
type BillingReader Scope

// Billing returns the reader of billing.
func (s Scope) Billing() BillingReader { return BillingReader(s) }

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
	PeriodEnd     time.Time  // the first moment that is not paid for
	DueAt         *time.Time // of the invoice that is not paid yet
	SuspendedAt   *time.Time
	SavedMethod   *uuid.UUID // that renewals are charged by; nil: none
	NextAt        *time.Time // when it goes on by itself; nil: it has ended
	EndReason     string
	PlanChange
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int // of the subscription's stream
}

// A PlanChange was asked for and does not count yet; all is nil if there is none.
type PlanChange struct {
	ChangePlanID   *int64
	ChangePlanName *string
	ChangePeriod   *string
	ChangePrice    *decimal.Decimal // of one period
	ChangeInvoice  *uuid.UUID       // that has to be paid for it; nil: it waits for the end of the period
	ChangeAt       *time.Time       // from when it counts, or until when its invoice has to be paid
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
	Status          billing.InvoiceStatus
	AmountDue       decimal.Decimal // what has yet to be paid
	DueAt           *time.Time      // nil: it was paid before
	PaidAt          *time.Time      // nil: likewise, or it is not paid
	PaymentMethod   string          // by which it was paid
	Reference       string          // of that payment
	CreatedAt       time.Time       // the moment of issue
	UpdatedAt       time.Time
	Version         int // of the invoice's stream
	Buyer
	tax.Treatment
}

// AmountPaid is what was paid of the invoice. Of a withdrawn one all has gone back to the
// credit balance.
func (i Invoice) AmountPaid() decimal.Decimal {
	if i.Status == billing.Withdrawn {
		return decimal.Zero
	}
	return i.Total.Sub(i.AmountDue)
}

// A CreditNote is what a customer was given back of an invoice.
type CreditNote struct {
	ID        uuid.UUID
	Number    string // "CN-2026-000001"
	OrderID   uuid.UUID
	Tenant    int64
	InvoiceID uuid.UUID
	Invoice   string // its number
	Refund    string // the provider's id
	Total     decimal.Decimal
	Subtotal  decimal.Decimal
	Tax       decimal.Decimal
	TaxRate   decimal.Decimal
	Currency  string
	CreatedAt time.Time // the moment of issue
	UpdatedAt time.Time
	tax.Treatment
}

// A PaymentMethod is kept by its provider, to be charged for renewals.
type PaymentMethod struct {
	ID        uuid.UUID
	Tenant    int64
	Subject   uuid.UUID // the person who agreed
	Provider  string
	Kind      string // such as card
	Brand     string
	Last4     string
	Expires   string     // "2029-03"
	OrderID   *uuid.UUID // with which the person agreed; nil: with a setup
	SetupID   *uuid.UUID // by which it was added without a payment
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int
}

const paymentMethodColumns = `m.id, m.tenant, m.subject, m.provider, m.kind, m.brand, m.last4, m.expires, m.order_id,
	m.setup_id, m.created_at, m.updated_at, m.version`

const subscriptionColumns = `s.order_id, s.tenant, s.user_id, s.plan_id, s.plan_name, s.billing_period, s.price, s.currency, s.status,
	s.period_start, s.period_end, s.due_at, s.suspended_at, s.saved_method, s.next_at, s.end_reason,
	s.change_plan_id, s.change_plan_name, s.change_period, s.change_price, s.change_invoice, s.change_at, s.created_at,
	s.updated_at, s.version`

const invoiceColumns = `i.id, i.number, i.order_id, i.tenant, i.subject, i.customer_name, i.customer_email,
	i.customer_company, ` + buyerColumns + `, i.seller, i.lines,
	i.total, i.subtotal, i.tax, i.tax_rate, ` + taxColumnNames + `, i.currency, i.status, i.amount_due,
	i.due_at, i.paid_at, i.payment_method, i.reference, i.created_at, i.updated_at, i.version`

const creditNoteColumns = `n.id, n.number, n.order_id, n.tenant, n.invoice_id, n.invoice, n.refund, n.total, n.subtotal,
	n.tax, n.tax_rate, ` + taxColumnNames + `, n.currency, n.created_at, n.updated_at`

var (
	subscriptionsBy = listRules{
		columns: subscriptionColumns, from: "subscriptions s", id: "s.order_id", key: "order_id",
		fields: with(fieldsOf("s", "status", "tenant", "billing_period", "period_end", "due_at"), "id", "s.order_id"),
	}
	invoicesBy = listRules{
		columns: invoiceColumns, from: "invoices i", id: "i.id", key: "id",
		search: `lower(concat_ws(chr(10), i.number, i.customer_name, i.customer_company, i.customer_email))`,
		fields: with(fieldsOf("i", "status", "tenant", "number", "total", "due_at"), "order", "i.order_id"),
	}
	paymentMethodsBy = listRules{
		columns: paymentMethodColumns, from: "payment_methods m", id: "m.id", key: "id",
		fields: with(fieldsOf("m", "tenant", "provider"), "order", "m.order_id", "setup", "m.setup_id"),
	}
	creditNotesBy = listRules{
		columns: creditNoteColumns, from: "credit_notes n", id: "n.id", key: "id",
		fields: with(fieldsOf("n", "tenant", "number", "total", "invoice"), "order", "n.order_id"),
	}
)

// Subscriptions lists those of the caller's active tenant; superusers without one see all.
func (s BillingReader) Subscriptions(ctx context.Context, l Listing) (Listed[Subscription], error) {
	return part[Subscription](ctx, s.db, subscriptionsBy, s.caller.tenant("s.tenant"), l)
}

// Invoices lists what the caller's tenant was billed; superusers without one see all.
func (s BillingReader) Invoices(ctx context.Context, l Listing) (Listed[Invoice], error) {
	return part[Invoice](ctx, s.db, invoicesBy, s.caller.tenant("i.tenant"), l)
}

// CreditNotes lists what was credited to the caller's tenant; superusers without one see
// all.
func (s BillingReader) CreditNotes(ctx context.Context, l Listing) (Listed[CreditNote], error) {
	return part[CreditNote](ctx, s.db, creditNotesBy, s.caller.tenant("n.tenant"), l)
}

// Subscription is one of the caller's tenant, by the order that started it.
func (s BillingReader) Subscription(ctx context.Context, order uuid.UUID) (Subscription, error) {
	w := s.caller.tenantOrAll("s.tenant")
	w.and("s.order_id = ?", order)
	return one[Subscription](ctx, s.db, "Subscription", `select `+subscriptionColumns+` from subscriptions s`, w)
}

// SubscriptionOfOrder returns the subscription that an order started, if it has come so
// far.
func (s BillingReader) SubscriptionOfOrder(ctx context.Context, order uuid.UUID) (Subscription, bool, error) {
	return maybe(s.Subscription(ctx, order))
}

// Invoice is one of the caller's tenant.
func (s BillingReader) Invoice(ctx context.Context, id uuid.UUID) (Invoice, error) {
	w := s.caller.tenantOrAll("i.tenant")
	w.and("i.id = ?", id)
	return one[Invoice](ctx, s.db, "Invoice", `select `+invoiceColumns+` from invoices i`, w)
}

// InvoiceOfOrder returns the first invoice of an order, if it has come so far.
func (s BillingReader) InvoiceOfOrder(ctx context.Context, order uuid.UUID) (Invoice, bool, error) {
	return maybe(s.Invoice(ctx, order))
}

// LastInvoice is the newest invoice of the subscription that an order started.
func (s BillingReader) LastInvoice(ctx context.Context, order uuid.UUID) (Invoice, error) {
	w := s.caller.tenantOrAll("i.tenant")
	w.and("i.order_id = ?", order)
	found, err := list[Invoice](ctx, s.db, `select `+invoiceColumns+` from invoices i`, w, w.newest("i.created_at", "i.id", 1))
	if err != nil || len(found) == 0 {
		return Invoice{}, cmp.Or(err, domain.Refuse(domain.NotFound, "No Invoice matches the given query."))
	}
	return found[0], nil
}

// notRemoved keeps out saved payment methods that can be charged no more.
const notRemoved = `m.removed_at is null`

// PaymentMethods lists the saved payment methods of the caller's tenant; superusers without
// one see all.
func (s BillingReader) PaymentMethods(ctx context.Context, l Listing) (Listed[PaymentMethod], error) {
	w := s.caller.tenant("m.tenant")
	w.conditions = append(w.conditions, notRemoved)
	return part[PaymentMethod](ctx, s.db, paymentMethodsBy, w, l)
}

// PaymentMethod is one of the caller's tenant that can be charged.
func (s BillingReader) PaymentMethod(ctx context.Context, id uuid.UUID) (PaymentMethod, error) {
	w := s.caller.tenantOrAll("m.tenant")
	w.conditions = append(w.conditions, notRemoved)
	w.and("m.id = ?", id)
	return one[PaymentMethod](ctx, s.db, "PaymentMethod", `select `+paymentMethodColumns+` from payment_methods m`, w)
}

// PaymentMethodsOf lists the saved payment methods of people; tenant 0: of all tenants.
func (s BillingReader) PaymentMethodsOf(ctx context.Context, tenant int64, subjects ...uuid.UUID) ([]PaymentMethod, error) {
	w := s.caller.operators()
	w.conditions = append(w.conditions, notRemoved)
	w.and("m.subject = any(?)", subjects)
	given(w, "m.tenant = ?", tenant)
	return list[PaymentMethod](ctx, s.db, `select `+paymentMethodColumns+` from payment_methods m`, w, ` order by m.created_at, m.id`)
}

// ChargedBy lists the subscriptions whose renewals are charged by a saved payment method.
func (s BillingReader) ChargedBy(ctx context.Context, method uuid.UUID) ([]Subscription, error) {
	w := s.caller.operators()
	w.and("s.saved_method = ?", method)
	return list[Subscription](ctx, s.db, `select `+subscriptionColumns+` from subscriptions s`, w, ` order by s.order_id`)
}

// DueSubscriptions is a query of the subscriptions whose next step is due, for a queue of
// tasks.
func DueSubscriptions(now time.Time) (sql string, args []any) {
	return `select order_id::text as key, next_at as since from subscriptions where next_at <= $1`, []any{now}
}

// DueDocuments is a query of the documents that are not stored yet, the oldest of invoices and
// of credit notes, for a queue of tasks. A key is invoice and number, and the id of the credit
// note whose document it is.
func DueDocuments() (sql string, args []any) {
	const oldest = ` where documented_at is null order by created_at, number limit 500)`
	return `(select concat_ws(' ', id, number) as key, created_at as since from invoices` + oldest + `
		union all (select concat_ws(' ', invoice_id, number, id), created_at from credit_notes` + oldest, nil
}

// CreditNote is one of the caller's tenant.
func (s BillingReader) CreditNote(ctx context.Context, id uuid.UUID) (CreditNote, error) {
	w := s.caller.tenantOrAll("n.tenant")
	w.and("n.id = ?", id)
	return one[CreditNote](ctx, s.db, "CreditNote", `select `+creditNoteColumns+` from credit_notes n`, w)
}

// CreditNotesOfInvoice lists what was credited of an invoice, oldest first.
func (s BillingReader) CreditNotesOfInvoice(ctx context.Context, invoice uuid.UUID) ([]CreditNote, error) {
	w := s.caller.tenantOrAll("n.tenant")
	w.and("n.invoice_id = ?", invoice)
	return list[CreditNote](ctx, s.db, `select `+creditNoteColumns+` from credit_notes n`, w, ` order by n.created_at, n.number`)
}

// CreditNotesOfOrder lists what was credited of the invoices of an order, oldest first.
func (s BillingReader) CreditNotesOfOrder(ctx context.Context, order uuid.UUID) ([]CreditNote, error) {
	w := s.caller.tenantOrAll("n.tenant")
	w.and("n.order_id = ?", order)
	return list[CreditNote](ctx, s.db, `select `+creditNoteColumns+` from credit_notes n`, w, ` order by n.created_at, n.number`)
}

// An InvoiceTotal is what was billed in one month, in one currency.
type InvoiceTotal struct {
	Month    time.Time // its first day, in UTC
	Currency string
	Test     bool // no real money
	Invoices int64
	Total    decimal.Decimal
	Tax      decimal.Decimal // of Total
	Unpaid   decimal.Decimal // of Total
	Credited decimal.Decimal // by credit notes of that month, whatever the month of the invoice
	Received decimal.Decimal // booked in that month without a provider, less what was reversed in it
	PaidOut  decimal.Decimal // of credit, in that month
}

// InvoiceTotals adds up invoices, credit notes and booked payments by month, the latest
// first.
func (s BillingReader) InvoiceTotals(ctx context.Context) ([]InvoiceTotal, error) {
	const month = `select date_trunc('month', created_at at time zone 'UTC') at time zone 'UTC' as month, currency, `
	const of = month + `number like 'TEST%' as test, `
	w := s.caller.operators()
	return list[InvoiceTotal](ctx, s.db, `
		select month, currency, test, sum(invoices) as invoices, sum(total) as total, sum(tax) as tax,
			sum(unpaid) as unpaid, sum(credited) as credited, sum(received) as received, sum(paid_out) as paid_out from (
			`+of+`1 as invoices, total, tax, amount_due as unpaid, 0 as credited, 0 as received, 0 as paid_out from invoices`+w.String()+`
			union all `+of+`0, 0, 0, 0, total, 0, 0 from credit_notes`+w.String()+`
			union all `+month+`test_money, 0, 0, 0, 0, 0, case when kind = 'paid_out' then 0 else amount end,
				case when kind = 'paid_out' then -amount else 0 end
				from credit_movements`+w.String()+` and kind in ('booked', 'reversed', 'paid_out')) documents`, w, `
		group by month, currency, test order by month desc, currency, test`)
}

// Account is the balance that pays the invoice.
func (i Invoice) Account() billing.CreditAccount {
	return billing.CreditAccount{Tenant: i.Tenant, Currency: i.Currency, Test: billing.IsTest(i.Number)}
}

// A BookDocument is an invoice, a credit note or a payment without a provider, as an
// operator's books have it.
type BookDocument struct {
	Kind            string // invoice, credit_note, payment, payment_reversed, payout
	Number          string
	OfInvoice       string     // the number of the invoice that is credited; "": it is none
	OrderID         *uuid.UUID // nil: it is a payment
	Tenant          int64
	CustomerName    string
	CustomerCompany string
	CustomerCountry string
	CustomerTaxID   string
	Status          string // of an invoice
	DueAt           *time.Time
	PaidAt          *time.Time
	PaymentMethod   string
	Reference       string
	Subtotal        decimal.Decimal
	TaxRate         decimal.Decimal
	Tax             decimal.Decimal
	Total           decimal.Decimal
	Currency        string
	CreatedAt       time.Time
}

// Booked lists the invoices and credit notes that were issued in a time, and the payments
// that were booked in it, the earliest first.
func (s BillingReader) Booked(ctx context.Context, from, until time.Time) ([]BookDocument, error) {
	w := s.caller.operators()
	w.and("created_at >= ?", from)
	w.and("created_at < ?", until)
	return list[BookDocument](ctx, s.db, `
		with noted as (select number, invoice, invoice_id, order_id, tenant, subtotal, tax_rate, tax, total, currency,
			created_at from credit_notes`+w.String()+`)
		select * from (select 'invoice' as kind, number, '' as of_invoice, order_id, tenant, customer_name,
			customer_company, customer_country, customer_tax_id, status, due_at, paid_at, payment_method, reference,
			subtotal, tax_rate, tax, total, currency, created_at from invoices`+w.String()+`
		union all select 'credit_note', n.number, n.invoice, n.order_id, n.tenant, i.customer_name, i.customer_company,
			i.customer_country, i.customer_tax_id, '', null, null, '', '', n.subtotal, n.tax_rate, n.tax, n.total,
			n.currency, n.created_at from noted n join invoices i on i.id = n.invoice_id
		union all select case kind when 'booked' then 'payment' when 'reversed' then 'payment_reversed' else 'payout' end,
			'', '', null, tenant, '', '', '', '', '', null, received, method, reference, 0, 0, 0, amount, currency,
			created_at from credit_movements`+w.String()+`
			and kind in ('booked', 'reversed', 'paid_out')) booked`, w, ` order by created_at, number`)
}
