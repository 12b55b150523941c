package billing_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
	"hostpanel/sagas/sagastest"
)

// plainly writes documents as a line of text.
func plainly(o *assembly.Options) {
	write := func(d document.Document) ([]byte, error) {
		return fmt.Appendf(nil, "%s for %s over %s, paid: %t, %s", d.Number, d.Buyer.Name, d.Total, d.Paid, d.Method), nil
	}
	o.Documents, o.Policy.Seller = invoicing.Writers{HTML: write, PDF: write}, billing.Seller{
		Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678",
	}
}

// issuedTo issues the invoice of an order and a credit note of it, and returns its id.
func issuedTo(w *sagastest.World, details buyer.Details) uuid.UUID {
	w.T.Helper()
	return issuedFor(w, uuid.New(), details)
}

func issuedFor(w *sagastest.World, subject uuid.UUID, details buyer.Details) uuid.UUID {
	w.T.Helper()
	id := w.Placed(sagastest.OrderForm{Kind: "saas"})
	sum := decimal.RequireFromString
	tenant := int64(sagastest.Drawn.Add(1)) //nolint:unconvert // a number of its own
	_, err := w.Store.Execute(w.T.Context(), sagastest.Cause(),
		billing.Subscribe{
			Order: id, Tenant: tenant, User: 1, Plan: 1, PlanName: "Basic", BillingPeriod: "monthly",
			Price: sum("12.10"), Currency: "EUR", At: w.Runner.Now(), Terms: billing.UsualTerms,
		},
		billing.Issue{
			Order: id, Tenant: tenant, SubjectID: subject, Name: "Ana Canary", Buyer: details,
			Lines:  []billing.Line{{Text: "Basic", Total: sum("12.10")}},
			Seller: billing.Seller{Name: "Hoster SL", Country: "ES", TaxID: "ESB12345678"},
			Total:  sum("12.10"), Subtotal: sum("10"), Tax: sum("2.10"), TaxRate: sum("21"), Currency: "EUR", At: w.Runner.Now(),
		})
	w.Must(err)
	_, err = w.Store.Execute(
		w.T.Context(), sagastest.Cause(),
		billing.Credit{Invoice: id, Order: id, Refund: "re_1", Amount: sum("2.10"), At: w.Runner.Now()},
	)
	w.Must(err)
	return id
}

// holdsDocuments checks that every document is stored once in each form that it can have, and that
// the log has the hash of each.
func holdsDocuments(w *sagastest.World, invoices []uuid.UUID, forms int) {
	w.T.Helper()
	files := 0
	for _, id := range invoices {
		history, err := w.Store.Read(w.T.Context(), billing.Issue{Order: id}.Stream())
		w.Must(err)
		made := map[string]bool{}
		for _, r := range history {
			e, is := r.Event.(billing.DocumentMade)
			if !is {
				continue
			}
			if made[e.Number] || len(e.Files) != forms {
				w.T.Errorf("%s is made again, or in %d forms", e.Number, len(e.Files))
			}
			made[e.Number] = true
			for _, f := range e.Files {
				files++
				var sealed []byte
				w.Must(
					w.Pool.QueryRow(
						w.T.Context(), `select sealed from invoice_documents where number = $1 and format = $2`,
						e.Number, f.Format,
					).Scan(&sealed),
				)
				if hash := sha256.Sum256(sealed); hex.EncodeToString(hash[:]) != f.SHA256 || len(sealed) != f.Size ||
					bytes.Contains(sealed, []byte("Canary")) {
					w.T.Errorf("%s, %s: not the bytes of the log, or in clear text", e.Number, f.Format)
				}
				clear, err := w.Billing.Document(w.T.Context(), id, e.Number, f.Format)
				if err != nil || !bytes.Contains(clear, []byte("Ana Canary")) {
					w.T.Errorf("%s, %s: %s %v", e.Number, f.Format, clear, err)
				}
			}
		}
		w.Equal("documents of an invoice and its credit note", len(made), 2)
	}
	w.Equal("stored files", w.Count(`select count(*) from invoice_documents`), files)
}

// Without the buyer's country there is no XML. The other forms are stored, and the caller is
// told which rule the XML would break.
func TestADocumentWithoutXMLIsStoredAllTheSame(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, plainly)
	id := issuedTo(w, buyer.Details{})
	_, err := w.Billing.MakeDocuments(t.Context())
	w.Must(err)
	holdsDocuments(w, []uuid.UUID{id}, 2)
	if _, err := w.Billing.Document(t.Context(), id, invoiced(w, id).Number(), "xml"); domain.CodeOf(err) != domain.Conflict {
		t.Error(err)
	}
}

// Bytes that were changed behind the program's back are not served.
func TestAStoredDocumentThatWasChangedIsNotServed(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, plainly)
	id := issuedTo(w, buyer.Details{Country: "ES"})
	_, err := w.Billing.MakeDocuments(t.Context())
	w.Must(err)
	number := invoiced(w, id).Number()
	for _, change := range []string{
		`update invoice_documents set sealed = sealed || 'x' where format = 'html'`,
		`update invoice_documents set sealed = (select sealed from invoice_documents where format = 'pdf' and number = '` +
			number + `') where format = 'html'`,
		`delete from invoice_documents where format = 'html'`,
	} {
		_, err := w.Owner().Exec(t.Context(), change)
		w.Must(err)
		if clear, err := w.Billing.Document(t.Context(), id, number, "html"); err == nil || domain.CodeOf(err) != "" {
			t.Errorf("%s: %s %v", change, clear, err)
		}
	}
}

