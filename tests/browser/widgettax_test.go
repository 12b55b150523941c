//go:build system

package browser_test

import (
	"testing"

	"hostpanel/domain/tax"
	"hostpanel/paneltest"
)

// Where tax follows from the buyer, the form asks for the country and the tax id, and shows a
// business of another member state what it will pay, as it shows buyers outside the union.
func TestABusinessSeesOnAnotherSiteWhatItPaysWithoutTax(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).TaxedBy(tax.OSS)
	s.Server.Settings.Tax = s.Orders.Tax
	s.Rewire(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	p := w.page
	w.visit(`data-widget-id="`+paneltest.WidgetOne+`"`, "key", w.Known["key"])
	w.buy()
	p.See("Continue to payment · €2.99")
	p.Type("#hp-customer_tax_id", "FR12345678901")
	p.See("Continue to payment · €2.99") // a business of the seller's country
	choose := func(country string) {
		p.Text(`(([country]) => { country.value = "` + country + `"; country.dispatchEvent(new Event("input", { bubbles: true, ` +
			`composed: true })); })(deepAll("#hp-customer_country"))`)
	}
	choose("US")
	p.See("Tax, which does not apply there")
	p.See("Continue to payment · €2.47")
	choose("ES")
	p.See("Continue to payment · €2.99")
	p.Type("#hp-customer_postal_code", "35 001") // Las Palmas
	p.See("Tax, which does not apply there")
	p.See("Continue to payment · €2.47")
	choose("FR")
	p.See("Tax, which you owe yourself (reverse charge)")
	p.See("Continue to payment · €2.47")
	p.Click("dialog button[type=submit]")
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	p.See("€2.47")
	w.clean()
}
