// Package document is what an invoice or a credit note says: frozen values, the rules of
// EN 16931 for them, and their form in UBL 2.1 (docs/invoices.md).
package document

import (
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

// A Kind tells invoices and credit notes apart.
type Kind string

// The kinds of documents. Amounts of a credit note are positive too.
const (
	Invoice    Kind = "invoice"
	CreditNote Kind = "credit_note"
)

// A Document is everything that an invoice or a credit note says. Amounts are in units of
// the currency, with at most two decimal places.
type Document struct {
	Kind      Kind
	Number    string    // such as INV-2026-000001
	Issued    time.Time // documents show its day in UTC
	Due       time.Time // zero: no date was agreed
	Currency  string    // ISO 4217, such as EUR
	Language  string    // of the headings, such as es
	Seller    billing.Seller
	Buyer     Buyer
	Lines     []Line
	TaxRate   decimal.Decimal // percent
	Treatment tax.Treatment   // why the tax is what it is; zero: by the single rate
	Total     decimal.Decimal // tax included
	Subtotal  decimal.Decimal // without tax
	Tax       decimal.Decimal
	Credit    decimal.Decimal // what the credit balance paid of it at its issue
	Paid      bool            // nothing is due; of a credit note: the money went back
	Method    string          // how it was paid, as customers read it; may be blank
	Order     string          // number of the order
	Withdrawn bool            // the invoice was credited before it was paid: nothing is due, and no money goes back
	Credited  Reference       // the invoice of a credit note
	Reason    string          // why a credit note was written, or an invoice withdrawn; may be blank
}

// Rest is what is due of the document.
func (d Document) Rest() decimal.Decimal {
	if d.Paid || d.Withdrawn {
		return decimal.Zero
	}
	return d.Total.Sub(d.Credit)
}

// A Buyer is who is billed. Each field but Name may be blank. Country is ISO 3166, two
// letters.
type Buyer struct {
	Name, Company, Email                      string
	Address, City, PostalCode, Country, TaxID string
}

// A Line is a part of what is billed, once. Net is its total without tax, with two decimal
// places.
type Line struct {
	billing.Line
	Net decimal.Decimal
}

// Quantity is 1, or -1 of a line that takes something off: prices are never negative.
func (l Line) Quantity() int {
	if l.Total.IsNegative() {
		return -1
	}
	return 1
}

// Days are the first and the last day of the line's period in UTC. The day on which the
// next period begins does not belong to it. They are zero for a line without a period.
func (l Line) Days() (first, last time.Time) {
	if l.PeriodStart.IsZero() {
		return time.Time{}, time.Time{}
	}
	first, last = day(l.PeriodStart), day(l.PeriodEnd).AddDate(0, 0, -1)
	if last.Before(first) {
		last = first
	}
	return first, last
}

func day(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }

// A Reference names another document by its number and the moment of its issue.
type Reference struct {
	Number string
	Issued time.Time
}

// Terms are what a document says beyond its event.
type Terms struct {
	Language string    // of the order
	Due      time.Time // zero: no date was agreed
	Method   string    // how it was paid, in the document's language
	Order    string    // number of the order
}

// OfInvoice returns the document of an invoice. The event's totals are kept to the cent. One
// that is paid at its issue has no due date.
func OfInvoice(e billing.InvoiceIssued, also Terms) Document {
	paid := e.Status == billing.Paid || e.Prepaid.IsPositive() && e.Prepaid.Equal(e.Total)
	if paid {
		also.Due = time.Time{}
	}
	return Document{
		Kind: Invoice, Number: e.Number(), Issued: e.At, Due: also.Due,
		Currency: e.Currency, Language: texts.Spoken(also.Language), Seller: e.Seller, Buyer: buyerNamed(e),
		Lines: linesOf(e.Lines, e.TaxRate, e.Subtotal), TaxRate: e.TaxRate, Treatment: e.Treatment,
		Total: e.Total, Subtotal: e.Subtotal, Tax: e.Tax,
		Credit: e.Prepaid, Paid: paid, Withdrawn: e.Status == billing.Withdrawn, Method: also.Method, Order: also.Order,
	}
}

func buyerNamed(e billing.InvoiceIssued) Buyer {
	return Buyer{
		Name: e.Name, Company: e.Company, Email: e.Email,
		Address: e.Address, City: e.City, PostalCode: e.PostalCode, Country: e.Country, TaxID: e.TaxID,
	}
}

// OfCreditNote returns the document of a credit note. Seller, buyer, language and order are
// those of its invoice's document. The reason is a sentence in that language, or blank.
func OfCreditNote(e billing.CreditNoteIssued, of Document, reason string) Document {
	line := billing.Line{Text: texts.Say(of.Language, "documents.credit_line", "number", of.Number), Total: e.Total}
	return Document{
		Kind: CreditNote, Number: e.Number(), Issued: e.At,
		Currency: e.Currency, Language: of.Language, Seller: of.Seller, Buyer: of.Buyer,
		Lines: linesOf([]billing.Line{line}, e.TaxRate, e.Subtotal), TaxRate: e.TaxRate, Treatment: of.Treatment,
		Total: e.Total, Subtotal: e.Subtotal, Tax: e.Tax,
		Paid: true, Withdrawn: of.Withdrawn, Method: of.Method, Order: of.Order,
		Credited: Reference{of.Number, of.Issued}, Reason: reason,
	}
}

var hundred = decimal.New(100, 0)

// linesOf derives what each line is without tax. It rounds running sums, so the lines add
// up to the subtotal, and each is within a cent of its exact share.
func linesOf(lines []billing.Line, rate, subtotal decimal.Decimal) []Line {
	derived, gross, net := make([]Line, len(lines)), decimal.Zero, decimal.Zero
	for i, l := range lines {
		gross = gross.Add(l.Total)
		sum := gross.Mul(hundred).DivRound(hundred.Add(rate), 2)
		if i == len(lines)-1 {
			sum = subtotal
		}
		derived[i], net = Line{l, sum.Sub(net)}, sum
	}
	return derived
}
