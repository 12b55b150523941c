package payments

import (
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// errBooked means that a payment, a refund or a dispute is booked for another
// order.
var errBooked = errors.New("it belongs to another order")

// bookings tie each payment, refund and dispute, by the provider's id, to one
// order for ever (rule I-14).
func bookings(truth order.Fetched, id uuid.UUID) (rows []eventstore.TxStatement) {
	for _, p := range truth.Payments {
		if p.State != order.StatePaid {
			continue
		}
		rows = append(rows, booking(truth.Provider, p.ID, "payment", id))
		for _, r := range p.Refunds {
			rows = append(rows, booking(truth.Provider, r.ID, "refund", id))
		}
		for _, d := range p.Disputes {
			rows = append(rows, booking(truth.Provider, d.ID, "dispute", id))
		}
	}
	return rows
}

func booking(provider, object, kind string, id uuid.UUID) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: "payment_object/" + provider + "/" + object,
		SQL: `insert into payment_object (provider, object_id, kind, order_id) values ($1, $2, $3, $4)
			on conflict (provider, object_id) do update set kind = excluded.kind where payment_object.order_id = excluded.order_id`,
		Args: []any{provider, object, kind, id}, WantRows: 1, ErrIfNot: errBooked,
	}
}
