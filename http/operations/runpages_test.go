package operations_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/paneltest"
	"hostpanel/sagas"
)

// An operator finds a run that has stopped, reads why, and lets it go on.
func TestAnOperatorLetsAStoppedRunGoOnInTheBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t).Start(t)
	a := s.Bought(t, "stuck.example")
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{
		Call: faults.Change, Kind: "site", What: faults.Refuse,
		Times: 100,
	}); err != nil {
		t.Fatal(err)
	}
	s.Accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"a letter of the bank"}`) // its site has to rest
	var key string
	s.Until(t, "the engine has refused", func() bool {
		return s.Owner.QueryRow(
			t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`,
		).Scan(&key) == nil
	})
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/runs/" + sagas.RunID(key).String() + "/"
	found := b.Get("/storefront/runs/?status=parked&search=" + key).Body.String()
	paneltest.Has(t, found, page, key, "Change at the engine", `badge parked">stopped`, `<span class="count">1</span>`)
	if none := b.Get("/storefront/runs/?search=nothing-like-it").Body.String(); strings.Contains(none, page) {
		t.Error("the search leaves what it does not name")
	}
	paneltest.Has(t, b.Get(page).Body.String(), "Bring the engine to what is wanted", `<p class="mistake">`,
		"failed for good", "What was done outside", "Let it go on")
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := b.Send("retry_run"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	path, sent := b.Fill("retry_run", "reason", "the engine is well again")
	twin := b.Twin()
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), page)
	twin.Do("POST", path, sent.Encode())
	s.Until(t, "it is done", func() bool {
		return s.Count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
	paneltest.Has(t, b.Get(page).Body.String(), "The run goes on.", `badge done">done`)
	if n := s.Count(t, `select count(*) from events where name = 'saga.retried' and stream = $1`,
		"saga-"+sagas.RunID(key).String()); n != 1 {
		t.Errorf("it was let go on %d times", n)
	}
}

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
