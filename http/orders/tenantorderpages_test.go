package orders_test

import (
	"net/url"

	"hostpanel/paneltest"
)

// orderForm is the form of the page that orders a service, with these values.
func orderFormOf(b *paneltest.Browser, fields ...string) url.Values {
	sent := url.Values{"form": {"order_service"}}
	for _, hidden := range paneltest.Elements(b.Page, "input") {
		if name := paneltest.Attribute(hidden, "name"); name == "form_token" || name == "number" {
			sent.Set(name, paneltest.Attribute(hidden, "value"))
		}
	}
	for i := 0; i < len(fields); i += 2 {
		sent.Set(fields[i], fields[i+1])
	}
	return sent
}
