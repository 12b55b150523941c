package paneltest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Desk is an office with running workers and three orders: an active one, one
// whose setup failed at the engine, and an unpaid one.
func Desk(t testing.TB) *Shop {
	t.Helper()
	s := desk.open(t).Start(t)
	s.Known["base"] = s.Public
	return s
}

var desk = fixture{make: func(t testing.TB) *Shop { return Office(t).Start(t).AtWork(t) }}

// AtWork places the orders of a desk.
func (s *Shop) AtWork(t testing.TB) *Shop {
	t.Helper()
	running := Read(t, s.Order(t, http.StatusCreated, strings.Replace(AHostingOrder, "{", `{"domain":"runs.example",`, 1)))
	s.Press(running, "action", "pay")
	s.Await(t, running, order.StatusActive)
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "site", Name: "fails.example", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	failed := Read(t, s.Order(t, http.StatusCreated, strings.Replace(AHostingOrder, "{", `{"domain":"fails.example",`, 1)))
	s.Press(failed, "action", "pay")
	s.Await(t, failed, order.StatusFailed)
	unpaid := Read(t, s.Order(t, http.StatusCreated, AHostingOrder))
	for name, a := range map[string]Answer{"running": running, "failed": failed, "unpaid": unpaid} {
		s.Known[name], s.Known[name+"_number"] = a.ID, a.Number
	}
	s.Do(t, Lonely.Report(time.Now()), ChangedAtEngine.Report(time.Now()))
	s.Known["changed"] = ChangedAtEngine.ID().String()
	s.Known["run"] = sagas.RunID("provision:" + running.ID).String()
	s.Known["parked"] = sagas.RunID("provision:" + failed.ID).String()
	s.Known["base"] = s.Public
	return s
}

// Lonely is the incident of a parked webhook.
var Lonely = seen.Trouble{Kind: seen.WebhookParked, Subject: "7", About: map[string]string{"webhook": "7", "provider": "test"}}

// ChangedAtEngine is the incident of an object that no record is about any more.
var ChangedAtEngine = seen.ChangedTrouble(1, "site", 4711, []string{"ip_address"})
