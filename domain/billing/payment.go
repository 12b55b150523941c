package billing

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// Pay records that an open invoice is paid: by an order that was placed for it, or by
// other means, such as a bank transfer.
type Pay struct {
	ID        uuid.UUID
	By        uuid.UUID // the order; zero: other means
	Method    string    // the provider, or such as bank_transfer
	Reference string    // by which the payment is found in the books
	At        time.Time
}

// ManualMethods are how an invoice is paid without a provider.
var ManualMethods = []string{"bank_transfer", "cash", "other"}

// InvoicePaid: all of an open invoice is paid.
type InvoicePaid struct {
	By        uuid.UUID `json:"by,omitzero"`
	Method    string    `json:"method"`
	Reference string    `json:"reference,omitempty"`
	At        time.Time `json:"at"`
}

func (InvoicePaid) EventName() string { return "billing.invoice_paid" }

func (e InvoicePaid) Says() string { return "paid by " + e.Method }

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
	}
	return []InvoiceEvent{InvoicePaid{By: c.By, Method: c.Method, Reference: c.Reference, At: c.At}}, nil
}

func (e InvoicePaid) evolve(i Invoice) Invoice {
	i.Status, i.PaidBy = Paid, e.By
	return i
}

// Stream is the history of the invoice.
func (c Pay) Stream() domain.Stream { return invoice(c.ID) }
