package projections

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// credit is what tenants have paid without a provider, and where that money is.
var credit = New("credit", `
	create table credit_balances (
		id         uuid    primary key,
		tenant     bigint  not null,
		currency   text    not null,
		test_money boolean not null, -- no real money
		balance    numeric not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		version    int     not null, -- of the stream of the balance
		constraint credit_balances_not_negative check (balance >= 0)
	);
	create index credit_balances_newest on credit_balances (created_at desc, id desc) include (tenant);
	create index credit_balances_tenant on credit_balances (tenant, created_at desc, id desc);

	create table credit_movements (
		id         uuid    primary key,
		tenant     bigint  not null,
		currency   text    not null,
		test_money boolean not null,
		kind       text    not null, -- booked, applied, returned, paid_out, reversed
		amount     numeric not null, -- below zero: it takes from the balance
		balance    numeric not null, -- after it
		invoice    uuid,             -- that it pays, or that gives back
		method     text    not null default '',
		reference  text    not null default '',
		reason     text    not null default '',
		received   timestamptz,      -- when a booked payment has arrived
		reversed   boolean not null default false, -- a booking that was taken back
		actor      text    not null,
		created_at timestamptz not null,
		version    int     not null  -- of the stream of the balance
	);
	create index credit_movements_newest on credit_movements (created_at desc, id desc) include (tenant);
	create index credit_movements_tenant on credit_movements (tenant, created_at desc, id desc);
	create index credit_movements_invoice on credit_movements (invoice) where invoice is not null`,

	movement(func(e billing.PaymentBooked) balanceChange {
		return balanceChange{
			e.CreditAccount, e.ID, "booked", e.Amount, e.Left, e.At,
			Row{{"method", e.Method}, {"reference", e.Reference}, {"received", e.Received}},
		}
	}),
	movement(func(e billing.CreditApplied) balanceChange {
		return balanceChange{e.CreditAccount, uuid.Nil, "applied", e.Amount.Neg(), e.Left, e.At, Row{{"invoice", e.Invoice}}}
	}),
	movement(func(e billing.CreditReturned) balanceChange {
		return balanceChange{
			e.CreditAccount, uuid.Nil, "returned", e.Amount, e.Left, e.At,
			Row{{"invoice", e.Invoice}, {"reason", e.Reason}},
		}
	}),
	movement(func(e billing.CreditPaidOut) balanceChange {
		return balanceChange{
			e.CreditAccount, uuid.Nil, "paid_out", e.Amount.Neg(), e.Left, e.At,
			Row{{"reference", e.Reference}, {"reason", e.Reason}},
		}
	}),
	movement(func(e billing.BookingReversed) balanceChange {
		return balanceChange{e.CreditAccount, uuid.Nil, "reversed", e.Amount.Neg(), e.Left, e.At, Row{{"reason", e.Reason}}}
	}),
	On(func(_ eventstore.RecordedEvent, e billing.BookingReversed) Change {
		return update("credit_movements", Row{{"id", e.Booking}}, Row{{"reversed", true}})
	}),
).
	ReadBy("credit_balances", operators, ofTenant("tenant")).
	ReadBy("credit_movements", operators, ofTenant("tenant"))

// A balanceChange is what an event tells of a movement.
type balanceChange struct {
	billing.CreditAccount
	id           uuid.UUID // zero: that of the event
	kind         string
	amount, left decimal.Decimal
	at           time.Time
	more         Row
}

// movement adds a movement to those of its balance, and sets what is left.
func movement[E domain.Event](of func(E) balanceChange) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		m := of(e)
		if m.id == uuid.Nil {
			m.id = at.ID
		}
		whose := Row{
			{"tenant", m.Tenant},
			{"currency", m.Currency},
			{"test_money", m.Test},
			{"balance", m.left.String()},
			{"created_at", m.at},
			{"version", at.Version},
		}
		row := slices.Concat(
			whose, Row{{"id", m.id}, {"kind", m.kind}, {"amount", m.amount.String()}, {"actor", at.Metadata.Actor}},
			m.more,
		)
		return insert("credit_movements", row).with(upsert("credit_balances", Row{{"id", CreditBalanceID(m.CreditAccount)}},
			append(whose, Column{"updated_at", m.at}),
			Row{{"balance", excluded("balance")}, {"updated_at", excluded("updated_at")}, {"version", excluded("version")}}))
	})
}

