package http_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/sagas"
)

// An operator finds a run that has stopped, reads why, and lets it go on.
func TestAnOperatorLetsAStoppedRunGoOnInTheBrowser(t *testing.T) {
	t.Parallel()
	s := office(t).open(t)
	a := s.bought(t, "stuck.example")
	broken := faults.For(s.Pool(), "engine")
	if _, err := broken.Order(t.Context(), faults.Fault{Call: faults.Change, Kind: "site", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	s.accepted(t, "orders/"+a.ID+"/dispute/", `{"outcome":"open","reason":"a letter of the bank"}`) // its site has to rest
	var key string
	s.until(t, "the engine has refused", func() bool {
		return s.owner.QueryRow(t.Context(), `select key from saga_run where key like 'engine:%' and status = 'parked' limit 1`).Scan(&key) == nil
	})
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	page := "/storefront/runs/" + sagas.RunID(key).String() + "/"
	found := b.get("/storefront/runs/?status=parked&search=" + key).Body.String()
	has(t, found, page, key, "Change at the engine", `badge parked">stopped`, `<span class="count">1</span>`)
	if none := b.get("/storefront/runs/?search=nothing-like-it").Body.String(); strings.Contains(none, page) {
		t.Error("the search leaves what it does not name")
	}
	has(t, b.get(page).Body.String(), "Bring the engine to what is wanted", `<p class="mistake">`, "failed for good", "What was done outside", "Let it go on")
	if err := broken.Clear(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := b.send("retry_run"); w.Code != http.StatusBadRequest {
		t.Errorf("without a reason: %d", w.Code)
	}
	path, sent := b.fill("retry_run", "reason", "the engine is well again")
	twin := b.twin()
	goes(t, b.do("POST", path, sent.Encode()), page)
	twin.do("POST", path, sent.Encode())
	s.until(t, "it is done", func() bool {
		return s.count(t, `select count(*) from saga_run where key = $1 and status = 'done'`, key) == 1
	})
	has(t, b.get(page).Body.String(), "The run goes on.", `badge done">done`)
	if n := s.count(t, `select count(*) from events where name = 'saga.retried' and stream = $1`, "saga-"+sagas.RunID(key).String()); n != 1 {
		t.Errorf("it was let go on %d times", n)
	}
}

// A run that waits can be paused, goes on at once when it is
// released, and the setup of an order leads to the order.
func TestWhatOperatorsMayDoWithARunInTheBrowser(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	setup := b.get("/storefront/runs/" + s.known["parked"] + "/").Body.String()
	has(t, setup, "The setup of an order goes on with the order", "/storefront/orders/"+s.known["failed"]+"/", "Setup of an order", "Website of the domain", `badge parked">stopped`, "Order becomes active")
	if strings.Contains(setup, `value="retry_run"`) {
		t.Error("the setup of an order is let go on without the order")
	}
	s.accepted(t, "orders/"+s.known["running"]+"/cancel/", `{"reason":"ended by agreement"}`)
	s.stands(t, "deprovision:"+s.known["running"], "grace")
	page := "/storefront/runs/" + sagas.RunID("deprovision:"+s.known["running"]).String() + "/"
	has(t, b.get(page).Body.String(), "End of a service", "Keep it for a while", "waiting", "Release it")
	goes(t, b.send("pause", "reason", "the customer calls"), page)
	has(t, b.get(page).Body.String(), "The run is paused.", `badge paused">paused`)
	goes(t, b.send("resume", "reason", "they have called"), page)
	s.stands(t, "deprovision:"+s.known["running"], "grace")
	b.get(page)
	goes(t, b.send("release", "reason", "look again"), page)
	s.stands(t, "deprovision:"+s.known["running"], "grace")
	has(t, b.get(page).Body.String(), "The run is released.", "attempt 3: waits")
}

func TestThePagesOfRunsAreForEverybodyAndOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := desk(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	s.resident(t, 903, "not"+opMail, "en", false)
	for language, mail := range map[string]string{"en": opMail, "es": "es" + opMail} {
		b := s.browser(t).enter(mail)
		for _, path := range []string{"", "?status=nonsense&page=-1", "?status=parked", "?search=nothing", s.known["run"] + "/", s.known["parked"] + "/"} {
			w := b.get("/storefront/runs/" + path)
			if w.Code != http.StatusOK {
				t.Errorf("%s: %d", path, w.Code)
			}
			b.isForEverybody(t, language, w.Body.String())
		}
	}
	if w := s.browser(t).enter("not" + opMail).get("/storefront/runs/"); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}
