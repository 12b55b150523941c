package billing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
)

var (
	account  = billing.CreditAccount{Tenant: 17, Currency: "EUR"}
	transfer = billing.BookPayment{
		CreditAccount: account, ID: payer, Amount: amount("20"), Method: "bank_transfer", Reference: "ST-1",
		Received: noon, At: noon,
	}
	booked = billing.PaymentBooked{
		CreditAccount: account, ID: payer, Amount: amount("20"), Left: amount("20"), Method: "bank_transfer",
		Reference: "ST-1", Received: noon, At: noon,
	}
	applied  = billing.CreditApplied{CreditAccount: account, Invoice: ana, Amount: amount("12.50"), Left: amount("7.50"), At: noon}
	returned = billing.CreditReturned{
		CreditAccount: account, Invoice: ana, Amount: amount("12.50"), Left: amount("20.00"), Reason: "waived",
		At: noon,
	}
	paidOut = billing.CreditPaidOut{
		CreditAccount: account, Amount: amount("5"), Left: amount("2.50"), Reference: "OUT-1", Reason: "asked for",
		At: noon,
	}
	reversed = billing.BookingReversed{
		CreditAccount: account, Booking: payer, Amount: amount("20"), Left: amount("20").Sub(amount("20")),
		Reason: "another customer's", At: noon,
	}
)

// everyMovement has an example of each event of a balance, and of what invoices take of it.
func everyMovement() []domain.Event {
	return []domain.Event{
		booked, applied, returned, paidOut, reversed,
		billing.InvoicePartPaid{Amount: amount("12.50"), Due: amount("16.20"), Method: "bank_transfer", Reference: "ST-1", At: noon},
		billing.InvoicePartReturned{Amount: amount("12.50"), Due: amount("28.70"), Reason: billing.Reversed, At: noon},
	}
}

func TestAPaymentIsBookedOnce(t *testing.T) {
	given := domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked})
	domaintest.Given(t, billing.Balances, nil).When(transfer).Then(booked)
	again := transfer
	again.ID = ana
	given.When(again).Then()
	given.When(transfer).Then()
	again.Amount = amount("-20")
	domaintest.Given(t, billing.Balances, nil).When(again).ThenRefused(
		domain.Invalid, "amount: Enter an amount above zero, with the decimal places of the currency.",
	)
	again.Amount, again.Currency = amount("20.5"), "JPY"
	domaintest.Given(t, billing.Balances, nil).When(again).ThenRefused(
		domain.Invalid, "amount: Enter an amount above zero, with the decimal places of the currency.",
	)
	again.Currency = "XXY"
	domaintest.Given(t, billing.Balances, nil).When(again).ThenRefused(
		domain.Invalid, "currency: Enter a currency of ISO 4217, such as EUR.",
	)
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, reversed}).When(transfer).
		ThenRefused(domain.Conflict, "A booking with this reference and amount was reversed. Give another reference.")
}

// What marks one invoice as paid may have the reference of another payment: a statement
// lists several.
func TestAPaymentThatMarksAnInvoiceHasAnIdentityOfItsOwn(t *testing.T) {
	marking := transfer
	marking.ID, marking.Marks = ana, ana
	second := booked
	second.ID, second.Marks, second.Left = ana, ana, amount("40")
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked}).When(marking).Then(second)
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, second}).When(marking).Then()
}

func TestABalanceIsNeverNegative(t *testing.T) {
	given := domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, applied})
	used := billing.ErrCreditUsed.Message
	given.When(billing.ApplyCredit{CreditAccount: account, Invoice: payer, Amount: amount("7.51"), At: noon}).
		ThenRefused(domain.Conflict, used)
	given.When(
		billing.PayOut{CreditAccount: account, Amount: amount("7.51"), Reference: "OUT-1", Reason: "asked for", At: noon},
	).ThenRefused(domain.Conflict, used)
	given.When(billing.ReverseBooking{CreditAccount: account, Booking: payer, Reason: "wrong", At: noon}).ThenRefused(domain.Conflict, used)
	given.When(billing.ReturnCredit{CreditAccount: account, Invoice: ana, Amount: amount("12.51"), At: noon}).
		ThenRefused(domain.Conflict, used)
	given.When(billing.PayOut{CreditAccount: account, Amount: amount("5"), Reference: "OUT-1", Reason: "asked for", At: noon}).Then(paidOut)
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, applied, paidOut}).
		When(billing.PayOut{CreditAccount: account, Amount: amount("5"), Reference: "OUT-1", Reason: "asked for", At: noon}).Then()
}

func TestAnInvoiceGivesBackWhatItHadOnce(t *testing.T) {
	back := billing.ReturnCredit{CreditAccount: account, Invoice: ana, Reason: "waived", At: noon}
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, applied}).When(back).Then(returned)
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, applied, returned}).When(back).Then()
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked}).When(
		billing.ReverseBooking{CreditAccount: account, Booking: payer, Reason: "another customer's", At: noon},
	).Then(reversed)
	domaintest.Given(t, billing.Balances, []billing.CreditEvent{booked, reversed}).When(
		billing.ReverseBooking{CreditAccount: account, Booking: payer, Reason: "again", At: noon},
	).Then()
}

