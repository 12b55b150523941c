package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	seen "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/http/route/routetest"
	"hostpanel/sagas"
)

// desk is an office with running workers and three orders: an active one, one
// whose setup failed at the engine, and an unpaid one.
func desk(t *testing.T) *shop {
	t.Helper()
	return office(t).open(t).atWork(t)
}

// atWork places the orders of a desk.
func (s *shop) atWork(t *testing.T) *shop {
	t.Helper()
	running := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"domain":"runs.example",`, 1)))
	s.press(running, "action", "pay")
	s.await(t, running, order.StatusActive)
	if _, err := faults.For(s.Pool(), "engine").Order(t.Context(), faults.Fault{Call: faults.Create, Kind: "site", Name: "fails.example", What: faults.Refuse, Times: 100}); err != nil {
		t.Fatal(err)
	}
	failed := read(t, s.order(t, http.StatusCreated, strings.Replace(aHostingOrder, "{", `{"domain":"fails.example",`, 1)))
	s.press(failed, "action", "pay")
	s.await(t, failed, order.StatusFailed)
	unpaid := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	for name, a := range map[string]answer{"running": running, "failed": failed, "unpaid": unpaid} {
		s.known[name], s.known[name+"_number"] = a.ID, a.Number
	}
	s.do(t, lonely.Report(time.Now()), changedAtEngine.Report(time.Now()))
	s.known["changed"] = changedAtEngine.ID().String()
	s.known["run"] = sagas.RunID("provision:" + running.ID).String()
	s.known["parked"] = sagas.RunID("provision:" + failed.ID).String()
	s.known["base"] = s.public
	return s
}

// lonely is the incident of a parked webhook.
var lonely = seen.Trouble{Kind: seen.WebhookParked, Subject: "7", About: map[string]string{"webhook": "7", "provider": "test"}}

// changedAtEngine is the incident of an object that no record is about any more.
var changedAtEngine = seen.ChangedTrouble(1, "site", 4711, []string{"ip_address"})

func TestWhoSitsAtTheDeskSeesAndDoesWhatOrdersNeed(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/desk/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := desk(t)
		return s.handler, s.known
	})
}

func TestAnActionWithAReasonIsAnEventOfTheOperator(t *testing.T) {
	t.Parallel()
	s := desk(t)
	before := s.count(t, `select max(position) from events`)
	for _, call := range [][3]string{
		{"orders/" + s.known["unpaid"] + "/recheck/", `{"reason":"the customer called"}`, "operations.recheck_requested"},
		{"orders/" + s.known["failed"] + "/retry/", `{"input":{"domain":"else.example"}}`, "order.provisioning_resumed"},
		{"webhook-inbox/1/replay/", ``, "operations.webhook_replayed"},
		{"webhook-inbox/replay/", `{"provider":"test","dry_run":false,"reason":"once more"}`, "operations.webhooks_replayed"},
	} {
		if w := s.operate("POST", call[0], call[1]); w.Code != http.StatusAccepted {
			t.Fatal(call, w.Code, w.Body)
		}
		if n := s.count(t, `select count(*) from events where position > $1 and name = $2 and actor = 'operator:1'`, before, call[2]); n != 1 {
			t.Errorf("%d events %s by the operator", n, call[2])
		}
	}
}

// A repeated action with the same idempotency key has no further effect.
func TestARepeatedActionActsOnce(t *testing.T) {
	t.Parallel()
	s := desk(t)
	path, body := "orders/"+s.known["failed"]+"/retry/", `{"input":{"domain":"else.example"}}`
	first := s.operate("POST", path, body, "Idempotency-Key", "once")
	if first.Code != http.StatusAccepted {
		t.Fatal(first.Code, first.Body)
	}
	again := s.operate("POST", path, body, "Idempotency-Key", "once")
	if again.Code != http.StatusAccepted || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.Code, again.Body)
	}
	if n := s.events(t, "order.provisioning_resumed"); n != 1 {
		t.Errorf("it went on %d times", n)
	}
}

// An action with another version of the order in If-Match is refused.
func TestAnActionOnAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	s := desk(t)
	path := "orders/" + s.known["failed"] + "/"
	tag := s.operate("GET", path, "").Header().Get("ETag")
	if w := s.operate("POST", path+"retry/", `{}`, "If-Match", `"order-1-1"`); w.Code != http.StatusPreconditionFailed || w.Header().Get("ETag") != tag {
		t.Errorf("%d %s, now %s, seen %s", w.Code, w.Body, w.Header().Get("ETag"), tag)
	}
	if w := s.operate("POST", path+"retry/", `{}`, "If-Match", tag); w.Code != http.StatusAccepted {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
