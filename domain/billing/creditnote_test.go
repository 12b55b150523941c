package billing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/tax"
)

var numbered = issued.WithNumber(1).(billing.InvoiceIssued)

func note(refund, total, subtotal, tax string) billing.CreditNoteIssued {
	return billing.CreditNoteIssued{
		Order: order, Tenant: 17, Invoice: "INV-2026-000001", Refund: refund,
		Total: amount(total), Subtotal: amount(subtotal), Tax: amount(tax), TaxRate: amount("21"), Currency: "EUR",
		Ledger: "CN-2026", At: noon,
	}
}

func credit(refund, total string) billing.Credit {
	return billing.Credit{Invoice: order, Order: order, Refund: refund, Amount: amount(total), At: noon}
}

// M-9: by the rate, the last takes what remains.
// A credit note is taxed as its invoice is: under reverse charge it has no tax either.
func TestACreditNoteIsTaxedAsItsInvoice(t *testing.T) {
	reversed := issue
	reversed.Treatment = tax.Treatment{
		TaxKind: tax.ReverseCharge, TaxCountry: "FR", TaxRemoved: amount("21"), TaxIDAcceptedBy: "system:storefront",
	}
	reversed.Total, reversed.Subtotal, reversed.Tax, reversed.TaxRate = amount("23.72"), amount("23.72"), amount("0"), amount("0")
	events, err := billing.Invoices.Decide(billing.Invoice{}, reversed)
	if err != nil {
		t.Fatal(err)
	}
	invoice := billing.Invoices.Replay(events...)
	notes, err := billing.Invoices.Decide(invoice, billing.Credit{Order: order, Refund: "re_1", Amount: amount("10"), At: noon})
	if err != nil {
		t.Fatal(err)
	}
	note := notes[0].(billing.CreditNoteIssued) //nolint:forcetypeassert // the one event of a credit
	if note.TaxKind != tax.ReverseCharge || !note.Total.Equal(amount("10")) || !note.Subtotal.Equal(note.Total) || !note.Tax.IsZero() {
		t.Errorf("%+v", note)
	}
	for _, e := range []domain.Event{events[0], note} {
		written, err := json.Marshal(e)
		if err != nil || !strings.Contains(
			string(written),
			`"tax_kind":"reverse_charge","tax_country":"FR","tax_removed":"21","tax_id_accepted_by":"system:storefront"`,
		) {
			t.Error(string(written), err)
		}
	}
}

func TestCreditNotesAddUpToTheInvoice(t *testing.T) {
	one, two := note("re_1", "10", "8.26", "1.74"), note("re_2", "18.70", "15.46", "3.24")
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered}).When(credit("re_1", "10")).Then(one)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered, one}).When(credit("re_1", "10")).Then()
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered, one}).When(credit("re_2", "18.70")).Then(two)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered, one, two}).When(credit("re_3", "1")).Then()
	domaintest.Given(t, billing.Invoices, nil).When(credit("re_1", "10")).Then()

	rest := credit("re_2", "18.69") // a payment that was accepted although it was short
	rest.Rest = true
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered, one}).When(rest).Then(two)
}

func TestACreditNoteIsNumberedInASeriesOfItsOwn(t *testing.T) {
	var n domain.Numbered = note("re_1", "10", "8.26", "1.74")
	if got := n.WithNumber(7).(billing.CreditNoteIssued).Number(); n.Series() != "CN-2026" || got != "CN-2026-000007" {
		t.Error(n.Series(), got)
	}
	free := numbered
	free.Ledger = "TEST-2026"
	facts, err := billing.Invoices.Decide(billing.Invoices.Replay(free), credit("re_1", "10"))
	if err != nil || len(facts) != 1 || facts[0].(billing.CreditNoteIssued).Series() != "TESTCN-2026" {
		t.Error(facts, err)
	}
}

// M-9, at random: every note's parts add up and none is negative, and together
// they are the invoice.
func TestAnySplitAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := decimal.New(rapid.Int64Range(0, 9999).Draw(t, "rate"), -2)
		total := decimal.New(rapid.Int64Range(1, 100_000).Draw(t, "total"), -2)
		i := numbered
		i.Total, i.TaxRate = total, rate
		i.Subtotal = total.Mul(decimal.New(100, 0)).DivRound(decimal.New(100, 0).Add(rate), 2)
		i.Tax = total.Sub(i.Subtotal)
		state := billing.Invoices.Replay(i)
		var notes billing.Sum
		for n := 0; notes.Total.LessThan(total); n++ {
			left := total.Sub(notes.Total).Shift(2).IntPart()
			c := credit(fmt.Sprint("re_", n), "0")
			c.Amount = decimal.New(rapid.Int64Range(max(1, left/5), left).Draw(t, "refund"), -2)
			facts, err := billing.Invoices.Decide(state, c)
			if err != nil || len(facts) != 1 {
				t.Fatal(facts, err)
			}
			e := facts[0].(billing.CreditNoteIssued)
			if !e.Total.Equal(c.Amount) || !e.Subtotal.Add(e.Tax).Equal(e.Total) || e.Tax.IsNegative() || e.Subtotal.IsNegative() {
				t.Fatalf("%s = %s + %s", e.Total, e.Subtotal, e.Tax)
			}
			state = billing.Invoices.Evolve(state, e)
			notes = billing.Sum{Total: notes.Total.Add(e.Total), Subtotal: notes.Subtotal.Add(e.Subtotal), Tax: notes.Tax.Add(e.Tax)}
		}
		if !notes.Subtotal.Equal(i.Subtotal) || !notes.Tax.Equal(i.Tax) {
			t.Fatalf("notes %v, invoice %s + %s", notes, i.Subtotal, i.Tax)
		}
	})
}

var made = billing.DocumentMade{Number: "INV-2026-000001", Files: []billing.StoredFile{
	{Format: "html", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Size: 4321},
	{Format: "pdf", SHA256: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752", Size: 35000},
}, At: noon}

func TestADocumentIsMadeOnce(t *testing.T) {
	command := billing.MakeDocument{Invoice: order, Number: made.Number, Files: made.Files, At: noon}
	domaintest.Given(t, billing.Invoices, nil).When(command).ThenRefused(domain.NotFound, "No Invoice matches the given query.")
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered}).When(command).Then(made)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{numbered, made}).When(command).ThenRefused(
		domain.Conflict, "The document is stored already.",
	)
	if f, is := made.File("pdf"); !is || f.Size != 35000 || made.Says() != "document INV-2026-000001 is stored as html, pdf" {
		t.Error(f, made.Says())
	}
	if _, is := made.File("xml"); is {
		t.Error("there is no XML")
	}
	if text := (billing.DocumentMade{Number: "INV-2026-000001"}).Says(); text != "document INV-2026-000001 cannot be "+
		"made: the data of its buyer is erased" {
		t.Error(text)
	}
}
