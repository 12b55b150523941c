package assembly_test

import (
	"cmp"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/buyer"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// invoiced is the invoice of an order.
func (w *world) invoiced(id uuid.UUID) billing.InvoiceIssued {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), billing.Issue{Order: id}.Stream())
	w.must(err)
	return history[0].Event.(billing.InvoiceIssued)
}

// An invoice names the seller, and says in the language of the order what was bought.
func TestAnInvoiceSpeaksTheLanguageOfItsOrder(t *testing.T) { // M-3
	t.Parallel()
	seller := billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678"}
	w := newWorld(t, func(o *assembly.Options) { o.Policy.Seller = seller }).goes()
	for _, c := range []struct {
		bought      ordering
		minor       int64
		said, setup string
	}{
		{ordering{language: "es"}, 1210, "Basic (mensual) 12.10", ""},
		{ordering{language: "es", period: order.Yearly, price: "2.99", setup: "10.00"}, 3870, "Basic (anual) 28.70", "Cuota de alta 10.00"}, //nolint:misspell // Spanish
		{ordering{language: "en", price: "12.104", setup: "0.003"}, 1211, "Basic (monthly) 12.10", "Setup fee 0.01"},
	} {
		c.bought.kind = "saas"
		id := w.place(c.bought)
		w.pay.pay(id, func(p *order.Payment) { p.Minor = c.minor })
		w.must(w.webhook("evt_"+id.String(), id))
		w.becomes(id, order.StatusActive)
		invoice, sum := w.invoiced(id), decimal.Zero
		said := []string{"", ""}
		for i, line := range invoice.Lines {
			said[i], sum = line.Text+" "+line.Total.StringFixed(2), sum.Add(line.Total)
		}
		w.equal("lines", said[0]+", "+said[1], c.said+", "+c.setup)
		w.equal("the sum of the lines is the total", sum.Equal(invoice.Total), true)
		w.equal("the seller", invoice.Seller, seller)
		period := invoice.Lines[0]
		w.equal("when the period ends", period.PeriodEnd, billing.PeriodStart(period.PeriodStart, string(cmp.Or(c.bought.period, order.Monthly)), 1))
	}
}

// The first invoice names the address that the order names, and each later one that of the
// last. So do the orders that pay them.
func TestEveryInvoiceNamesTheAddressOfItsBuyer(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	details := buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
	id := w.serves(ordering{kind: "saas", details: details})
	w.until(id, "billing.period_invoiced", 1)
	paidBy := w.pays(id)
	w.becomes(paidBy, order.StatusActive)
	payer, err := w.tables.For(projections.System).Order(t.Context(), paidBy)
	w.must(err)
	w.equal("the order that pays", payer.Details(), details)
	all := w.invoices(id)
	w.equal("invoices", len(all), 2)
	for _, i := range all {
		w.equal("buyer of "+i.Number, i.Details(), details)
	}
	w.equal("the address in one line", all[1].AddressLine(), "Gran Vía 2, 48001 Bilbao, ES")
	w.equal("events with clear texts", w.count(`select count(*) from events where data::text ~ 'Gran Vía|Bilbao|48001|ESB87654321|"customer_country": ?"ES"'`), 0)
}
