package assembly

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// reactToMoney is the reaction of payments to an event of the log.
func (s *Panel) reactToMoney(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case order.Placed:
		return s.watchPending(ctx, e.Order, e.Provider, e.At)
	case order.RefundCompleted, order.PartiallyRefunded, order.DisputeClosed, billing.InvoiceIssued:
		return s.credit(ctx, r)
	}
	return nil
}

// credit writes a credit note for every refund and every lost dispute of the
// payment that an order runs on, as soon as there is an invoice. It goes by how
// things are, so it may be asked any number of times (rule M-9).
func (s *Panel) credit(ctx context.Context, r eventstore.RecordedEvent) error {
	id := uuid.MustParse(r.Stream.ID)
	o, _, err := eventstore.Fold(ctx, s.store, order.Decider, order.Stream(id))
	commands := s.credits(o)
	if err != nil || len(commands) == 0 {
		return err
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(r.ID, []byte("credit")), Actor: "system:reactions", Correlation: id, Causation: r.ID}
	_, err = s.store.Execute(ctx, cause, commands...)
	return err
}

// A loss is money that has left us: a refund, or a dispute that was lost.
type loss struct {
	id    string
	minor int64
	at    time.Time
}

// credits are the credit notes that an order is to have. With the last one all
// of the invoice is credited; of money in another currency, which an operator
// has accepted, only all of it can be.
func (s *Panel) credits(o order.Order) (commands []domain.Command) {
	paid := o.Payments[o.Confirmed]
	all := o.Returned(paid.ID) >= paid.Minor
	list := losses(o)
	for i, g := range list {
		last := all && i == len(list)-1
		if last || strings.EqualFold(paid.Currency, o.Currency) {
			commands = append(commands, billing.Credit{Order: o.ID, Refund: g.id, Amount: money.Major(g.minor, o.Currency), Rest: last, At: s.Now()})
		}
	}
	return commands
}

// losses is what has gone of the payment that an order runs on, in turn.
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
