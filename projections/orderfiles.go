package projections

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

var ordersBy = listedBy{
	columns: orderColumns, from: "orders o", id: "o.id", search: "o.search",
	fields: with(fieldsOf("o", "order_number", "status", "total", "payment_method", "customer_email", "customer_name"), "plan", "o.plan_id"),
}

// OrdersListed lists orders to operators: by status, hold, payment_method, plan and the
// tenant whose service was set up; the number, the customer's address and name, and the domain are
// searched.
func (s OrderReader) OrdersListed(ctx context.Context, l Listing) (Listed[Order], error) {
	w, by := s.operators(), ordersBy
	if len(l.Filters)+len(l.Search) == 0 {
		by.counted = &known{`select coalesce(sum(placed), 0)::bigint from order_days` + w.String(), nil}
	}
	l.Filters = w.taking(l.Filters, "hold", "o.holds <> '{}' and o.holds @> array[?::text]")
	l.Filters = w.taking(l.Filters, "tenant", `(o.id in (select order_id from subscriptions where tenant = ?)
		or exists (select from resources r where r.requested_for = 'order:' || o.id and r.tenant = ?))`)
	return part[Order](ctx, s, by, w, l)
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
	err := s.ask(ctx, func(b *pgx.Batch) {
		w := s.operators()
		w.and("id = ?", id)
		b.Queue(`select `+orderColumns+` from orders`+w.String(), w.args...).Query(filled(&orders))
		w = s.operators()
		w.and("order_id = ?", id)
		b.Queue(`select `+subscriptionColumns+` from subscriptions s`+w.String(), w.args...).Query(filled(&subscriptions))
		b.Queue(`select `+invoiceColumns+` from invoices i`+w.String()+` order by i.created_at, i.id`, w.args...).Query(filled(&invoices))
		b.Queue(`select `+creditNoteColumns+` from credit_notes n`+w.String()+` order by created_at, number`, w.args...).Query(filled(&f.CreditNotes))
		w = s.operators()
		w.and("r.requested_for = ?", "order:"+id.String())
		b.Queue(`select `+resourceColumns+fromResources+w.String()+` order by r.created_at, r.kind, r.id`, w.args...).Query(filled(&f.Resources))
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

// An OrderDay is what happened to orders of one currency on one day.
type OrderDay struct {
	Day      time.Time
	Currency string
	Test     bool // no real money
	Placed   int64
	Paid     int64
	Active   int64
	Failed   int64
	Received int64 // minor units
	Returned int64 // minor units
}

// A Backlog is what needs a person, and what happened to orders.
type Backlog struct {
	Days      []OrderDay           // by day and currency
	Held      map[order.Hold]int64 // orders that a person has to look at, by reason
	Failed    int64                // orders whose setup has stopped
	Incidents int64                // that are open
}

// Backlog reads it for operators in one round trip, with all days since one.
func (s OperationsReader) Backlog(ctx context.Context, since time.Time) (found Backlog, err error) {
	type held struct {
		Hold   order.Hold
		Orders int64
	}
	var holds []held
	count := func(at *int64) func(pgx.Row) error { return func(r pgx.Row) error { return r.Scan(at) } }
	err = s.ask(ctx, func(b *pgx.Batch) {
		w := s.operators()
		w.and("day >= ?", since.UTC().Truncate(24*time.Hour))
		b.Queue(`select day, currency, test, placed, paid, active, failed, received, returned from order_days`+w.String()+` order by day, currency, test`, w.args...).Query(filled(&found.Days))
		w = s.operators()
		b.Queue(`select hold, count(*) as orders from (select unnest(holds) as hold from orders` + w.String() + ` and holds <> '{}') h group by hold`).Query(filled(&holds))
		b.Queue(`select count(*) from orders` + w.String() + ` and status = 'failed'`).QueryRow(count(&found.Failed))
		b.Queue(`select count(*) from incidents` + w.String() + ` and not is_settled`).QueryRow(count(&found.Incidents))
	})
	if err != nil {
		return found, fmt.Errorf("read what needs a person: %w", err)
	}
	found.Held = make(map[order.Hold]int64, len(holds))
	for _, h := range holds {
		found.Held[h.Hold] = h.Orders
	}
	return found, nil
}
