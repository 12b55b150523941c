package assembly_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// notes are the credit notes of an order: "CN-2026-000001 5.00 = 4.13 + 0.87".
func (w *world) notes(id uuid.UUID) (all []string) {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), billing.Credit{Invoice: id, Order: id}.Stream())
	w.must(err)
	for _, r := range history {
		if n, is := r.Event.(billing.CreditNoteIssued); is {
			all = append(all, n.Total.StringFixed(2)+" = "+n.Subtotal.StringFixed(2)+" + "+n.Tax.StringFixed(2))
		}
	}
	return all
}

func (p *fakePayments) give(id uuid.UUID, refund string, minor int64) {
	p.change(id, func(f *order.Payment) {
		f.Refunds = append(f.Refunds, order.Refund{ID: refund, State: order.RefundSucceeded, Minor: minor, Currency: f.Currency, At: time.Now()})
	})
}

func TestCreditNotesAddUpToTheInvoice(t *testing.T) { // M-9, T22
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{kind: "saas"})
	w.becomes(id, order.StatusActive)
	for i, part := range []struct {
		minor int64
		notes string
	}{
		{333, "3.33 = 2.75 + 0.58"},
		{333, "3.33 = 2.75 + 0.58; 3.33 = 2.75 + 0.58"},
		{544, "3.33 = 2.75 + 0.58; 3.33 = 2.75 + 0.58; 5.44 = 4.50 + 0.94"},
	} {
		w.pay.give(id, "re_"+string(rune('a'+i)), part.minor)
		for range 2 { // once, however often it is told
			w.must(w.Payments.Hint(t.Context(), id, "refund"))
		}
		w.eventually("the credit note is written", func() bool { return strings.Join(w.notes(id), "; ") == part.notes })
	}
	w.becomes(id, order.StatusRefunded)
	invoice, _, err := eventstore.Fold(t.Context(), w.store, billing.Invoices, billing.Credit{Invoice: id, Order: id}.Stream())
	w.must(err)
	w.equal("credited", invoice.Credited.Total.Equal(invoice.Total), true)
}

func TestWhatWentBackBeforeTheInvoiceIsCreditedWithIt(t *testing.T) { // M-9
	t.Parallel()
	w := newWorld(t)
	w.pauses(w.Reconciler.ComputeQueue())
	w.goes()
	id := w.buy(ordering{kind: "vps"})
	w.standsAt(id, "vm")
	w.pay.give(id, "re_early", 210)
	w.must(w.Payments.Hint(t.Context(), id, "refund"))
	w.eventually("it is known", func() bool { return len(w.order(id).Refunds) == 1 })
	w.equal("credit notes without an invoice", len(w.notes(id)), 0)
	w.goesOn()
	w.becomes(id, order.StatusActive)
	w.eventually("the credit note is written", func() bool { return strings.Join(w.notes(id), "; ") == "2.10 = 1.74 + 0.36" })
}

func TestALostDisputeIsCredited(t *testing.T) { // T23
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{kind: "saas"})
	w.becomes(id, order.StatusActive)
	w.pay.dispute(id, order.DisputeLost)
	w.must(w.Payments.Hint(t.Context(), id, "dispute"))
	w.becomes(id, order.StatusRefunded)
	w.eventually("the credit note is written", func() bool { return strings.Join(w.notes(id), "; ") == "12.10 = 10.00 + 2.10" })
}
