package billing

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
)

// Pay records that an open invoice is paid: by an order that was placed for it, or by
// other means, such as a bank transfer.
type Pay struct {
	ID        uuid.UUID
	By        uuid.UUID       // the order; zero: other means
	Method    string          // the provider, or such as bank_transfer
	Reference string          // by which the payment is found in the books
	Amount    decimal.Decimal // what was paid; zero: what is due
	At        time.Time
}

// ManualMethods are how an invoice is paid without a provider.
var ManualMethods = []string{"bank_transfer", "cash", "other"}

// InvoicePaid: all of an open invoice is paid. Credit is what it took of the balance with
// this payment. Returned is what goes back to the balance, because an order has paid for
// that part too.
type InvoicePaid struct {
	By        uuid.UUID       `json:"by,omitzero"`
	Method    string          `json:"method"`
	Reference string          `json:"reference,omitempty"`
	Credit    decimal.Decimal `json:"credit,omitzero"`
	Returned  decimal.Decimal `json:"returned,omitzero"`
	At        time.Time       `json:"at"`
}

func (InvoicePaid) EventName() string { return "billing.invoice_paid" }

func (e InvoicePaid) Says() string { return "paid by " + e.Method }

// ErrPaidLess refuses a payment at a provider that is less than what is due, because a
// booking was reversed in the meantime.
var ErrPaidLess = &domain.Error{Code: domain.Conflict, Reason: "paid_less", Message: "The payment is less than what is due."}

// ErrNotOpen refuses a payment of an invoice that is paid, or was withdrawn.
var ErrNotOpen = &domain.Error{Code: domain.Conflict, Reason: "invoice_not_open", Message: "The invoice is not open."}

func (c Pay) decide(i Invoice) ([]InvoiceEvent, error) {
	switch {
	case !i.Issued:
		return nil, domain.Refuse(domain.NotFound, "No Invoice matches the given query.")
	case i.Status == Paid && c.By != uuid.Nil && i.PaidBy == c.By:
		return nil, nil
	case i.Status != Open:
		return nil, ErrNotOpen
	case c.Amount.IsPositive() && c.Amount.LessThan(i.Due()):
		return nil, ErrPaidLess
	}
	paid := InvoicePaid{By: c.By, Method: c.Method, Reference: c.Reference, At: c.At}
	if c.Amount.GreaterThan(i.Due()) {
		paid.Returned = c.Amount.Sub(i.Due())
	}
	return []InvoiceEvent{paid}, nil
}

func (e InvoicePaid) evolve(i Invoice) Invoice {
	i.Status, i.PaidBy, i.FromCredit = Paid, e.By, i.FromCredit.Add(e.Credit).Sub(e.Returned)
	return i
}

// Stream is the history of the invoice.
func (c Pay) Stream() domain.Stream { return invoice(c.ID) }
