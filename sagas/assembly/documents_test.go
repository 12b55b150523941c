package assembly_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
)

// plainly writes documents as a line of text.
func plainly(o *assembly.Options) {
	write := func(d document.Document) ([]byte, error) {
		return fmt.Appendf(nil, "%s for %s over %s, paid: %t, %s", d.Number, d.Buyer.Name, d.Total, d.Paid, d.Method), nil
	}
	o.Documents, o.Policy.Seller = invoicing.Writers{HTML: write, PDF: write}, billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678"}
}

// issuedTo issues the invoice of an order and a credit note of it, and returns its id.
func (w *world) issuedTo(details buyer.Details) uuid.UUID {
	w.t.Helper()
	return w.issuedFor(uuid.New(), details)
}

func (w *world) issuedFor(subject uuid.UUID, details buyer.Details) uuid.UUID {
	w.t.Helper()
	id := w.placed(ordering{kind: "saas"})
	sum := decimal.RequireFromString
	tenant := int64(drawn.Add(1)) //nolint:unconvert // a number of its own
	_, err := w.store.Execute(w.t.Context(), caused(),
		billing.Subscribe{Order: id, Tenant: tenant, User: 1, Plan: 1, PlanName: "Basic", BillingPeriod: "monthly", Price: sum("12.10"), Currency: "EUR", At: w.Now(), Terms: billing.UsualTerms},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: subject, Name: "Ana Canary", Buyer: details, Lines: []billing.Line{{Text: "Basic", Total: sum("12.10")}},
			Seller: billing.Seller{Name: "Hoster SL", Country: "ES", TaxID: "ESB12345678"},
			Total:  sum("12.10"), Subtotal: sum("10"), Tax: sum("2.10"), TaxRate: sum("21"), Currency: "EUR", At: w.Now(),
		})
	w.must(err)
	_, err = w.store.Execute(w.t.Context(), caused(), billing.Credit{Invoice: id, Order: id, Refund: "re_1", Amount: sum("2.10"), At: w.Now()})
	w.must(err)
	return id
}

// holdsDocuments checks that every document is stored once in each form that it can have, and that
// the log has the hash of each.
func (w *world) holdsDocuments(invoices []uuid.UUID, forms int) {
	w.t.Helper()
	files := 0
	for _, id := range invoices {
		history, err := w.store.Read(w.t.Context(), billing.Issue{Order: id}.Stream())
		w.must(err)
		made := map[string]bool{}
		for _, r := range history {
			e, is := r.Event.(billing.DocumentMade)
			if !is {
				continue
			}
			if made[e.Number] || len(e.Files) != forms {
				w.t.Errorf("%s is made again, or in %d forms", e.Number, len(e.Files))
			}
			made[e.Number] = true
			for _, f := range e.Files {
				files++
				var sealed []byte
				w.must(w.pool.QueryRow(w.t.Context(), `select sealed from invoice_documents where number = $1 and format = $2`, e.Number, f.Format).Scan(&sealed))
				if hash := sha256.Sum256(sealed); hex.EncodeToString(hash[:]) != f.SHA256 || len(sealed) != f.Size || bytes.Contains(sealed, []byte("Canary")) {
					w.t.Errorf("%s, %s: not the bytes of the log, or in clear text", e.Number, f.Format)
				}
				clear, err := w.Billing.Document(w.t.Context(), id, e.Number, f.Format)
				if err != nil || !bytes.Contains(clear, []byte("Ana Canary")) {
					w.t.Errorf("%s, %s: %s %v", e.Number, f.Format, clear, err)
				}
			}
		}
		w.equal("documents of an invoice and its credit note", len(made), 2)
	}
	w.equal("stored files", w.count(`select count(*) from invoice_documents`), files)
}

