package operations_test

import (
	"strings"
	"testing"

	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// A run that waits can be paused, goes on at once when it is
// released, and the setup of an order leads to the order.
func TestWhatOperatorsMayDoWithARunInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	setup := b.Get("/storefront/runs/" + s.Known["parked"] + "/").Body.String()
	paneltest.Has(t, setup, "The setup of an order goes on with the order", "/storefront/orders/"+s.Known["failed"]+"/",
		"Setup of an order", "Website of the domain", `badge parked">stopped`, "Order becomes active")
	if strings.Contains(setup, `value="retry_run"`) {
		t.Error("the setup of an order is let go on without the order")
	}
	s.Accepted(t, "orders/"+s.Known["running"]+"/cancel/", `{"reason":"ended by agreement"}`)
	s.Stands(t, "deprovision:"+s.Known["running"], "grace")
	page := "/storefront/runs/" + sagas.RunID("deprovision:"+s.Known["running"]).String() + "/"
	paneltest.Has(t, b.Get(page).Body.String(), "End of a service", "Keep it for a while", "waiting", "Release it")
	paneltest.Goes(t, b.Send("pause", "reason", "the customer calls"), page)
	paneltest.Has(t, b.Get(page).Body.String(), "The run is paused.", `badge paused">paused`)
	paneltest.Goes(t, b.Send("resume", "reason", "they have called"), page)
	s.Stands(t, "deprovision:"+s.Known["running"], "grace")
	b.Get(page)
	paneltest.Goes(t, b.Send("release", "reason", "look again"), page)
	s.Stands(t, "deprovision:"+s.Known["running"], "grace")
	paneltest.Has(t, b.Get(page).Body.String(), "The run is released.", "attempt 3: waits")
}
