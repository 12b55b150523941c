package sagastest

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/order"
)

// Refunded waits until all payments of an order are refunded.
func (w *World) Refunded(id fmt.Stringer) {
	w.T.Helper()
	o := MustParse(id)
	w.Eventually("the refund is asked for", func() bool { return len(w.Order(o).Asked) > 0 })
	GivesBack(w, o)
	w.Becomes(o, order.StatusRefunded)
}

// Back asks for a refund: of all, if the amount is empty.
func (w *World) Back(id uuid.UUID, amount string) error {
	w.T.Helper()
	if amount == "" {
		return w.Payments.Refund(w.T.Context(), Operator, id, nil, "goodwill")
	}
	exact := decimal.RequireFromString(amount)
	return w.Payments.Refund(w.T.Context(), Operator, id, &exact, "goodwill")
}

// GivesBack makes the refunds that the order has asked for, and hints at them as a webhook would.
func GivesBack(w *World, id uuid.UUID) {
	w.T.Helper()
	for _, a := range w.Order(id).Open() {
		_, err := w.Pay.Refund(w.T.Context(), order.RefundCall{
			Order: id, Session: SessionOf(id), Payment: a.Payment, Reference: a.Reference(id), Key: a.Reference(id),
			Minor: a.Minor, Currency: a.Currency,
		})
		w.Must(err)
	}
	w.Must(w.Payments.Hint(w.T.Context(), id, "refund"))
}

// Reference is what a refund is found by at the provider.
func Reference(id uuid.UUID, n int) string { return fmt.Sprintf("order/%s/refund/%d", id, n) }

// Balance checks how much of an order's money we still have.
func Balance(w *World, id uuid.UUID, net int64) {
	w.T.Helper()
	w.Equal("net", w.Order(id).Net()["EUR"], net)
}
