package billing

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// An open invoice takes parts of the tenant's credit balance until nothing is due. The
// stream of the balance has the other half of each movement, in the same append
// (docs/adr/0046-a-balance-pays-invoices.md).
type (
	// TakeCredit pays an open invoice, or a part of it, from the balance.
	TakeCredit struct {
		Invoice   uuid.UUID
		Amount    decimal.Decimal
		Method    string // of the booking
		Reference string
		At        time.Time
	}
	// GiveCreditBack takes a part of the payment of an open invoice back, because the booking
	// was wrong.
	GiveCreditBack struct {
		Invoice uuid.UUID
		Amount  decimal.Decimal
		Reason  string
		At      time.Time
	}
	// InvoicePartPaid: a part of an open invoice is paid from the balance.
	InvoicePartPaid struct {
		Amount    decimal.Decimal `json:"amount"`
		Due       decimal.Decimal `json:"due"` // the rest
		Method    string          `json:"method"`
		Reference string          `json:"reference,omitempty"`
		At        time.Time       `json:"at"`
	}
	// InvoicePartReturned: a part of the payment of an open invoice is taken back.
	InvoicePartReturned struct {
		Amount decimal.Decimal `json:"amount"`
		Due    decimal.Decimal `json:"due"` // the rest
		Reason string          `json:"reason"`
		At     time.Time       `json:"at"`
	}
)

func (InvoicePartPaid) EventName() string     { return "billing.invoice_part_paid" }
func (InvoicePartReturned) EventName() string { return "billing.invoice_part_returned" }

func (e InvoicePartPaid) Says() string {
	return fmt.Sprintf("%s paid by %s, %s is due", e.Amount.StringFixed(2), wording.Spaced(e.Method), e.Due.StringFixed(2))
}

func (e InvoicePartReturned) Says() string {
	return fmt.Sprintf(
		"%s of the payment taken back (%s), %s is due", e.Amount.StringFixed(2), wording.Spaced(e.Reason),
		e.Due.StringFixed(2),
	)
}

// Due is what has yet to be paid of the invoice.
func (i Invoice) Due() decimal.Decimal {
	if i.Status != Open {
		return decimal.Zero
	}
	return i.Total.Sub(i.FromCredit)
}

// Rest is what is due of the sum of an invoice. Its tax is the same part of the whole.
func Rest(of Sum, due decimal.Decimal) Sum {
	if due.Equal(of.Total) || !of.Total.IsPositive() {
		return of
	}
	tax := of.Tax.Mul(due).DivRound(of.Total, 2)
	return Sum{Total: due, Subtotal: due.Sub(tax), Tax: tax}
}

// Account is the balance that pays the invoice.
func (i Invoice) Account() CreditAccount {
	return CreditAccount{Tenant: i.Tenant, Currency: i.Currency, Test: i.Test}
}

// errDueChanged refuses an amount that is not what is due any more.
var errDueChanged = &domain.Error{
	Code: domain.Conflict, Reason: "amount_due_changed", Message: "The amount due has changed in the meantime.",
}

func (c TakeCredit) decide(i Invoice) ([]InvoiceEvent, error) {
	due := i.Due()
	switch {
	case !i.Issued:
		return nil, domain.Refuse(domain.NotFound, "No Invoice matches the given query.")
	case i.Status != Open:
		return nil, ErrNotOpen
	case !c.Amount.IsPositive() || c.Amount.GreaterThan(due):
		return nil, errDueChanged
	case c.Amount.Equal(due):
		return []InvoiceEvent{InvoicePaid{Method: c.Method, Reference: c.Reference, Credit: c.Amount, At: c.At}}, nil
	}
	return []InvoiceEvent{
		InvoicePartPaid{Amount: c.Amount, Due: due.Sub(c.Amount), Method: c.Method, Reference: c.Reference, At: c.At},
	}, nil
}

func (c GiveCreditBack) decide(i Invoice) ([]InvoiceEvent, error) {
	switch {
	case i.Status != Open:
		return nil, ErrNotOpen
	case !c.Amount.IsPositive() || c.Amount.GreaterThan(i.FromCredit):
		return nil, errDueChanged
	}
	return []InvoiceEvent{InvoicePartReturned{Amount: c.Amount, Due: i.Due().Add(c.Amount), Reason: c.Reason, At: c.At}}, nil
}

func (e InvoicePartPaid) evolve(i Invoice) Invoice {
	i.FromCredit = i.FromCredit.Add(e.Amount)
	return i
}

func (e InvoicePartReturned) evolve(i Invoice) Invoice {
	i.FromCredit = i.FromCredit.Sub(e.Amount)
	return i
}

func (c TakeCredit) Stream() domain.Stream     { return invoice(c.Invoice) }
func (c GiveCreditBack) Stream() domain.Stream { return invoice(c.Invoice) }