// Many workers of several processes make each document once.
func TestEachDocumentIsStoredOnceByManyWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainly)
	var invoices []uuid.UUID
	for range 10 {
		invoices = append(invoices, w.issuedTo(buyer.Details{Country: "ES"}))
	}
	workers := []*invoicing.Service{w.Billing, w.Billing, w.node(w.url(), plainly).Billing, w.node(w.url(), plainly).Billing}
	var all sync.WaitGroup
	for _, one := range workers {
		all.Go(func() {
			if _, err := one.MakeDocuments(w.t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.holdsDocuments(invoices, 3)
	again, err := w.Billing.MakeDocuments(t.Context())
	w.must(err)
	w.equal("made again", again, 0)
}

// A process that stops between writing and storing has stored nothing. A document that
// cannot be written stops no other, and is made once it can be.
func TestADocumentIsStoredWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	broken := errors.New("out of ink")
	var fails atomic.Bool
	var first string
	w := newWorld(t, plainly, func(o *assembly.Options) {
		write := o.Documents.PDF
		o.Documents.PDF = func(d document.Document) ([]byte, error) {
			if !fails.Load() && ctx.Err() == nil {
				stop() // the process ends while it writes
				return nil, ctx.Err()
			}
			if fails.Load() && d.Number == first {
				return nil, broken
			}
			return write(d)
		}
	})
	invoices := []uuid.UUID{w.issuedTo(buyer.Details{Country: "ES"}), w.issuedTo(buyer.Details{Country: "ES"})}
	first = w.invoiced(invoices[0]).Number()
	if n, _ := w.Billing.MakeDocuments(ctx); n != 0 || w.count(`select count(*) from invoice_documents`) != 0 {
		t.Errorf("%d are stored by a process that was stopped", n)
	}
	fails.Store(true)
	if n, err := w.Billing.MakeDocuments(t.Context()); n != 3 || !errors.Is(err, broken) {
		t.Errorf("%d made, %v", n, err)
	}
	if _, err := w.Billing.Document(t.Context(), invoices[0], first, "html"); !errors.Is(err, billing.ErrNotMade) {
		t.Errorf("a document that is not stored: %v", err)
	}
	fails.Store(false)
	n, err := w.Billing.MakeDocuments(t.Context())
	w.must(err)
	w.equal("made in the end", n, 1)
	w.holdsDocuments(invoices, 3)
}

// Without the buyer's country there is no XML. The other forms are stored, and the caller is
// told which rule the XML would break.
func TestADocumentWithoutXMLIsStoredAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainly)
	id := w.issuedTo(buyer.Details{})
	_, err := w.Billing.MakeDocuments(t.Context())
	w.must(err)
	w.holdsDocuments([]uuid.UUID{id}, 2)
	if _, err := w.Billing.Document(t.Context(), id, w.invoiced(id).Number(), "xml"); domain.CodeOf(err) != domain.Conflict {
		t.Error(err)
	}
}

// Bytes that were changed behind the program's back are not served.
func TestAStoredDocumentThatWasChangedIsNotServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainly)
	id := w.issuedTo(buyer.Details{Country: "ES"})
	_, err := w.Billing.MakeDocuments(t.Context())
	w.must(err)
	number := w.invoiced(id).Number()
	for _, change := range []string{
		`update invoice_documents set sealed = sealed || 'x' where format = 'html'`,
		`update invoice_documents set sealed = (select sealed from invoice_documents where format = 'pdf' and number = '` + number + `') where format = 'html'`,
		`delete from invoice_documents where format = 'html'`,
	} {
		_, err := w.owner().Exec(t.Context(), change)
		w.must(err)
		if clear, err := w.Billing.Document(t.Context(), id, number, "html"); err == nil || domain.CodeOf(err) != "" {
			t.Errorf("%s: %s %v", change, clear, err)
		}
	}
}

// The document of an order's invoice is made by itself. Its cause is the invoice, and it
// says what held then.
func TestADocumentIsMadeByItselfAfterTheIssue(t *testing.T) {
	t.Parallel()
	w := renewingOn(newWorld(t, plainly))
	id := w.serves(ordering{kind: "saas", details: buyer.Details{Country: "ES"}})
	w.until(id, "billing.period_invoiced", 1)
	open := w.subscription(id).Open
	w.eventually("both documents are stored", func() bool { return w.count(`select count(distinct number) from invoice_documents`) == 2 })
	w.becomes(w.pays(id), order.StatusActive)
	history, err := w.store.Read(t.Context(), billing.Issue{ID: open}.Stream())
	w.must(err)
	w.equal("cause", history[1].Metadata.Cause, history[0].Cause())
	w.equal("correlation", history[1].Metadata.Correlation, history[0].Metadata.Correlation)
	clear, err := w.Billing.Document(t.Context(), open, history[0].Event.(billing.InvoiceIssued).Number(), "pdf") //nolint:forcetypeassert // the first event of an invoice
	w.must(err)
	w.equal("what it says", bytes.Contains(clear, []byte("paid: false")), true)
}

// A buyer whose fiscal key was destroyed before has no document, and the log says so once.
func TestADocumentOfAnErasedBuyerIsNotMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, plainly)
	id := w.issuedTo(buyer.Details{Country: "ES"})
	_, err := w.owner().Exec(t.Context(), `update subject_keys set key_id = '', wrapped = '' where year is not null`)
	w.must(err)
	fresh := w.node(w.url(), plainly).Billing // which remembers no key
	for time, want := range []int{2, 0} {
		n, err := fresh.MakeDocuments(t.Context())
		w.must(err)
		w.equal(fmt.Sprint("looked at, time ", time+1), n, want)
	}
	if _, err := fresh.Document(t.Context(), id, w.invoiced(id).Number(), "pdf"); !errors.Is(err, billing.ErrDocumentErased) {
		t.Error(err)
	}
	w.equal("stored files", w.count(`select count(*) from invoice_documents`), 0)
}
