package billing

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/money"
)

// CreditCategory is that of the streams "credit-<tenant>-<currency>". Those without real
// money end with "-test".
const CreditCategory = "credit"

// A CreditAccount names the balance of a tenant in a currency. Test money has one of its own.
type CreditAccount struct {
	Tenant   int64  `json:"tenant"`
	Currency string `json:"currency"`
	Test     bool   `json:"test_money,omitempty"`
}

// Stream is the history of the account.
func (a CreditAccount) Stream() domain.Stream {
	id := strconv.FormatInt(a.Tenant, 10) + "-" + a.Currency
	if a.Test {
		id += "-test"
	}
	return domain.Stream{Category: CreditCategory, ID: id}
}

// A Balance is the money that has been booked for a tenant, and where it is: with invoices,
// paid out, or left. All of it adds up (docs/invoices.md, "Partial payments and credit").
type Balance struct {
	CreditAccount
	Left     decimal.Decimal            `json:"left"`
	Bookings map[string]Booking         `json:"bookings,omitempty"` // by their id
	Known    map[string]uuid.UUID       `json:"known,omitempty"`    // bookings by reference and amount
	Applied  map[string]decimal.Decimal `json:"applied,omitempty"`  // by invoice
	PaidOut  map[string]decimal.Decimal `json:"paid_out,omitempty"` // by reference and amount

	Method    string `json:"method,omitempty"` // of the last booking
	Reference string `json:"reference,omitempty"`
}

// A Booking is a payment that has arrived.
type Booking struct {
	Amount   decimal.Decimal `json:"amount"`
	Reversed bool            `json:"reversed,omitempty"`
}

// TenantID is the tenant whose money it is.
func (b Balance) TenantID() int64 { return b.Tenant }

// Balances is the behaviour of the streams of [CreditCategory].
var Balances = domain.Decider[Balance, CreditCommand, CreditEvent]{
	Decide: func(b Balance, c CreditCommand) ([]CreditEvent, error) { return c.decide(b) },
	Evolve: func(b Balance, e CreditEvent) Balance { return e.evolve(b) },
}

type (
	// A CreditCommand asks for a movement of a balance.
	CreditCommand interface {
		domain.Command
		decide(Balance) ([]CreditEvent, error)
	}
	// A CreditEvent belongs to the stream of a balance.
	CreditEvent interface {
		domain.Event
		evolve(Balance) Balance
	}
)

type (
	// BookPayment books a payment that has arrived without a provider. One with a reference
	// and an amount that are booked already is the same payment.
	BookPayment struct {
		CreditAccount
		ID        uuid.UUID
		Amount    decimal.Decimal
		Method    string    // one of [ManualMethods]
		Reference string    // by which it is found in the books
		Received  time.Time // the day on which it has arrived
		Marks     uuid.UUID // the invoice that it marks as paid; zero: none
		At        time.Time
	}
	// ApplyCredit takes a part of the balance for an invoice, in the append that pays it.
	ApplyCredit struct {
		CreditAccount
		Invoice uuid.UUID
		Amount  decimal.Decimal
		At      time.Time
	}
	// ReturnCredit gives back to the balance what an invoice had of it.
	ReturnCredit struct {
		CreditAccount
		Invoice uuid.UUID
		Amount  decimal.Decimal // zero: all of it
		Reason  string          // such as waived; see [PaidOtherwise] and [Reversed]
		At      time.Time
	}
	// PayOut records that a part of the balance was paid out. The money itself moves outside
	// of the panel. A repeat with the same reference and amount is the same payment.
	PayOut struct {
		CreditAccount
		Amount            decimal.Decimal
		Reference, Reason string
		At                time.Time
	}
	// ReverseBooking takes a booking back that was wrong.
	ReverseBooking struct {
		CreditAccount
		Booking uuid.UUID
		Reason  string
		At      time.Time
	}
)

// The reasons for which an invoice gives credit back, beside those for which it is
// withdrawn.
const (
	PaidOtherwise = "paid_otherwise" // a payment at a provider has covered it
	Reversed      = "reversed"       // the booking was wrong
)

var (
	// ErrCreditUsed refuses to take more than the balance has.
	ErrCreditUsed = &domain.Error{Code: domain.Conflict, Reason: "credit_used", Message: "The credit balance is lower than this amount."}
	// ErrReceived refuses a payment that has not arrived yet.
	ErrReceived = domain.RefuseField("received_on", "Enter a day that is not after today, such as 2026-11-21.")

	errReversed = &domain.Error{
		Code: domain.Conflict, Reason: "payment_reversed",
		Message: "A booking with this reference and amount was reversed. Give another reference.",
	}
)

// Reference is a reference without needless spaces, so that a statement that is read in
// again is recognised.
func Reference(text string) string { return strings.Join(strings.Fields(text), " ") }

// PaymentKey is what makes two payments of an account the same.
func PaymentKey(reference string, amount decimal.Decimal) string {
	return amount.String() + " " + reference
}

// checkAmount refuses an amount that is none of the account's currency.
func (a CreditAccount) checkAmount(amount decimal.Decimal) error {
	switch _, known := money.Places(a.Currency); {
	case !known:
		return domain.RefuseField("currency", "Enter a currency of ISO 4217, such as EUR.")
	case !amount.IsPositive() || !amount.Equal(amount.Truncate(placesOf(a.Currency))):
		return domain.RefuseField("amount", "Enter an amount above zero, with the decimal places of the currency.")
	}
	return nil
}

