package document_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/texts"
)

var (
	noon   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	seller = billing.Seller{
		Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28001", Country: "ES",
		TaxID: "ESB12345678", Register: "Madrid, T 1, F 2", IBAN: "ES91 2100 0418 4502 0005 1332", BIC: "CAIXESBB",
	}
	issued = billing.InvoiceIssued{
		Order: uuid.MustParse("6f1c0d6e-0000-4000-8000-000000000001"), Tenant: 17,
		Name: "Ana Ruiz", Email: "ana@example.com", Company: "Ruiz & Ñandú SL", Seller: seller,
		Details: buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "B-87654321"},
		Lines: []billing.Line{
			{Text: "Básico (yearly)", PeriodStart: noon, PeriodEnd: noon.AddDate(1, 0, 0), Total: amount("28.70")},
			{Text: "Setup fee", Total: amount("10")},
		},
		Total: amount("38.70"), Subtotal: amount("31.98"), Tax: amount("6.72"), TaxRate: amount("21"),
		Currency: "EUR", Status: "paid", Ledger: "INV-2026", Sequence: 1, At: noon,
	}
	terms = document.Terms{
		Language: "es", Method: "Tarjeta", Order: "ORD-20261121-7F3K9Q",
	}
	credited = billing.CreditNoteIssued{
		Invoice: "INV-2026-000001", Refund: "re_1", Total: amount("10"), Subtotal: amount("8.26"), Tax: amount("1.74"),
		TaxRate: amount("21"), Currency: "EUR", Ledger: "CN-2026", Sequence: 3, At: noon.AddDate(0, 0, 9),
	}
)

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func note() document.Document {
	return document.OfCreditNote(credited, document.OfInvoice(issued, terms), "Desistimiento del cliente")
}

func TestAnInvoiceSaysWhatItsEventSays(t *testing.T) {
	d := document.OfInvoice(issued, terms)
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	if d.Number != "INV-2026-000001" || !d.Paid || d.Buyer.Name != "Ana Ruiz" || d.Buyer.City != "Bilbao" || !d.Total.Equal(issued.Total) {
		t.Errorf("%+v", d)
	}
	if a, b := d.Lines[0].Net, d.Lines[1].Net; !a.Equal(amount("23.72")) || !b.Equal(amount("8.26")) {
		t.Errorf("without tax the lines are %s and %s", a, b)
	}
}

func TestACreditNoteNamesItsInvoiceAndItsReason(t *testing.T) {
	d := note()
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	if d.Number != "CN-2026-000003" || d.Credited.Number != "INV-2026-000001" || !d.Credited.Issued.Equal(noon) ||
		d.Buyer.City != "Bilbao" {
		t.Errorf("%+v", d)
	}
	if got := d.Lines[0].Text; got != "Abono de la factura INV-2026-000001" {
		t.Error(got)
	}
}

// A period ends on the day before the next one begins, whatever the time of the day is.
func TestAPeriodEndsOnTheDayBeforeTheNextOne(t *testing.T) {
	for _, one := range []struct{ start, end, first, last string }{
		{"2026-11-21T12:00:00Z", "2026-12-21T12:00:00Z", "2026-11-21", "2026-12-20"},
		{"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-11-01", "2026-11-30"},
		{"2026-11-21T12:00:00Z", "2026-11-21T18:00:00Z", "2026-11-21", "2026-11-21"},
		{"2026-12-01T00:30:00+01:00", "2027-01-01T00:30:00+01:00", "2026-11-30", "2026-12-30"},
	} {
		first, last := document.Line{Line: billing.Line{PeriodStart: moment(t, one.start), PeriodEnd: moment(t, one.end)}}.Days()
		if first.Format(time.DateOnly) != one.first || last.Format(time.DateOnly) != one.last {
			t.Errorf("%s to %s is %s to %s", one.start, one.end, first, last)
		}
	}
	if first, last := (document.Line{}).Days(); !first.IsZero() || !last.IsZero() {
		t.Error("a line without a period has days", first, last)
	}
}

