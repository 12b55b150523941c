//go:build system

package browser_test

import (
	"fmt"
	"os"
	"testing"

	"hostpanel/domain/storefront"
	"hostpanel/paneltest"
)

// looks shows the order form in a narrow and a wide window. With a folder in
// SCREENSHOTS (`make screenshots`) it does so in every width and both schemes.
func (w *storefrontSite) looks(name string, show func()) {
	w.t.Helper()
	for _, width := range []int64{320, 768, 1440} {
		for _, scheme := range []string{"light", "dark"} {
			isOneOfTwo := width == 320 && scheme == "dark" || width == 1440 && scheme == "light"
			if os.Getenv("SCREENSHOTS") == "" && !isOneOfTwo {
				continue
			}
			w.page.Size(width, 900)
			w.page.Prefers("prefers-color-scheme", scheme)
			show()
			what := fmt.Sprintf("%s-%d-%s", name, width, scheme)
			w.page.Accessible(what)
			if wide := w.page.Text("document.documentElement.scrollWidth > innerWidth"); wide != "false" {
				w.t.Errorf("%s: the page is wider than the window", what)
			}
			w.page.Picture(what)
		}
	}
}

func TestTheOrderFormIsAccessibleInEveryForm(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	w := site(t, s)
	p := w.page
	w.form(11, paneltest.WidgetOne, "cards", "en")
	w.form(12, paneltest.WidgetTwo, "table", "es", func(f *storefront.Widget) {
		f.RequirePhone, f.RequireCompany, f.PrimaryColor, f.AccentColor, f.BorderRadius = true, true, "#FFD400", "#FFE680", 0
	})
	cards, table := `data-widget-id="`+paneltest.WidgetOne+`" data-plan="2" data-period="yearly"`,
		`data-widget-id="`+paneltest.WidgetTwo+`"`
	w.looks("cards", func() { w.visit(cards); p.See("Your choice") })
	w.looks("table", func() { w.visit(table); p.See("Hosting S") })
	w.looks("form", func() { w.visit(cards); p.Click(`button[aria-label$=": VPS M"]`); p.Until(`deep("#hp-os_choice")`) })
	w.looks("mistakes", func() {
		w.visit(table)
		p.Click(`button[aria-label$=": Hosting S"]`)
		p.Click("dialog button[type=submit]")
		p.Until(`deep("#hp-customer_phone[aria-invalid=true]")`)
	})
	w.looks("refused", func() { w.visit(cards, "key", w.Known["expired"]); p.See("cannot be placed here") })
	a := paneltest.Read(t, s.Order(t, 201, paneltest.HostingOrder))
	w.looks("waiting", func() { w.visit(cards, "order_id", a.ID); p.See("waits for payment") })
}
