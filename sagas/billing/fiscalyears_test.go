package billing_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// A person buys in two years and is erased. Ten years after the end of each year its
// invoices lose their buyer, and the later one stands until then.
func TestBuyersAreForgottenWithTheYearOfIssue(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorldWithClock(t, plainly)
	ctx, ana, first := t.Context(), uuid.New(), w.Runner.Now().UTC().Year()
	until := func(year int) {
		w.Must(w.Store.Clock().Advance(ctx, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Sub(w.Runner.Now())+time.Second))
	}
	earlier := issuedFor(w, ana, buyer.Details{Country: "ES"})
	until(first + 1)
	later := issuedFor(w, ana, buyer.Details{Country: "ES"})
	_, err := w.Billing.MakeDocuments(ctx)
	w.Must(err)
	_, err = w.Store.ExecuteWith(ctx, sagastest.Cause(), eventstore.EraseRows(ana), account.EraseSubject{Subject: ana, At: w.Runner.Now()})
	w.Must(err)
	until(first + 10)
	years, err := w.Billing.DestroyFiscalKeys(ctx)
	w.Must(err)
	w.Equal("years that are due too early", years, 0)
	holdsDocuments(w, []uuid.UUID{earlier, later}, 3)

	until(first + 11)
	stopped, stop := context.WithCancel(ctx)
	stop()
	years, _ = w.Billing.DestroyFiscalKeys(stopped)
	w.Equal("years of a process that was stopped", years, 0)
	var all sync.WaitGroup
	var done atomic.Int32
	for range 10 {
		all.Go(func() {
			n, err := w.Billing.DestroyFiscalKeys(ctx)
			if done.Add(int32(n)); err != nil { //nolint:gosec // few
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.Equal("years, by ten at once", done.Load(), 1)
	w.Equal("times that it is told", w.Count(`select count(*) from events where name = 'billing.fiscal_keys_destroyed'`), 1)

	forgets(w, earlier)
	clear, err := w.Billing.Document(ctx, later, invoiced(w, later).Number(), "pdf")
	if w.Must(err); !bytes.Contains(clear, []byte("Ana Canary")) {
		t.Errorf("%s", clear)
	}
	named := func() int {
		return w.Count(`select count(*) from invoices where customer_name = 'Ana Canary' and id = $1 and not erased`, later)*10 +
			w.Count(`select count(*) from invoices where customer_name = '' and customer_country = '' and total = 12.10
				and number <> '' and status = 'paid' and id = $1 and erased`, earlier)
	}
	w.Equal("rows", named(), 11)
	_, err = projections.Rebuild(
		ctx, w.Owner(), eventstore.Open(w.Owner(), sagastest.Catalogue, eventstoretest.Keys(t)).Reader(),
		[]string{"billing"}, projections.Options{},
	)
	w.Must(err)
	w.Equal("rows that are built anew", named(), 11)
	if verdict, err := w.Store.Reader().Verify(ctx, nil); err != nil || !verdict.Intact {
		t.Error(verdict, err)
	}

	until(first + 12) // on a database that was restored, whose recovery mode is on
	_, err = w.Owner().Exec(ctx, `insert into recovery (number, head, reason, is_ready) values (1, 1, 'restored', true)`)
	w.Must(err)
	years, err = w.Billing.DestroyFiscalKeys(ctx)
	w.Must(err)
	w.Equal("years, one year later", years, 1)
	forgets(w, later)
}

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