// CreditBalanceID is the id of the balance of an account. It follows from its stream.
func CreditBalanceID(a billing.CreditAccount) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(a.Stream().String()))
}

// A CreditBalance is what a tenant has left in a currency.
type CreditBalance struct {
	ID        uuid.UUID
	Tenant    int64
	Currency  string
	Test      bool // no real money
	Balance   decimal.Decimal
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int // of the stream of the balance
}

// Account is whose balance it is.
func (b CreditBalance) Account() billing.CreditAccount {
	return billing.CreditAccount{Tenant: b.Tenant, Currency: b.Currency, Test: b.Test}
}

// A CreditMovement is a change of a balance.
type CreditMovement struct {
	ID        uuid.UUID
	Tenant    int64
	Currency  string
	Test      bool
	Kind      string          // booked, applied, returned, paid_out, reversed
	Amount    decimal.Decimal // below zero: it takes from the balance
	Balance   decimal.Decimal // after it
	Invoice   *uuid.UUID
	Number    *string // of the invoice
	Method    string
	Reference string
	Reason    string
	Received  *time.Time // when a booked payment has arrived
	Reversed  bool
	Actor     string
	CreatedAt time.Time
	Version   int // of the stream of the balance
}

// Account is whose balance it moves.
func (m CreditMovement) Account() billing.CreditAccount {
	return billing.CreditAccount{Tenant: m.Tenant, Currency: m.Currency, Test: m.Test}
}

// CreditKinds are what a movement may be.
var CreditKinds = []string{"booked", "applied", "returned", "paid_out", "reversed"}

const (
	creditBalanceColumns  = `b.id, b.tenant, b.currency, b.test_money as test, b.balance, b.created_at, b.updated_at, b.version`
	creditMovementColumns = `m.id, m.tenant, m.currency, m.test_money as test, m.kind, m.amount, m.balance, m.invoice,
	(select i.number from invoices i where i.id = m.invoice) as number, m.method, m.reference, m.reason, m.received,
	m.reversed, m.actor, m.created_at, m.version`
)

var (
	creditBalancesBy = listRules{
		columns: creditBalanceColumns, from: "credit_balances b", id: "b.id", key: "id",
		fields: fieldsOf("b", "tenant", "currency"),
	}
	creditMovementsBy = listRules{
		columns: creditMovementColumns, from: "credit_movements m", id: "m.id", key: "id",
		fields: fieldsOf("m", "tenant", "currency", "test_money", "kind", "invoice"),
	}
)

// CreditBalances lists those of the caller's tenant; superusers without one see all.
func (s BillingReader) CreditBalances(ctx context.Context, l Listing) (Listed[CreditBalance], error) {
	return part[CreditBalance](ctx, s.db, creditBalancesBy, s.caller.tenant("b.tenant"), l)
}

// CreditBalance is one of the caller's tenant.
func (s BillingReader) CreditBalance(ctx context.Context, id uuid.UUID) (CreditBalance, error) {
	w := s.caller.tenantOrAll("b.tenant")
	w.and("b.id = ?", id)
	return one[CreditBalance](ctx, s.db, "Credit balance", `select `+creditBalanceColumns+` from credit_balances b`, w)
}

// CreditMovements lists those of the caller's tenant; superusers without one see all.
func (s BillingReader) CreditMovements(ctx context.Context, l Listing) (Listed[CreditMovement], error) {
	return part[CreditMovement](ctx, s.db, creditMovementsBy, s.caller.tenant("m.tenant"), l)
}

// CreditMovement is one of the caller's tenant.
func (s BillingReader) CreditMovement(ctx context.Context, id uuid.UUID) (CreditMovement, error) {
	w := s.caller.tenantOrAll("m.tenant")
	w.and("m.id = ?", id)
	return one[CreditMovement](ctx, s.db, "Credit movement", `select `+creditMovementColumns+` from credit_movements m`, w)
}

