package notice

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/texts"
)

// A Bill is what news about a renewal tells of. Day is what the news is about: when the
// invoice is due, until when the plan is paid for, or when it ends.
type Bill struct {
	Invoice  uuid.UUID
	Tenant   int64  // that was billed
	Number   string // of the invoice
	Plan     string
	Total    decimal.Decimal
	Rest     decimal.Decimal // what is left to be paid; zero: nothing is told of it
	Currency string
	Day      time.Time
}

// News is what is told of a bill, by the name of its template, such as "invoice_due". It
// leads to the invoice. The last warning leads to where the tenant's data is downloaded, and
// from there to the invoice.
func (b Bill) News(template, language string) Text {
	page := InvoicePage(b.Invoice)
	if template == PlanEnds {
		page = ExportPage(b.Tenant)
	}
	return say(template, language,
		"number", b.Number, "plan", b.Plan, "amount", texts.Money(language, b.Total, b.Currency), "rest",
		texts.Money(language, b.Rest, b.Currency), "day", texts.Date(language, b.Day)).At(page)
}

// PlanNews is what is told of the plan of a service whose invoice does not matter. It leads
// to the service, by its order.
func PlanNews(template string, service uuid.UUID, plan string, day time.Time, language string) Text {
	return say(template, language, "plan", plan, "day", texts.Date(language, day)).At(ServicePage(service))
}

// MethodNews is what is told of a payment method that is kept for renewals of a plan.
func MethodNews(plan, method, language string) Text {
	return say(MethodSaved, language, "plan", plan, "method", method).At(PaymentMethodsPath)
}

// MethodAddedNews is what is told of a payment method that was added without a payment.
func MethodAddedNews(method, language string) Text {
	return say(MethodAdded, language, "method", method).At(PaymentMethodsPath)
}

// ChangeDropped tells a customer that a planned change of the plan has not come, and what
// there is too much of.
func ChangeDropped(service uuid.UUID, plan, over, language string) Text {
	return say("change_dropped", language, "plan", plan, "over", over).At(ServicePage(service))
}

// ChangeDroppedOf tells an operator the same of the subscription of an order.
func ChangeDroppedOf(order uuid.UUID, number, plan, over, language string) Text {
	return say("change_dropped_order", language, "number", number, "plan", plan, "over", over).At(OrderPage(order))
}

// CreditNews is what the administrators of a tenant are told of its credit balance, of which
// rest is left. It leads to the invoices, which show the balance.
func CreditNews(template string, amount, rest decimal.Decimal, currency, language string) Text {
	return say(
		template, language, "amount", texts.Money(language, amount, currency), "rest",
		texts.Money(language, rest, currency),
	).At(InvoicesPath)
}

// The templates of news about credit balances.
const (
	PaymentReceived = "payment_received" // without a provider, and not for one invoice
	PaymentReversed = "payment_reversed" // it was booked by mistake
	CreditReturned  = "credit_returned"  // by an invoice
	CreditPaidOut   = "credit_paid_out"
)

// The templates of news about renewals.
const (
	InvoiceDue      = "invoice_due"
	InvoiceToCharge = "invoice_to_charge"
	ChargeFailed    = "charge_failed"  // and is tried again
	ChargeConfirm   = "charge_confirm" // the customer's bank wants a word of the customer
	ChargeEnded     = "charge_ended"   // and is not tried again
	MethodSaved     = "method_saved"
	MethodAdded     = "method_added" // without a payment
	InvoicePaid     = "invoice_paid"
	InvoiceWaived   = "invoice_waived"
	InvoicePartPaid = "invoice_part_paid"
	PaymentReminder = "payment_reminder"
	PaymentOverdue  = "payment_overdue"
	PlanSuspended   = "plan_suspended"
	PlanEnds        = "plan_ends"
	PlanCancelled   = "plan_cancelled"
	PlanEnded       = "plan_ended"
	ChangeDue       = "change_due"
	ChangePlanned   = "change_planned"
	ChangeLapsed    = "change_lapsed"
	PlanChanged     = "plan_changed"
)

// toPayers is what the customers of plans that are renewed are told.
var toPayers = map[string]Type{
	InvoiceDue:      Billing,
	InvoiceToCharge: Billing,
	ChargeFailed:    Billing,
	ChargeConfirm:   Billing,
	ChargeEnded:     Billing,
	MethodSaved:     Billing,
	MethodAdded:     Billing,
	InvoicePaid:     Billing,
	InvoiceWaived:   Billing,
	InvoicePartPaid: Billing,
	PaymentReminder: Billing,
	PaymentOverdue:  Billing,
	PlanSuspended:   Billing,
	PlanEnds:        Billing,
	PlanCancelled:   Billing,
	PlanEnded:       Billing,
	ChangeDue:       Billing,
	ChangePlanned:   Billing,
	ChangeLapsed:    Billing,
	PlanChanged:     Billing,
	PaymentReceived: Billing,
	PaymentReversed: Billing,
	CreditReturned:  Billing,
	CreditPaidOut:   Billing,

	"change_dropped": Billing,
}
