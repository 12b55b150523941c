package billing_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
)

var (
	unpaid = func() billing.InvoiceIssued {
		i := numbered
		i.Status, i.DueAt = billing.Open, noon.Add(7*day)
		return i
	}()
	payer = uuid.MustParse("6f1c0d6e-0000-4000-8000-00000000000f")
	pay   = billing.Pay{ID: ana, By: payer, Method: "stripe", Reference: "pi_1", At: noon}
	paid  = billing.InvoicePaid{By: payer, Method: "stripe", Reference: "pi_1", At: noon}
)

func TestAnOpenInvoiceIsPaidOnce(t *testing.T) {
	open := issue
	open.ID, open.DueAt = ana, noon.Add(7*day)
	want := unpaid
	want.Sequence = 0
	domaintest.Given(t, billing.Invoices, nil).When(open).Then(want)
	if open.Stream().ID != ana.String() || issue.Stream().ID != order.String() {
		t.Error(open.Stream(), issue.Stream())
	}
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid}).When(pay).Then(paid)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, paid}).When(pay).Then()
	twice := pay
	twice.By = order
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, paid}).When(twice).ThenRefused(
		domain.Conflict, "The invoice is not open.",
	)
	domaintest.Given(t, billing.Invoices, nil).When(pay).ThenRefused(domain.NotFound, "No Invoice matches the given query.")
}

func TestAnInvoiceThatIsNotPaidIsWithdrawnAsAWhole(t *testing.T) {
	withdraw := billing.Withdraw{Invoice: ana, Reason: "cancelled", At: noon}
	note := note("cancelled", "28.70", "23.72", "4.98")
	note.Closes = true
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid}).When(withdraw).Then(note)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, note}).When(withdraw).Then()
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, note}).When(pay).ThenRefused(
		domain.Conflict, "The invoice is not open.",
	)
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid, paid}).When(withdraw).Then()
}

// Only the money that has paid an invoice is credited: that of a second payment goes back
// without a credit note.
func TestTheMoneyOfAnotherPaymentIsNotCredited(t *testing.T) {
	own := billing.Credit{Invoice: ana, Order: payer, Refund: "re_1", Amount: amount("28.70"), Rest: true, At: noon}
	other := own
	other.Order = order
	given := []billing.InvoiceEvent{unpaid, paid}
	domaintest.Given(t, billing.Invoices, given).When(own).Then(note("re_1", "28.70", "23.72", "4.98"))
	domaintest.Given(t, billing.Invoices, given).When(other).Then()
	domaintest.Given(t, billing.Invoices, []billing.InvoiceEvent{unpaid}).When(own).Then()
}