// OpenInvoices lists the open invoices that a balance pays, the oldest first.
func (s BillingReader) OpenInvoices(ctx context.Context, a billing.CreditAccount) (ids []uuid.UUID, err error) {
	type open struct{ ID uuid.UUID }
	w := s.caller.operators()
	w.and("i.tenant = ?", a.Tenant)
	w.and("i.currency = ?", a.Currency)
	w.and("i.number like 'TEST%' = ?", a.Test)
	rows, err := list[open](ctx, s.db, `select i.id from invoices i`, w, ` and i.status = 'open' order by i.created_at, i.number`)
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	return ids, err
}

var ordersBy = listRules{
	columns: orderColumns, from: "orders o", id: "o.id", search: "o.search",
	fields: with(
		fieldsOf("o", "order_number", "status", "total", "payment_method", "customer_email", "customer_name"), "plan",
		"o.plan_id",
	),
}

// OrdersListed lists orders to operators: by status, hold, payment_method, plan and the
// tenant whose service was set up; the number, the customer's address and name, and the domain are
// searched.
func (s OrderReader) OrdersListed(ctx context.Context, l Listing) (Listed[Order], error) {
	w, by := s.caller.operators(), ordersBy
	if len(l.Filters)+len(l.Search) == 0 {
		by.counted = &knownCount{`select coalesce(sum(placed), 0)::bigint from order_days` + w.String(), nil}
	}
	l.Filters = w.taking(l.Filters, "hold", "o.holds <> '{}' and o.holds @> array[?::text]")
	l.Filters = w.taking(l.Filters, "tenant", `o.id in (select order_id from subscriptions where tenant = ?
		union all select substring(r.requested_for from '^order:(.*)')::uuid from resources r where r.tenant = ?
			and r.requested_for like 'order:%')`)
	return part[Order](ctx, s.db, by, w, l)
}

// An OrderFile is an order with what came of it.
type OrderFile struct {
	Order
	Subscription *Subscription // nil: there is none yet
	Invoice      *Invoice      // likewise
	CreditNotes  []CreditNote  // what was credited of it, oldest first
	Resources    []Resource    // that were made for it, in whatever state
}

// OrderFile returns all of it in one round trip.
func (s OrderReader) OrderFile(ctx context.Context, id uuid.UUID) (OrderFile, error) {
	var orders []Order
	var subscriptions []Subscription
	var invoices []Invoice
	var f OrderFile
	err := s.db.ask(ctx, func(b *pgx.Batch) {
		w := s.caller.operators()
		w.and("id = ?", id)
		b.Queue(`select `+orderColumns+` from orders`+w.String(), w.args...).Query(filled(&orders))
		w = s.caller.operators()
		w.and("order_id = ?", id)
		b.Queue(`select `+subscriptionColumns+` from subscriptions s`+w.String(), w.args...).Query(filled(&subscriptions))
		b.Queue(`select `+invoiceColumns+` from invoices i`+w.String()+` order by i.created_at, i.id`, w.args...).Query(filled(&invoices))
		b.Queue(`select `+creditNoteColumns+` from credit_notes n`+w.String()+
			` order by created_at, number`, w.args...).Query(filled(&f.CreditNotes))
		w = s.caller.operators()
		w.ofOrder(id)
		b.Queue(`select `+resourceColumns+fromResources+w.String()+
			` order by r.created_at, r.kind, r.id`, w.args...).Query(filled(&f.Resources))
	})
	switch {
	case err != nil:
		return f, fmt.Errorf("read the file of order %s: %w", id, err)
	case len(orders) == 0:
		return f, domain.Refuse(domain.NotFound, "No Order matches the given query.")
	}
	f.Order = orders[0]
	if len(subscriptions) > 0 {
		f.Subscription = &subscriptions[0]
	}
	if len(invoices) > 0 {
		f.Invoice = &invoices[0]
	}
	return f, nil
}

// filled reads rows into a list.
func filled[T any](into *[]T) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
		return err
	}
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
