// Package documents shows invoices and credit notes to people: as a page and as a PDF
// (docs/invoices.md).
package documents

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing/document"
	"hostpanel/domain/texts"
)

// A sheet is a document as people read it: its texts, in its language and in their order.
// Page and PDF show the same sheet.
type sheet struct {
	Language      string
	Heading       string // such as "Invoice"
	Title         string // heading and number
	Data          []pair // number, dates, order
	Seller, Buyer party
	Items         table
	SumsCaption   string
	Sums          []sum
	Notes         []pair // payment and reason
}

type pair struct{ Label, Text string }

type party struct {
	Heading, Name string
	Lines         []string
}

type table struct {
	Caption                    string
	Item, Quantity, Net, Gross string // heads of the columns
	Rows                       []row
}

type row struct{ Text, Period, Quantity, Net, Gross string }

type sum struct {
	pair
	Main bool // the total
}

// A writer says the values of a document in its language.
type writer struct{ document.Document }

func sheetOf(d document.Document) sheet {
	w := writer{d}
	heading := w.say(string(d.Kind))
	return sheet{
		Language: d.Language, Heading: heading, Title: heading + " " + d.Number,
		Data: w.data(), Seller: w.seller(), Buyer: w.buyer(), Items: w.items(),
		SumsCaption: w.say("sums"), Sums: w.sums(), Notes: w.notes(),
	}
}

func (w writer) say(id string, values ...string) string {
	return texts.Say(w.Language, "documents."+id, values...)
}

func (w writer) money(n decimal.Decimal) string { return texts.Exact(w.Language, n, w.Currency) }

// day writes a date; that of no time is blank.
func (w writer) day(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return texts.Date(w.Language, at.UTC())
}

// pairs labels values by the ids of their texts. Blank values are left out.
func (w writer) pairs(values ...pair) (filled []pair) {
	for _, v := range values {
		if v.Text != "" {
			filled = append(filled, pair{w.say(v.Label), v.Text})
		}
	}
	return filled
}

func (w writer) data() []pair {
	credited := ""
	if w.Kind == document.CreditNote {
		credited = w.say("of_day", "number", w.Credited.Number, "day", w.day(w.Credited.Issued))
	}
	return w.pairs(
		pair{"number", w.Number}, pair{"issued", w.day(w.Issued)}, pair{"due", w.day(w.Due)},
		pair{"credited", credited}, pair{"order", w.Order},
	)
}

func (w writer) seller() party {
	s := w.Seller
	return party{w.say("seller"), s.Name, filled(
		s.Address, place(s.PostalCode, s.City, s.Country), w.labelled("tax_id", s.TaxID), w.labelled("register", s.Register),
	)}
}

// buyer names the company first, if there is one.
func (w writer) buyer() party {
	b, person := w.Buyer, ""
	if b.Company != "" {
		person = b.Name
	}
	return party{w.say("buyer"), cmp.Or(b.Company, b.Name), filled(
		person, b.Address, place(b.PostalCode, b.City, b.Country), w.labelled("tax_id", b.TaxID), b.Email,
	)}
}

// place is "28001 Madrid, ES"; each part may be blank.
func place(code, city, country string) string {
	return strings.Join(filled(strings.TrimSpace(code+" "+city), country), ", ")
}

func (w writer) labelled(id, text string) string {
	if text == "" {
		return ""
	}
	return w.say(id) + ": " + text
}

func filled(lines ...string) (kept []string) {
	for _, line := range lines {
		if line != "" {
			kept = append(kept, line)
		}
	}
	return kept
}

func (w writer) items() table {
	caption := "items"
	if w.Kind == document.CreditNote {
		caption = "items_back"
	}
	t := table{Caption: w.say(caption), Item: w.say("item"), Quantity: w.say("quantity"), Net: w.say("net"), Gross: w.say("gross")}
	for _, l := range w.Lines {
		t.Rows = append(t.Rows, row{l.Text, w.period(l), strconv.Itoa(l.Quantity()), w.money(l.Net), w.money(l.Total)})
	}
	return t
}

func (w writer) period(l document.Line) string {
	first, last := l.Days()
	if first.IsZero() {
		return ""
	}
	return w.say("period", "first", w.day(first), "last", w.day(last))
}

// sums end with what was paid, and with what is still due of an invoice.
func (w writer) sums() []sum {
	all := []sum{
		{pair{w.say("subtotal"), w.money(w.Subtotal)}, false},
		{pair{w.say("tax", "rate", texts.Percent(w.Language, w.TaxRate)), w.money(w.Tax)}, false},
		{pair{w.say("total"), w.money(w.Total)}, true},
	}
	if settled := w.settled(); settled != "" {
		all = append(all, sum{pair{w.say(settled), w.money(w.Total.Sub(w.Rest()))}, false})
	}
	if w.Kind == document.Invoice {
		all = append(all, sum{pair{w.say("due_amount"), w.money(w.Rest())}, false})
	}
	return all
}

// settled names how the total was settled, or a part of it; blank: all of it is due.
func (w writer) settled() string {
	switch {
	case w.Withdrawn && w.Kind == document.CreditNote:
		return "set_off"
	case w.Withdrawn:
		return "credited_all"
	case w.Kind == document.CreditNote:
		return "refunded"
	case w.Credit.IsPositive():
		return "from_credit"
	case w.Paid:
		return "paid"
	}
	return ""
}

// notes tell how an open document is paid, or how a paid one was.
func (w writer) notes() []pair {
	terms, iban, bic := "", "", ""
	if !w.Paid && !w.Withdrawn {
		iban, bic = w.Seller.IBAN, w.Seller.BIC
		if w.Due.IsZero() {
			terms = w.say("at_once")
		}
	}
	return w.pairs(
		pair{"tax_note", w.TaxNote()}, pair{"reason", w.Reason}, pair{"method", w.Method},
		pair{"terms", terms}, pair{"account", iban}, pair{"bic", bic},
	)
}