func (c BookPayment) decide(b Balance) ([]CreditEvent, error) {
	if err := c.checkAmount(c.Amount); err != nil {
		return nil, err
	}
	if c.Reference == "" {
		return nil, domain.RefuseField("reference", "This field is required.")
	}
	if c.Received.After(c.At) {
		return nil, ErrReceived
	}
	known, isKnown := b.Known[PaymentKey(c.Reference, c.Amount)]
	switch {
	case isKnown && c.Marks == uuid.Nil && b.Bookings[known.String()].Reversed:
		return nil, errReversed
	case isKnown && c.Marks == uuid.Nil, b.Bookings[c.ID.String()].Amount.IsPositive():
		return nil, nil
	}
	return []CreditEvent{
		PaymentBooked{
			CreditAccount: c.CreditAccount, ID: c.ID, Amount: c.Amount, Left: b.Left.Add(c.Amount), Method: c.Method,
			Reference: c.Reference, Received: c.Received, Marks: c.Marks, At: c.At,
		},
	}, nil
}

func (c ApplyCredit) decide(b Balance) ([]CreditEvent, error) {
	if !c.Amount.IsPositive() || c.Amount.GreaterThan(b.Left) {
		return nil, ErrCreditUsed
	}
	return []CreditEvent{
		CreditApplied{CreditAccount: c.CreditAccount, Invoice: c.Invoice, Amount: c.Amount, Left: b.Left.Sub(c.Amount), At: c.At},
	}, nil
}

func (c ReturnCredit) decide(b Balance) ([]CreditEvent, error) {
	has := b.Applied[c.Invoice.String()]
	amount := c.Amount
	if amount.IsZero() {
		amount = has
	}
	switch {
	case !amount.IsPositive():
		return nil, nil
	case amount.GreaterThan(has):
		return nil, ErrCreditUsed
	}
	return []CreditEvent{
		CreditReturned{
			CreditAccount: c.CreditAccount, Invoice: c.Invoice, Amount: amount, Left: b.Left.Add(amount),
			Reason: c.Reason, At: c.At,
		},
	}, nil
}

func (c PayOut) decide(b Balance) ([]CreditEvent, error) {
	if err := c.checkAmount(c.Amount); err != nil {
		return nil, err
	}
	_, paid := b.PaidOut[PaymentKey(c.Reference, c.Amount)]
	switch {
	case c.Reference == "":
		return nil, domain.RefuseField("reference", "This field is required.")
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case paid:
		return nil, nil
	case c.Amount.GreaterThan(b.Left):
		return nil, ErrCreditUsed
	}
	return []CreditEvent{
		CreditPaidOut{
			CreditAccount: c.CreditAccount, Amount: c.Amount, Left: b.Left.Sub(c.Amount), Reference: c.Reference,
			Reason: c.Reason, At: c.At,
		},
	}, nil
}

func (c ReverseBooking) decide(b Balance) ([]CreditEvent, error) {
	booked := b.Bookings[c.Booking.String()]
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case !booked.Amount.IsPositive():
		return nil, domain.Refuse(domain.NotFound, "No Payment matches the given query.")
	case booked.Reversed:
		return nil, nil
	case booked.Amount.GreaterThan(b.Left):
		return nil, ErrCreditUsed
	}
	return []CreditEvent{
		BookingReversed{
			CreditAccount: c.CreditAccount, Booking: c.Booking, Amount: booked.Amount, Left: b.Left.Sub(booked.Amount),
			Reason: c.Reason, At: c.At,
		},
	}, nil
}

func (e PaymentBooked) evolve(b Balance) Balance {
	b.CreditAccount, b.Left, b.Method, b.Reference = e.CreditAccount, e.Left, e.Method, e.Reference
	b.Bookings = with(b.Bookings, e.ID.String(), Booking{Amount: e.Amount})
	if key := PaymentKey(e.Reference, e.Amount); b.Known[key] == uuid.Nil {
		b.Known = with(b.Known, key, e.ID)
	}
	return b
}

func (e CreditApplied) evolve(b Balance) Balance {
	b.Left = e.Left
	b.Applied = with(b.Applied, e.Invoice.String(), b.Applied[e.Invoice.String()].Add(e.Amount))
	return b
}

func (e CreditReturned) evolve(b Balance) Balance {
	b.Left = e.Left
	b.Applied = with(b.Applied, e.Invoice.String(), b.Applied[e.Invoice.String()].Sub(e.Amount))
	return b
}

func (e CreditPaidOut) evolve(b Balance) Balance {
	b.Left = e.Left
	b.PaidOut = with(b.PaidOut, PaymentKey(e.Reference, e.Amount), e.Amount)
	return b
}

func (e BookingReversed) evolve(b Balance) Balance {
	b.Left = e.Left
	b.Bookings = with(b.Bookings, e.Booking.String(), Booking{Amount: e.Amount, Reversed: true})
	return b
}

// with is a copy of a map with one more value.
func with[V any](m map[string]V, key string, value V) map[string]V {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}
