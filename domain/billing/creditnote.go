package billing

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/tax"
)

// Credit writes a credit note for money of an invoice that has gone back:
// once for each refund, and for no more than the invoice was over. Without an
// invoice there is nothing to credit (docs/orders.md, "Credit notes").
type Credit struct {
	Invoice uuid.UUID
	Order   uuid.UUID       // that has paid it; another's money is not credited
	Refund  string          // the provider's id of the refund or dispute
	Amount  decimal.Decimal // tax included
	Rest    bool            // nothing is left of the payment: all that is not credited yet
	At      time.Time
}

// CreditNoteIssued is the credit note itself. Its number is given by the log,
// without gaps, in the moment in which it is written.
type CreditNoteIssued struct {
	Order    uuid.UUID       `json:"order"`
	Tenant   int64           `json:"tenant"`
	Invoice  string          `json:"invoice"` // its number
	Refund   string          `json:"refund"`
	Total    decimal.Decimal `json:"total"`
	Subtotal decimal.Decimal `json:"subtotal"`
	Tax      decimal.Decimal `json:"tax"`
	TaxRate  decimal.Decimal `json:"tax_rate"`
	Currency string          `json:"currency"`
	Closes   bool            `json:"closes,omitempty"` // the invoice was open, and nothing is left to be paid
	Ledger   string          `json:"series"`
	Sequence int64           `json:"sequence"` // 1, 2, 3 … in its series
	At       time.Time       `json:"at"`
	tax.Treatment
}

func (CreditNoteIssued) EventName() string { return "billing.credit_note_issued" }

func (e CreditNoteIssued) Says() string {
	return fmt.Sprintf("credit note %s over %s %s of invoice %s", e.Number(), e.Total.StringFixed(2), e.Currency, e.Invoice)
}

// Series is where the number is drawn: "CN-2026".
func (e CreditNoteIssued) Series() string { return e.Ledger }

// WithNumber is the credit note with its number.
func (e CreditNoteIssued) WithNumber(n int64) domain.Event { e.Sequence = n; return e }

// FiscalYear is the year in which the credit note was issued.
func (e CreditNoteIssued) FiscalYear() int { return yearOf(e.Ledger) }

// Number is what people call the credit note: "CN-2026-000001".
func (e CreditNoteIssued) Number() string { return numbered(e.Ledger, e.Sequence) }

// Withdraw credits all of an invoice that was not paid, and so closes it. Of one that is
// not open nothing is withdrawn.
type Withdraw struct {
	Invoice uuid.UUID
	Reason  string // such as cancelled, unpaid, waived
	At      time.Time
}

func (c Credit) decide(i Invoice) ([]InvoiceEvent, error) {
	rest := i.Total.Sub(i.FromCredit).Sub(i.Credited.Total) // what the balance has paid is not the order's money
	if !i.Issued || i.Status == Open || i.PaidBy != c.Order || i.Refunds[c.Refund] || !rest.IsPositive() || !c.Amount.IsPositive() {
		return nil, nil
	}
	amount := decimal.Min(c.Amount, rest)
	if c.Rest {
		amount = rest
	}
	return []InvoiceEvent{i.credit(c.Refund, i.part(amount), c.At)}, nil
}

func (c Withdraw) decide(i Invoice) ([]InvoiceEvent, error) {
	if i.Status != Open {
		return nil, nil
	}
	note := i.credit(c.Reason, i.Sum, c.At)
	note.Closes = true
	return []InvoiceEvent{note}, nil
}

func (i Invoice) credit(refund string, part Sum, at time.Time) CreditNoteIssued {
	return CreditNoteIssued{
		Order: i.Order, Tenant: i.Tenant, Invoice: i.Number, Refund: refund,
		Total: part.Total, Subtotal: part.Subtotal, Tax: part.Tax, TaxRate: i.TaxRate, Currency: i.Currency,
		Ledger: creditSeries(at, i.Test), At: at, Treatment: i.Treatment,
	}
}

// A Sum is money with its tax told apart; the parts always add up.
type Sum struct {
	Total    decimal.Decimal `json:"total"`
	Subtotal decimal.Decimal `json:"subtotal"`
	Tax      decimal.Decimal `json:"tax"`
}

func (s Sum) add(o Sum) Sum {
	return Sum{s.Total.Add(o.Total), s.Subtotal.Add(o.Subtotal), s.Tax.Add(o.Tax)}
}

var hundred = decimal.New(100, 0)

// part is a part of the invoice's sum: by the invoice's rate, except that the
// last takes what remains, so that all credit notes add up to the invoice
// (rule M-9).
func (i Invoice) part(total decimal.Decimal) Sum {
	rest := Sum{i.Total.Sub(i.Credited.Total), i.Subtotal.Sub(i.Credited.Subtotal), i.Tax.Sub(i.Credited.Tax)}
	if total.Equal(rest.Total) {
		return rest
	}
	subtotal := total.Mul(hundred).DivRound(hundred.Add(i.TaxRate), 2)
	subtotal = decimal.Max(decimal.Min(subtotal, rest.Subtotal), total.Sub(rest.Tax)) // roundings must leave enough for the rest
	return Sum{total, subtotal, total.Sub(subtotal)}
}

// creditSeries names the series of a credit note, as [SeriesOf] names those of
// invoices.
func creditSeries(at time.Time, test bool) string {
	if test {
		return fmt.Sprintf("TESTCN-%d", at.UTC().Year())
	}
	return fmt.Sprintf("CN-%d", at.UTC().Year())
}

// Stream is the history of the invoice.
func (c Credit) Stream() domain.Stream   { return invoice(c.Invoice) }
func (c Withdraw) Stream() domain.Stream { return invoice(c.Invoice) }

func (e CreditNoteIssued) evolve(i Invoice) Invoice {
	refunds := map[string]bool{e.Refund: true}
	for id := range i.Refunds {
		refunds[id] = true
	}
	if e.Closes {
		i.Status, i.FromCredit = Withdrawn, decimal.Zero
	}
	i.Refunds, i.Credited = refunds, i.Credited.add(Sum{e.Total, e.Subtotal, e.Tax})
	return i
}