func TestAnInvoiceIsPaidInParts(t *testing.T) {
	take := func(of string) billing.TakeCredit {
		return billing.TakeCredit{Invoice: ana, Amount: amount(of), Method: "bank_transfer", Reference: "ST-1", At: noon}
	}
	part := billing.InvoicePartPaid{Amount: amount("20"), Due: amount("8.70"), Method: "bank_transfer", Reference: "ST-1", At: noon}
	half := []billing.InvoiceEvent{unpaid, part}
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid}).When(take("20")).Then(part)
	domaintest.Given(t, billing.Invoices, half).When(take("8.71")).ThenRefused(
		domain.Conflict, "The amount due has changed in the meantime.",
	)
	rest := billing.InvoicePaid{Method: "bank_transfer", Reference: "ST-1", Credit: amount("8.70"), At: noon}
	domaintest.Given(t, billing.Invoices, half).When(take("8.70")).Then(rest)
	domaintest.Given(t, billing.Invoices, append(half, rest)).When(take("1")).ThenRefused(domain.Conflict, "The invoice is not open.")
	back := billing.GiveCreditBack{Invoice: ana, Amount: amount("20"), Reason: billing.Reversed, At: noon}
	domaintest.Given(t, billing.Invoices, half).When(back).Then(
		billing.InvoicePartReturned{Amount: amount("20"), Due: amount("28.70"), Reason: billing.Reversed, At: noon},
	)
	domaintest.Given(t, billing.Invoices, append(half, rest)).When(back).ThenRefused(domain.Conflict, "The invoice is not open.")
}

// A payment at a provider that was begun before a part was booked covers that part too.
func TestAPaymentOfTheWholeGivesThePartBack(t *testing.T) {
	part := billing.InvoicePartPaid{Amount: amount("20"), Due: amount("8.70"), Method: "cash", At: noon}
	whole := pay
	whole.Amount = amount("28.70")
	paidTwice := paid
	paidTwice.Returned = amount("20.00")
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, part}).When(whole).Then(paidTwice)
	rest := whole
	rest.Amount = amount("8.70")
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid}).When(rest).ThenRefused(
		domain.Conflict, billing.ErrPaidLess.Message,
	)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, part}).When(rest).Then(paid)
	refund := billing.Credit{Invoice: ana, Order: payer, Refund: "re_1", Amount: amount("8.70"), Rest: true, At: noon}
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, part, paid}).When(refund).Then(
		note("re_1", "8.70", "7.19", "1.51"),
	)
}

// Whatever is asked for, in whatever order, what was booked is where the balance says.
func TestNoMoneyOfABalanceIsLost(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // of a test
	for range 50 {
		var b billing.Balance
		var booked, out decimal.Decimal
		ids := []uuid.UUID{ana, payer, order}
		for step := range 200 {
			cents := decimal.New(r.Int64N(5000)-100, -2)
			invoice := ids[r.IntN(len(ids))]
			c := []billing.CreditCommand{
				billing.BookPayment{
					CreditAccount: account, ID: uuid.NewSHA1(ana, fmt.Append(nil, step/2)), Amount: cents,
					Method: "cash", Reference: fmt.Sprint(step / 2), At: noon,
				},
				billing.ApplyCredit{CreditAccount: account, Invoice: invoice, Amount: cents, At: noon},
				billing.ReturnCredit{CreditAccount: account, Invoice: invoice, Amount: cents, At: noon},
				billing.ReturnCredit{CreditAccount: account, Invoice: invoice, At: noon},
				billing.PayOut{CreditAccount: account, Amount: cents, Reference: fmt.Sprint(step / 2), Reason: "asked for", At: noon},
				billing.ReverseBooking{
					CreditAccount: account, Booking: uuid.NewSHA1(ana, fmt.Append(nil, r.IntN(step+1)/2)),
					Reason: "wrong", At: noon,
				},
			}[r.IntN(6)]
			events, _ := billing.Balances.Decide(b, c)
			for _, e := range events {
				b = billing.Balances.Evolve(b, e)
				switch e := e.(type) {
				case billing.PaymentBooked:
					booked = booked.Add(e.Amount)
				case billing.BookingReversed:
					booked = booked.Sub(e.Amount)
				case billing.CreditPaidOut:
					out = out.Add(e.Amount)
				}
			}
			sum := b.Left.Add(out)
			for _, part := range b.Applied {
				sum = sum.Add(part)
				if part.IsNegative() {
					t.Fatalf("an invoice has %s of the balance", part)
				}
			}
			if b.Left.IsNegative() || !sum.Equal(booked) {
				t.Fatalf("step %d: %s booked, %s left, %s in all", step, booked, b.Left, sum)
			}
		}
	}
}
