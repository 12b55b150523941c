package billing

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/wording"
)

type (
	// PaymentBooked: a payment has arrived without a provider. It adds to the balance.
	PaymentBooked struct {
		CreditAccount
		ID        uuid.UUID       `json:"id"`
		Amount    decimal.Decimal `json:"amount"`
		Left      decimal.Decimal `json:"left"` // of the balance, after it
		Method    string          `json:"method"`
		Reference string          `json:"reference"`
		Received  time.Time       `json:"received"`
		Marks     uuid.UUID       `json:"marks,omitzero"` // the invoice that it pays in the same append; zero: whichever is open
		At        time.Time       `json:"at"`
	}
	// CreditApplied: a part of the balance has paid an invoice, or a part of it.
	CreditApplied struct {
		CreditAccount
		Invoice uuid.UUID       `json:"invoice"`
		Amount  decimal.Decimal `json:"amount"`
		Left    decimal.Decimal `json:"left"` // of the balance, after it
		At      time.Time       `json:"at"`
	}
	// CreditReturned: an invoice has given back what it had of the balance.
	CreditReturned struct {
		CreditAccount
		Invoice uuid.UUID       `json:"invoice"`
		Amount  decimal.Decimal `json:"amount"`
		Left    decimal.Decimal `json:"left"` // of the balance, after it
		Reason  string          `json:"reason"`
		At      time.Time       `json:"at"`
	}
	// CreditPaidOut: a part of the balance has gone back to the customer, outside of the
	// panel.
	CreditPaidOut struct {
		CreditAccount
		Amount    decimal.Decimal `json:"amount"`
		Left      decimal.Decimal `json:"left"` // of the balance, after it
		Reference string          `json:"reference"`
		Reason    string          `json:"reason"`
		At        time.Time       `json:"at"`
	}
	// BookingReversed: a booking was wrong. Its amount is taken from the balance.
	BookingReversed struct {
		CreditAccount
		Booking uuid.UUID       `json:"booking"`
		Amount  decimal.Decimal `json:"amount"`
		Left    decimal.Decimal `json:"left"` // of the balance, after it
		Reason  string          `json:"reason"`
		At      time.Time       `json:"at"`
	}
)

func (PaymentBooked) EventName() string   { return "billing.payment_booked" }
func (CreditApplied) EventName() string   { return "billing.credit_applied" }
func (CreditReturned) EventName() string  { return "billing.credit_returned" }
func (CreditPaidOut) EventName() string   { return "billing.credit_paid_out" }
func (BookingReversed) EventName() string { return "billing.booking_reversed" }

func (e PaymentBooked) Says() string {
	return "a payment of " + e.of(e.Amount) + " is booked: " + wording.Spaced(e.Method) + ", " + e.Reference
}

func (e CreditApplied) Says() string { return e.of(e.Amount) + " of the balance pay an invoice" }

func (e CreditReturned) Says() string {
	return e.of(e.Amount) + " of an invoice go back to the balance: " + wording.Spaced(e.Reason)
}

func (e CreditPaidOut) Says() string {
	return e.of(e.Amount) + " are paid out, " + e.Reference + ": " + e.Reason
}

func (e BookingReversed) Says() string {
	return "the booking of " + e.of(e.Amount) + " is reversed: " + e.Reason
}

// of is an amount of the account, in words.
func (a CreditAccount) of(amount decimal.Decimal) string {
	return amount.StringFixed(2) + " " + a.Currency
}
