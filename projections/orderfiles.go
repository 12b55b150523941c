package projections

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
)

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
