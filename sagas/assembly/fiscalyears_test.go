package assembly_test

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
)

// A person buys in two years and is erased. Ten years after the end of each year its
// invoices lose their buyer, and the later one stands until then.
func TestBuyersAreForgottenWithTheYearOfIssue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainly)
	w.moves()
	ctx, ana, first := t.Context(), uuid.New(), w.Now().UTC().Year()
	until := func(year int) {
		w.must(w.store.Clock().Advance(ctx, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Sub(w.Now())+time.Second))
	}
	earlier := w.issuedFor(ana, buyer.Details{Country: "ES"})
	until(first + 1)
	later := w.issuedFor(ana, buyer.Details{Country: "ES"})
	_, err := w.Billing.MakeDocuments(ctx)
	w.must(err)
	_, err = w.store.ExecuteWith(ctx, caused(), eventstore.EraseRows(ana), account.EraseSubject{Subject: ana, At: w.Now()})
	w.must(err)
	until(first + 10)
	years, err := w.Billing.DestroyFiscalKeys(ctx)
	w.must(err)
	w.equal("years that are due too early", years, 0)
	w.holdsDocuments([]uuid.UUID{earlier, later}, 3)

	until(first + 11)
	stopped, stop := context.WithCancel(ctx)
	stop()
	years, _ = w.Billing.DestroyFiscalKeys(stopped)
	w.equal("years of a process that was stopped", years, 0)
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
	w.equal("years, by ten at once", done.Load(), 1)
	w.equal("times that it is told", w.count(`select count(*) from events where name = 'billing.fiscal_keys_destroyed'`), 1)

	w.forgets(earlier)
	clear, err := w.Billing.Document(ctx, later, w.invoiced(later).Number(), "pdf")
	if w.must(err); !bytes.Contains(clear, []byte("Ana Canary")) {
		t.Errorf("%s", clear)
	}
	named := func() int {
		return w.count(`select count(*) from invoices where customer_name = 'Ana Canary' and id = $1 and not erased`, later)*10 +
			w.count(`select count(*) from invoices where customer_name = '' and customer_country = '' and total = 12.10 and number <> '' and status = 'paid' and id = $1 and erased`, earlier)
	}
	w.equal("rows", named(), 11)
	_, err = projections.Rebuild(ctx, w.owner(), eventstore.Open(w.owner(), facts, eventstoretest.Keys(t)), []string{"billing"}, projections.Options{})
	w.must(err)
	w.equal("rows that are built anew", named(), 11)
	if verdict, err := w.store.Verify(ctx, nil); err != nil || !verdict.Intact {
		t.Error(verdict, err)
	}

	until(first + 12) // on a database that was restored, whose recovery mode is on
	_, err = w.owner().Exec(ctx, `insert into recovery (number, head, reason, is_ready) values (1, 1, 'restored', true)`)
	w.must(err)
	years, err = w.Billing.DestroyFiscalKeys(ctx)
	w.must(err)
	w.equal("years, one year later", years, 1)
	w.forgets(later)
}

// forgets checks that neither the documents of an invoice nor its event tell the buyer.
func (w *world) forgets(invoice uuid.UUID) {
	w.t.Helper()
	fresh := w.node(w.url(), plainly) // which remembers no key
	history, err := fresh.store.Read(w.t.Context(), billing.Issue{Order: invoice}.Stream())
	w.must(err)
	issued := history[0].Event.(billing.InvoiceIssued) //nolint:forcetypeassert // the first event of an invoice
	w.equal("buyer", issued.Name+issued.Country, "")
	w.equal("texts that are said to be erased", len(history[0].Erased) > 0, true)
	for _, number := range documentsOf(history) {
		if clear, err := fresh.Billing.Document(w.t.Context(), invoice, number, "pdf"); !errors.Is(err, billing.ErrDocumentErased) {
			w.t.Errorf("%s: %s %v", number, clear, err)
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
	w := renewingOn(newWorld(t, plainly))
	id, year := w.issuedTo(buyer.Details{Country: "ES"}), w.Now().UTC().Year()
	w.eventually("its documents are stored", func() bool { return w.count(`select count(*) from invoice_documents where invoice = $1`, id) == 6 })
	w.must(w.store.Clock().Advance(t.Context(), time.Date(year+11, 1, 1, 0, 0, 1, 0, time.UTC).Sub(w.Now())))
	w.eventually("no key of the year is left", func() bool {
		return w.count(`select count(*) from subject_keys where year = $1 and wrapped <> ''`, year) == 0
	})
	w.forgets(id)
}
