package payments

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// creditNotes are written for money that has gone back.
type creditNotes struct {
	store *eventstore.Store
	now   func() time.Time
}

// write writes a credit note for each refund and each lost dispute of
// the payment that an order runs on, as soon as there is an invoice. It is
// idempotent: it depends on the order's state alone (rule M-9).
func (s creditNotes) write(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(id))
	commands := s.due(o)
	if err != nil || len(commands) == 0 {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("credit")), Actor: "system:reactions"}
	_, err = s.store.Execute(ctx, cause, commands...)
	return err
}

// A loss is money that has gone back: by a refund, or by a lost dispute.
type loss struct {
	id    string
	minor int64
	at    time.Time
}

// due are the credit notes that an order is to have. The last one
// credits the rest of the invoice. A payment in another currency, which an
// operator has accepted, can only be credited as a whole.
func (s creditNotes) due(o order.Order) (commands []domain.Command) {
	paid := o.Payments[o.Confirmed]
	all := o.Returned(paid.ID) >= paid.Minor
	list := losses(o)
	for i, g := range list {
		last := all && i == len(list)-1
		if last || strings.EqualFold(paid.Currency, o.Currency) {
			commands = append(
				commands,
				billing.Credit{
					Invoice: invoiceOf(o), Order: o.ID, Refund: g.id, Amount: money.Major(g.minor, o.Currency),
					Rest: last, At: s.now(),
				},
			)
		}
	}
	return commands
}

// invoiceOf is the invoice that an order has paid: its own first one has its id.
func invoiceOf(o order.Order) uuid.UUID {
	if o.PaysInvoice() {
		return o.Invoice
	}
	return o.ID
}

// losses is what has gone back of the payment that an order runs on, oldest
// first.
func losses(o order.Order) (list []loss) {
	for _, r := range o.Refunds {
		if r.Payment == o.Confirmed && r.State == order.RefundSucceeded {
			list = append(list, loss{r.ID, r.Minor, r.At})
		}
	}
	for _, d := range o.Disputes {
		if d.Payment == o.Confirmed && d.State == order.DisputeLost {
			list = append(list, loss{d.ID, d.Minor, d.At})
		}
	}
	slices.SortFunc(list, func(a, b loss) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
	return list
}
