package paneltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Office is a stocked shop with people. The ids of new records begin at 101.
func Office(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	return office.give(t, Open(t, options...))
}

var office = fixture{make: func(t testing.TB) *Shop {
	s := Open(t).Stock(t).People(t)
	if _, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['user_id', 'plan_id', 'widget_id', `+
		`'tenant_id', 'site_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}}

// Operations is where the API of operators begins.
const Operations = "/operations/api/v1/"

// Operate is a call of the superuser.
func (s *Shop) Operate(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.Call(method, Operations+path, body, append(Bearer(s.Known["root"]), headers...)...)
}

// outcomes counts the answers by status and body.
func outcomes(answers []*httptest.ResponseRecorder) map[string]int {
	count := map[string]int{}
	for _, w := range answers {
		outcome := fmt.Sprint(w.Code)
		if w.Code >= http.StatusBadRequest {
			outcome += " " + w.Body.String()
		}
		count[outcome]++
	}
	return count
}

// Wins checks that one call succeeded, and all others got this refusal.
func Wins(t *testing.T, answers []*httptest.ResponseRecorder, success int, refusal string) {
	t.Helper()
	got := outcomes(answers)
	if got[fmt.Sprint(success)] != 1 || got[refusal] != len(answers)-1 {
		t.Fatalf("%v", got)
	}
}

// Decode reads an answer that has to have this status.
func Decode(t testing.TB, w *httptest.ResponseRecorder, status int, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); w.Code != status || err != nil {
		t.Fatalf("%d %s (%v), want %d", w.Code, w.Body, err, status)
	}
}

// Desk is an office with running workers and three orders: an active one, one
// whose setup failed at the engine, and an unpaid one.
func Desk(t testing.TB) *Shop {
	t.Helper()
	s := desk.give(t, Open(t)).Start(t)
	s.Known["base"] = s.Public
	return s
}

var desk = fixture{make: func(t testing.TB) *Shop { return Office(t).Start(t).AtWork(t) }}

// AtWork places the orders of a desk.
func (s *Shop) AtWork(t testing.TB) *Shop {
	t.Helper()
	running := Read(t, s.Order(t, http.StatusCreated, strings.Replace(HostingOrder, "{", `{"domain":"runs.example",`, 1)))
	s.Press(running, "action", "pay")
	s.Await(t, running, order.StatusActive)
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(),
		faults.Fault{Call: faults.Create, Kind: "site", Name: "fails.example", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	failed := Read(t, s.Order(t, http.StatusCreated, strings.Replace(HostingOrder, "{", `{"domain":"fails.example",`, 1)))
	s.Press(failed, "action", "pay")
	s.Await(t, failed, order.StatusFailed)
	unpaid := Read(t, s.Order(t, http.StatusCreated, HostingOrder))
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
var Lonely = seen.Trouble{
	Kind: seen.WebhookParked, Subject: "7",
	About: map[string]string{"webhook": "7", "provider": "test"},
}

// ChangedAtEngine is the incident of an object that no record is about any more.
var ChangedAtEngine = seen.ChangedTrouble(1, "site", 4711, []string{"ip_address"})

// Bought is an order for a site of this name, paid and active.
func (s *Shop) Bought(t *testing.T, site string) Answer {
	t.Helper()
	a := Read(t, s.Order(t, http.StatusCreated, strings.Replace(HostingOrder, "{", `{"domain":"`+site+`",`, 1)))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	return a
}

// Accepted makes a call of the superuser that has to be accepted, and returns the answer.
func (s *Shop) Accepted(t *testing.T, path, body string, headers ...string) string {
	t.Helper()
	w := s.Operate("POST", path, body, headers...)
	if w.Code != http.StatusAccepted {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// Stands waits until a run waits for its time at a step, and returns its path.
func (s *Shop) Stands(t *testing.T, key, step string) string {
	t.Helper()
	s.Until(t, key+" waits at "+step, func() bool {
		return s.Count(
			t, `select count(*) from saga_run where key = $1 and status = 'waiting' and steps -> step ->> 'name' = $2`,
			key, step,
		) == 1
	})
	return "sagas/" + sagas.RunID(key).String() + "/"
}

// OpMail is the address of an operator.
const OpMail = "op@example.com"
