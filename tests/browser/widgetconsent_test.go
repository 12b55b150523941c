//go:build system

package browser_test

import (
	"testing"

	"hostpanel/paneltest"
)

// box is the box of the order form that asks whether renewals are charged by the payment method.
const box = `#hp-save_payment_method`

// A customer agrees on another website that the payment method is kept: by a box that is not
// ticked, and that the two languages put in words.
func TestACustomerAgreesOnAnotherSiteThatTheMethodIsKept(t *testing.T) {
	t.Parallel()
	for _, story := range []struct {
		language, order, sentence string
		ticks                     bool
	}{
		{"en", "Order now: Hosting S", "my renewals are charged by it", true},
		{"es", "Contratar: Hosting S", "mis renovaciones se cobran con ella", false},
	} {
		t.Run(story.language, func(t *testing.T) {
			t.Parallel()
			s := paneltest.Open(t).Stock(t).Start(t)
			w := site(t, s)
			w.form(11, paneltest.WidgetOne, "cards", story.language)
			p := w.page
			w.visit(`data-widget-id="`+paneltest.WidgetOne+`"`, "key", w.Known["key"])
			p.Click(`button[aria-label="` + story.order + `"]`)
			p.Type("#hp-customer_name", "Ana Ruiz")
			p.Type("#hp-customer_email", "ana@example.com")
			p.See(story.sentence)
			if ticked := p.Text(`deep("` + box + `").checked`); ticked != "false" {
				t.Errorf("the box is ticked beforehand: %s", ticked)
			}
			p.Accessible("the form with the box")
			if story.ticks {
				p.Click(box)
			}
			p.Click("dialog button[type=submit]")
			p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
			p.Click(`button[value="pay"]`)
			p.Until(`location.origin === "` + w.url + `"`)
			p.See(map[string]string{"en": "Everything is ready", "es": "Todo está listo"}[story.language])
			if kept := s.Events(t, "order.payment_method_kept"); kept == 1 != story.ticks {
				t.Errorf("%d methods are kept", kept)
			}
			w.clean()
		})
	}
}

// No box asks for what its provider does not do, and none where nothing is renewed for money.
func TestNoBoxAsksForWhatAProviderDoesNotKeep(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Server.Settings.Offers[2].Saves = false
	s.Rewire(t).Start(t)
	w := site(t, s)
	w.form(11, paneltest.WidgetOne, "cards", "en")
	w.visit(`data-widget-id="`+paneltest.WidgetOne+`"`, "key", w.Known["key"])
	w.buy()
	w.page.See("Continue to payment")
	if shown := w.page.Text(`deepAll("` + box + `")[0].closest(".field").hidden`); shown != "true" {
		t.Errorf("the box is hidden: %s", shown)
	}
	w.page.Click("dialog button[type=submit]")
	w.page.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	w.clean()
}
