package billing_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// taxedBy is a world whose seller is in Spain and taxes by a mode.
func taxedBy(t *testing.T, mode tax.Mode) (*sagastest.Renewals, tax.Policy) {
	t.Helper()
	policy := tax.Policy{Mode: mode, Home: "ES", Rates: tax.European()}
	return sagastest.RenewalsOn(sagastest.NewWorldWithClock(t, func(o *assembly.Options) {
		o.Policy.Tax = policy
		o.Policy.Seller = billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678"}
	})), policy
}

// taxOf tells how an invoice is taxed.
func taxOf(i projections.Invoice) string {
	return fmt.Sprintf("%s %s %s %% of %s: %s + %s, accepted by %q",
		i.TaxKind, i.TaxCountry, i.TaxRate, i.Total.StringFixed(2), i.Subtotal.StringFixed(2), i.Tax.StringFixed(2), i.TaxIDAcceptedBy)
}

// A business of another member state pays the price without the seller's tax: with its
// order, with each renewal, and back with a credit note.
func TestABusinessOfAnotherMemberStateOwesTheTaxItself(t *testing.T) {
	t.Parallel()
	w, policy := taxedBy(t, tax.Seller)
	french := buyer.Details{City: "Lyon", Country: "FR", TaxID: "FR12345678901"}
	id := w.Place(sagastest.OrderForm{Kind: "saas", Setup: "12.10", Details: french, Taxes: policy})
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = 2000 })
	w.Must(w.Webhook("evt_"+id.String(), id))
	w.Becomes(id, order.StatusActive)
	const first = `reverse_charge FR 0 % of 20.00: 20.00 + 0.00, accepted by "system:storefront"`
	w.Equal("the first invoice", taxOf(w.Invoices(id)[0]), first)
	w.Equal("its lines", w.Invoices(id)[0].Lines[0].Total.StringFixed(2)+" "+w.Invoices(id)[0].Lines[1].Total.StringFixed(2), "10.00 10.00")
	w.Equal("the price of a period, tax included", w.Subscription(id).Price.StringFixed(2), "12.10")

	w.Until(id, "billing.period_invoiced", 1)
	const renewal = `reverse_charge FR 0 % of 10.00: 10.00 + 0.00, accepted by "system:storefront"`
	w.Equal("the renewal", taxOf(w.Invoices(id)[1]), renewal)
	page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Subscription(id).Open})
	w.Must(err)
	payer, err := w.Tables.For(projections.System).Orders().Order(t.Context(), page.ID)
	w.Must(err)
	w.Equal("the order that pays", fmt.Sprint(payer.TaxKind, payer.Total, payer.Minor, payer.TaxRate), "reverse_charge10 1000 0")
	w.Pay.Pay(page.ID, func(p *order.Payment) { p.Minor = 1000 })
	w.Must(w.Webhook("evt_"+page.ID.String(), page.ID))
	w.Becomes(page.ID, order.StatusActive)

	w.Must(w.Back(page.ID, ""))
	w.Refunded(page.ID)
	w.Eventually("the refund is credited", func() bool {
		notes, err := w.Tables.For(projections.System).Billing().CreditNotesOfInvoice(t.Context(), w.Invoices(id)[1].ID)
		w.Must(err)
		return len(notes) == 1 && notes[0].TaxKind == tax.ReverseCharge && notes[0].Total.Equal(notes[0].Subtotal) && notes[0].Tax.IsZero()
	})
}

// A buyer in the Canary Islands pays the price without tax, with the order and with each renewal. A
// service that was sold to one with tax is renewed without it.
func TestABuyerOutsideTheVATOfTheUnionPaysNone(t *testing.T) {
	t.Parallel()
	w, policy := taxedBy(t, tax.OSS)
	canary := buyer.Details{City: "Las Palmas", PostalCode: "35001", Country: "ES"}
	id := w.Place(sagastest.OrderForm{Kind: "saas", Details: canary, Taxes: policy})
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = 1000 })
	w.Must(w.Webhook("evt_"+id.String(), id))
	w.Becomes(id, order.StatusActive)
	taxed := w.Serves(sagastest.OrderForm{Kind: "saas", Details: canary}) // by a single rate
	const untaxed = `outside ES-CN 0 % of 10.00: 10.00 + 0.00, accepted by ""`
	w.Equal("the first invoice", taxOf(w.Invoices(id)[0]), untaxed)
	for _, service := range []uuid.UUID{id, taxed} {
		w.Until(service, "billing.period_invoiced", 1)
		w.Equal("the renewal", taxOf(w.Invoices(service)[1]), untaxed)
	}
}

// A panel that begins to tax by country taxes the next renewal so. An id that was never
// checked is taken by its form, or the buyer is a consumer.
func TestARenewalIsTaxedByTheRulesOfItsDay(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"FR12345678901": `reverse_charge FR 0 % of 10.00: 10.00 + 0.00, accepted by "system:billing"`,
		"12345":         `oss FR 20 % of 12.10: 10.08 + 2.02, accepted by ""`,
	} {
		w, _ := taxedBy(t, tax.OSS)
		sold := w.Serves(sagastest.OrderForm{Kind: "saas", Details: buyer.Details{Country: "FR", TaxID: id}}) // by a single rate
		w.Until(sold, "billing.period_invoiced", 1)
		w.Equal("the first", taxOf(w.Invoices(sold)[0]), `  21 % of 12.10: 10.00 + 2.10, accepted by ""`)
		w.Equal("the renewal of "+id, taxOf(w.Invoices(sold)[1]), want)
	}
}
