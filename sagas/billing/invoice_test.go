package billing_test

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
	"hostpanel/sagas/sagastest"
)

// invoiced is the invoice of an order.
func invoiced(w *sagastest.World, id uuid.UUID) billing.InvoiceIssued {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), billing.Issue{Order: id}.Stream())
	w.Must(err)
	return history[0].Event.(billing.InvoiceIssued)
}

// An invoice names the seller, and says in the language of the order what was bought.
func TestAnInvoiceSpeaksTheLanguageOfItsOrder(t *testing.T) { // M-3
	t.Parallel()
	seller := billing.Seller{Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", Country: "ES", TaxID: "ESB12345678"}
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Policy.Seller = seller }).Goes()
	for _, c := range []struct {
		bought      sagastest.OrderForm
		minor       int64
		said, setup string
	}{
		{sagastest.OrderForm{Language: "es"}, 1210, "Basic (mensual) 12.10", ""},
		{
			sagastest.OrderForm{Language: "es", Period: order.Yearly, Price: "2.99", Setup: "10.00"},
			3870,
			"Basic (anual) 28.70", "Cuota de alta 10.00", //nolint:misspell // Spanish
		},
		{sagastest.OrderForm{Language: "en", Price: "12.104", Setup: "0.003"}, 1211, "Basic (monthly) 12.10", "Setup fee 0.01"},
	} {
		c.bought.Kind = "saas"
		id := w.Place(c.bought)
		w.Pay.Pay(id, func(p *order.Payment) { p.Minor = c.minor })
		w.Must(w.Webhook("evt_"+id.String(), id))
		w.Becomes(id, order.StatusActive)
		invoice, sum := invoiced(w, id), decimal.Zero
		said := []string{"", ""}
		for i, line := range invoice.Lines {
			said[i], sum = line.Text+" "+line.Total.StringFixed(2), sum.Add(line.Total)
		}
		w.Equal("lines", said[0]+", "+said[1], c.said+", "+c.setup)
		w.Equal("the sum of the lines is the total", sum.Equal(invoice.Total), true)
		w.Equal("the seller", invoice.Seller, seller)
		period := invoice.Lines[0]
		w.Equal(
			"when the period ends", period.PeriodEnd,
			billing.PeriodStart(period.PeriodStart, string(cmp.Or(c.bought.Period, order.Monthly)), 1),
		)
	}
}

// The first invoice names the address that the order names, and each later one that of the
// last. So do the orders that pay them.
func TestEveryInvoiceNamesTheAddressOfItsBuyer(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	details := buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"}
	id := w.Serves(sagastest.OrderForm{Kind: "saas", Details: details})
	w.Until(id, "billing.period_invoiced", 1)
	paidBy := w.Pays(id)
	w.Becomes(paidBy, order.StatusActive)
	payer, err := w.Tables.For(projections.System).Orders().Order(t.Context(), paidBy)
	w.Must(err)
	w.Equal("the order that pays", payer.Details(), details)
	all := w.Invoices(id)
	w.Equal("invoices", len(all), 2)
	for _, i := range all {
		w.Equal("buyer of "+i.Number, i.Details(), details)
	}
	w.Equal("the address in one line", all[1].AddressLine(), "Gran Vía 2, 48001 Bilbao, ES")
	w.Equal("events with clear texts", w.Count(`select count(*) from events
		where data::text ~ 'Gran Vía|Bilbao|"48001"|ESB87654321|"customer_country": ?"ES"'`), 0)
}