func moment(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// Whatever is billed, at any rate from half a percent: the lines add up to the subtotal, each is within a
// cent of its exact share, and the document keeps the rules.
func TestLinesWithoutTaxAddUpToTheSubtotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := issued
		e.TaxRate = decimal.New(rapid.Int64Range(50, 9999).Draw(t, "rate"), -2)
		e.Lines, e.Total = nil, decimal.Zero
		for _, cents := range rapid.SliceOfN(rapid.Int64Range(0, 100_000), 1, 40).Draw(t, "cents") {
			total := decimal.New(cents, -2)
			e.Lines, e.Total = append(e.Lines, billing.Line{Text: "Plan", Total: total}), e.Total.Add(total)
		}
		factor := decimal.New(100, 0).Add(e.TaxRate)
		e.Subtotal = e.Total.Shift(2).DivRound(factor, 2)
		e.Tax = e.Total.Sub(e.Subtotal)

		d, sum := document.OfInvoice(e, terms), decimal.Zero
		for _, l := range d.Lines {
			sum = sum.Add(l.Net)
			if away := l.Net.Mul(factor).Sub(l.Total.Shift(2)).Abs(); away.GreaterThan(factor.Shift(-2)) {
				t.Errorf("%s without %s %% is %s", l.Total, e.TaxRate, l.Net)
			}
		}
		if !sum.Equal(e.Subtotal) {
			t.Errorf("%s instead of %s", sum, e.Subtotal)
		}
		if err := d.Check(); err != nil {
			t.Error(err)
		}
	})
}

// Whatever the balance pays in the append of the issue: the document has the amounts that the
// invoice has, keeps the rules, and asks for no day if nothing is due.
func TestADocumentHasTheAmountsOfItsInvoiceAtTheIssue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(0, 100_000).Draw(t, "cents")
		total, due := decimal.New(cents, -2), noon.AddDate(0, 0, 14)
		prepaid := decimal.New(rapid.Int64Range(0, cents).Draw(t, "prepaid"), -2)
		if rapid.Bool().Draw(t, "paid") || total.IsZero() {
			prepaid, due = decimal.Zero, time.Time{}
		}
		issue := billing.Issue{
			Name: "Ana Ruiz", Buyer: issued.Details, Seller: seller, Lines: []billing.Line{{Text: "Plan", Total: total}},
			Total: total, Subtotal: total, Currency: "EUR", DueAt: due, Prepaid: prepaid, At: noon,
		}
		commands := []billing.InvoiceCommand{issue}
		if prepaid.IsPositive() {
			commands = append(commands, billing.TakeCredit{Amount: prepaid, At: noon})
		}
		var i billing.Invoice
		var d document.Document
		for _, c := range commands {
			facts, err := billing.Invoices.Decide(i, c)
			if err != nil {
				t.Fatal(err)
			}
			i = billing.Invoices.Evolve(i, facts[0])
			if e, is := facts[0].(billing.InvoiceIssued); is {
				d = document.OfInvoice(e, document.Terms{Language: "en", Due: e.DueAt})
			}
		}
		if !d.Rest().Equal(i.Due()) || d.Paid != (i.Status == billing.Paid) || d.Due.IsZero() != !i.Due().IsPositive() {
			t.Errorf("%s are due, paid: %t, until %s; the invoice has %s and is %s", d.Rest(), d.Paid, d.Due, i.Due(), i.Status)
		}
		text, err := document.XML(d)
		if err != nil {
			t.Fatal(err)
		}
		payable := ">" + i.Due().StringFixed(2) + "</cbc:PayableAmount>"
		paid := ">" + i.Total.Sub(i.Due()).StringFixed(2) + "</cbc:PrepaidAmount>"
		if !strings.Contains(string(text), payable) || (i.Due().LessThan(total) || d.Paid) != strings.Contains(string(text), paid) ||
			d.Due.IsZero() == strings.Contains(string(text), "cbc:DueDate") {
			t.Errorf("%s\nand not %s and %s", text, payable, paid)
		}
	})
}

// Whatever ends a subscription withdraws its open invoice, and the credit note says why.
func TestEveryWithdrawalHasItsWords(t *testing.T) {
	for _, language := range texts.Languages() {
		for _, reason := range []string{billing.Unpaid, billing.Cancelled, "waived", "ended", "refunded", "chargeback"} {
			if texts.Say(language, "documents.withdrawn_"+reason) == "" {
				t.Errorf("%s is not said in %s", reason, language)
			}
		}
	}
}
