package projections

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
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

// Tag changes with the balance.
func (b *CreditBalance) Tag() string { return Tag(billing.CreditCategory, b.ID.String(), b.Version) }

// Fields are the balance.
func (b *CreditBalance) Fields() field.Set {
	return field.Set{
		field.UUID("id", &b.ID).ReadOnly(),
		field.Int("tenant", &b.Tenant).ReadOnly(),
		field.Text("currency", &b.Currency).ReadOnly(),
		field.Flag("test_money", &b.Test).ReadOnly().Doc("Whether no real money is meant."),
		field.Amount("balance", &b.Balance, 16, 2).ReadOnly().Doc("What is left. The next invoice is paid from it.").In(&b.Currency),
		field.Time("created_at", &b.CreatedAt).ReadOnly(),
		field.Time("updated_at", &b.UpdatedAt).ReadOnly(),
	}
}

// Tag changes with the movement: a booking may be reversed once.
func (m *CreditMovement) Tag() string {
	version := 1
	if m.Reversed {
		version = 2
	}
	return Tag("credit-movement", m.ID.String(), version)
}

// Fields are the movement.
func (m *CreditMovement) Fields() field.Set {
	return field.Set{
		field.UUID("id", &m.ID).ReadOnly(),
		field.Int("tenant", &m.Tenant).ReadOnly(),
		field.Text("currency", &m.Currency).ReadOnly(),
		field.Flag("test_money", &m.Test).ReadOnly().Doc("Whether no real money is meant."),
		field.Text("kind", &m.Kind).Among(CreditKinds...).ReadOnly().Worded("credit_").
			Doc(
				"booked: a payment has arrived. applied: an invoice is paid. returned: an invoice has given it back. " +
					"paid_out: it was paid back. reversed: a booking was wrong.",
			),
		field.Amount("amount", &m.Amount, 16, 2).ReadOnly().Doc("Below zero: it takes from the balance.").In(&m.Currency),
		field.Amount("balance", &m.Balance, 16, 2).ReadOnly().Doc("After it.").In(&m.Currency).Labelled("credit_after"),
		field.NullUUID("invoice", &m.Invoice).ReadOnly().Doc("That is paid, or has given it back; null: none."),
		field.Text("payment_method", &m.Method).ReadOnly().Doc("Of a booked payment; blank: it is none."),
		field.Text("reference", &m.Reference).ReadOnly(),
		field.Text("reason", &m.Reason).ReadOnly(),
		field.NullTime("received_at", &m.Received).ReadOnly().Doc("The day on which a booked payment has arrived; null: it is none."),
		field.Flag("reversed", &m.Reversed).ReadOnly().Doc("Whether the booking was taken back."),
		field.Text("actor", &m.Actor).ReadOnly().Doc("Who has caused it, such as user:12 or system:billing."),
		field.Time("created_at", &m.CreatedAt).ReadOnly(),
	}
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
