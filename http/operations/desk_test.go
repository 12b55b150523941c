package operations_test

import (
	"net/http"
	"testing"

	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

func TestWhoSitsAtTheDeskSeesAndDoesWhatOrdersNeed(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/desk/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Desk(t)
		return s.Handler, s.Known
	})
}

func TestAnActionWithAReasonIsAnEventOfTheOperator(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	before := s.Count(t, `select max(position) from events`)
	for _, call := range [][3]string{
		{"orders/" + s.Known["unpaid"] + "/recheck/", `{"reason":"the customer called"}`, "operations.recheck_requested"},
		{"orders/" + s.Known["failed"] + "/retry/", `{"input":{"domain":"else.example"}}`, "order.provisioning_resumed"},
		{"webhook-inbox/1/replay/", ``, "operations.webhook_replayed"},
		{"webhook-inbox/replay/", `{"provider":"test","dry_run":false,"reason":"once more"}`, "operations.webhooks_replayed"},
	} {
		if w := s.Operate("POST", call[0], call[1]); w.Code != http.StatusAccepted {
			t.Fatal(call, w.Code, w.Body)
		}
		if n := s.Count(t, `select count(*) from events where position > $1 and name = $2 and actor = 'operator:1'`, before,
			call[2]); n != 1 {
			t.Errorf("%d events %s by the operator", n, call[2])
		}
	}
}

// A repeated action with the same idempotency key has no further effect.
func TestARepeatedActionActsOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	path, body := "orders/"+s.Known["failed"]+"/retry/", `{"input":{"domain":"else.example"}}`
	first := s.Operate("POST", path, body, "Idempotency-Key", "once")
	if first.Code != http.StatusAccepted {
		t.Fatal(first.Code, first.Body)
	}
	again := s.Operate("POST", path, body, "Idempotency-Key", "once")
	if again.Code != http.StatusAccepted || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s", again.Code, again.Body)
	}
	if n := s.Events(t, "order.provisioning_resumed"); n != 1 {
		t.Errorf("it went on %d times", n)
	}
}

// An action with another version of the order in If-Match is refused.
func TestAnActionOnAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	path := "orders/" + s.Known["failed"] + "/"
	tag := s.Operate("GET", path, "").Header().Get("ETag")
	if w := s.Operate("POST", path+"retry/", `{}`, "If-Match", `"order-1-1"`); w.Code != http.StatusPreconditionFailed ||
		w.Header().Get("ETag") != tag {
		t.Errorf("%d %s, now %s, seen %s", w.Code, w.Body, w.Header().Get("ETag"), tag)
	}
	if w := s.Operate("POST", path+"retry/", `{}`, "If-Match", tag); w.Code != http.StatusAccepted {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
