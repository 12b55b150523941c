package payments_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas/sagastest"
)

// notes are the credit notes of an order: "CN-2026-000001 5.00 = 4.13 + 0.87".
func notes(w *sagastest.World, id uuid.UUID) (all []string) {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), billing.Credit{Invoice: id, Order: id}.Stream())
	w.Must(err)
	for _, r := range history {
		if n, is := r.Event.(billing.CreditNoteIssued); is {
			all = append(all, n.Total.StringFixed(2)+" = "+n.Subtotal.StringFixed(2)+" + "+n.Tax.StringFixed(2))
		}
	}
	return all
}

func TestCreditNotesAddUpToTheInvoice(t *testing.T) { // M-9, T22
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "saas"})
	w.Becomes(id, order.StatusActive)
	for i, part := range []struct {
		minor int64
		notes string
	}{
		{333, "3.33 = 2.75 + 0.58"},
		{333, "3.33 = 2.75 + 0.58; 3.33 = 2.75 + 0.58"},
		{544, "3.33 = 2.75 + 0.58; 3.33 = 2.75 + 0.58; 5.44 = 4.50 + 0.94"},
	} {
		w.Pay.Give(id, "re_"+string(rune('a'+i)), part.minor)
		for range 2 { // once, however often it is told
			w.Must(w.Payments.Hint(t.Context(), id, "refund"))
		}
		w.Eventually("the credit note is written", func() bool { return strings.Join(notes(w, id), "; ") == part.notes })
	}
	w.Becomes(id, order.StatusRefunded)
	invoice, _, err := eventstore.Fold(t.Context(), w.Store, billing.Invoices, billing.Credit{Invoice: id, Order: id}.Stream())
	w.Must(err)
	w.Equal("credited", invoice.Credited.Total.Equal(invoice.Total), true)
}

func TestALostDisputeIsCredited(t *testing.T) { // T23
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "saas"})
	w.Becomes(id, order.StatusActive)
	w.Pay.Dispute(id, order.DisputeLost)
	w.Must(w.Payments.Hint(t.Context(), id, "dispute"))
	w.Becomes(id, order.StatusRefunded)
	w.Eventually("the credit note is written", func() bool { return strings.Join(notes(w, id), "; ") == "12.10 = 10.00 + 2.10" })
}