// The document of an order's invoice is made by itself. Its cause is the invoice, and it
// says what held then.
func TestADocumentIsMadeByItselfAfterTheIssue(t *testing.T) {
	t.Parallel()
	w := sagastest.RenewalsOn(sagastest.NewWorldWithClock(t, plainly))
	id := w.Serves(sagastest.OrderForm{Kind: "saas", Details: buyer.Details{Country: "ES"}})
	w.Until(id, "billing.period_invoiced", 1)
	open := w.Subscription(id).Open
	w.Eventually("both documents are stored", func() bool { return w.Count(`select count(distinct number) from invoice_documents`) == 2 })
	w.Becomes(w.Pays(id), order.StatusActive)
	history, err := w.Store.Read(t.Context(), billing.Issue{ID: open}.Stream())
	w.Must(err)
	w.Equal("cause", history[1].Metadata.Cause, history[0].Cause())
	w.Equal("correlation", history[1].Metadata.Correlation, history[0].Metadata.Correlation)
	clear, err := w.Billing.Document(
		t.Context(), open, history[0].Event.(billing.InvoiceIssued).Number(), "pdf",
	) //nolint:forcetypeassert // the first event of an invoice
	w.Must(err)
	w.Equal("what it says", bytes.Contains(clear, []byte("paid: false")), true)
}

// Whatever a tenant has booked when an invoice is issued, and whatever is booked afterwards: the
// document has the amounts of the API at the moment of the issue.
func TestADocumentHasTheAmountsOfTheAPIAtTheIssue(t *testing.T) {
	t.Parallel()
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(uint64(seed), 0))
	w := sagastest.WithPlans(t, amountsOnly)
	id := w.Serves(sagastest.OrderForm{Domain: "amounts.example", Details: buyer.Details{Country: "ES"}})
	said := map[uuid.UUID]string{} // by invoice
	issued := func() {
		all := w.Invoices(id)
		i := all[len(all)-1]
		said[i.ID] = fmt.Sprintf("%s of %s, paid: %t", i.AmountDue.StringFixed(2), i.Total.StringFixed(2), i.Status == billing.Paid)
		if i.Status == billing.Open {
			w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), i.ID, "bank_transfer", "ST-"+i.Number))
		}
	}
	issued()
	cents, euros := fmt.Sprintf("0.%02d", 1+draw.IntN(99)), fmt.Sprintf("%d.37", 1+draw.IntN(40))
	for n, part := range []string{"", "5.00", "12.10", "50.00", "", cents, euros} {
		if part != "" {
			w.Books(id, part, fmt.Sprint("BOOK-", n))
		}
		w.Until(id, "billing.period_invoiced", n+1)
		issued()
		if w.Until(id, "billing.period_renewed", n+1); n == 1 { // the difference of a change, paid in part
			w.Books(id, "3.00", "CHANGE")
			w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
			issued()
			w.Until(id, "billing.plan_changed", 1)
		}
	}
	for invoice, want := range said {
		number := w.Invoice(invoice).Number
		w.Eventually("document "+number+" is stored", func() bool {
			return w.Count(`select count(*) from invoice_documents where number = $1`, number) > 0
		})
		clear, err := w.Billing.Document(t.Context(), invoice, number, "pdf")
		w.Must(err)
		w.Equal(number, string(clear), want)
	}
}

// amountsOnly writes what is due of documents.
func amountsOnly(o *assembly.Options) {
	plainly(o)
	write := func(d document.Document) ([]byte, error) {
		return fmt.Appendf(nil, "%s of %s, paid: %t", d.Rest().StringFixed(2), d.Total.StringFixed(2), d.Paid), nil
	}
	o.Documents.HTML, o.Documents.PDF = write, write
}

// A buyer whose fiscal key was destroyed before has no document, and the log says so once.
func TestADocumentOfAnErasedBuyerIsNotMade(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, plainly)
	id := issuedTo(w, buyer.Details{Country: "ES"})
	_, err := w.Owner().Exec(t.Context(), `update subject_keys set key_id = '', wrapped = '' where year is not null`)
	w.Must(err)
	fresh := w.Node(w.URL(), plainly).Billing // which remembers no key
	for time, want := range []int{2, 0} {
		n, err := fresh.MakeDocuments(t.Context())
		w.Must(err)
		w.Equal(fmt.Sprint("looked at, time ", time+1), n, want)
	}
	if _, err := fresh.Document(t.Context(), id, invoiced(w, id).Number(), "pdf"); !errors.Is(err, billing.ErrDocumentErased) {
		t.Error(err)
	}
	w.Equal("stored files", w.Count(`select count(*) from invoice_documents`), 0)
}
