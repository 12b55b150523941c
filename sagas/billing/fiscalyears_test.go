package billing_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/eventstore"
	"hostpanel/sagas/sagastest"
)

// forgets checks that neither the documents of an invoice nor its event tell the buyer.
func forgets(w *sagastest.World, invoice uuid.UUID) {
	w.T.Helper()
	fresh := w.Node(w.URL(), plainly) // which remembers no key
	history, err := fresh.Store.Read(w.T.Context(), billing.Issue{Order: invoice}.Stream())
	w.Must(err)
	issued := history[0].Event.(billing.InvoiceIssued) //nolint:forcetypeassert // the first event of an invoice
	w.Equal("buyer", issued.Name+issued.Country, "")
	w.Equal("texts that are said to be erased", len(history[0].Erased) > 0, true)
	for _, number := range documentsOf(history) {
		if clear, err := fresh.Billing.Document(w.T.Context(), invoice, number, "pdf"); !errors.Is(err, billing.ErrDocumentErased) {
			w.T.Errorf("%s: %s %v", number, clear, err)
		}
	}
}

func documentsOf(history []eventstore.RecordedEvent) (numbers []string) {
	for _, r := range history {
		if made, is := r.Event.(billing.DocumentMade); is {
			numbers = append(numbers, made.Number)
		}
	}
	return numbers
}

// The keys are destroyed by a process itself, once the clock says so.
func TestAYearEndsByItself(t *testing.T) {
	t.Parallel()
	w := sagastest.RenewalsOn(sagastest.NewWorldWithClock(t, plainly))
	id, year := issuedTo(w.World, buyer.Details{Country: "ES"}), w.Runner.Now().UTC().Year()
	w.Eventually("its documents are stored", func() bool {
		return w.Count(`select count(*) from invoice_documents where invoice = $1`, id) == 6
	})
	w.Must(w.Store.Clock().Advance(t.Context(), time.Date(year+11, 1, 1, 0, 0, 1, 0, time.UTC).Sub(w.Runner.Now())))
	w.Eventually("no key of the year is left", func() bool {
		return w.Count(`select count(*) from subject_keys where year = $1 and wrapped <> ''`, year) == 0
	})
	forgets(w.World, id)
}
