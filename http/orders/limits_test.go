package orders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

func TestAKeyMayCallSixtyTimesAMinuteAndNotOnceMore(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	answers := s.AtOnce(200, func(i int) *httptest.ResponseRecorder {
		if i%2 == 0 {
			return s.Call("DELETE", "/storefront/api/plans/", "", "X-API-Key", s.Known["scarce"]) // counts too
		}
		return s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["scarce"])
	})
	throttled := 0
	for _, w := range answers {
		if w.Code != http.StatusTooManyRequests {
			continue
		}
		throttled++
		wait := w.Header().Get("Retry-After")
		if want := `{"detail":"Request was throttled. Expected available in ` + wait +
			` seconds."}`; w.Body.String() != want || w.Header().Get("X-RateLimit-Remaining") != "0" {
			t.Errorf("%s %v", w.Body, w.Header())
		}
	}
	if throttled != 140 {
		t.Fatalf("%d of 200 calls were throttled", throttled)
	}
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"]); w.Code != http.StatusOK {
		t.Fatalf("another key got %d", w.Code)
	}
}

func TestOrdersInMassesAreSlowedDown(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) {
		s.Server.Settings.Abuse = true
		s.Orders.Offers[0].Configured, s.Orders.Offers[0].Live = true, true // and does not answer
	}).Stock(t)
	live := strings.Replace(paneltest.HostingOrder, `"test"`, `"stripe"`, 1)
	for range 10 {
		s.Order(t, http.StatusServiceUnavailable, live, "X-API-Key", s.Known["live"])
	}
	s.Order(t, http.StatusTooManyRequests, strings.Replace(live, "ana@", "ANA@", 1), "X-API-Key", s.Known["live"])
	s.Order(t, http.StatusServiceUnavailable, strings.Replace(live, "ana@", "bob@", 1), "X-API-Key", s.Known["live"])
	s.Order(t, http.StatusCreated, paneltest.HostingOrder) // a test key
	if n := s.Count(t, `select count(*) from rate_windows where key like '%ana%' or key like '%192.0.2%'`); n != 0 {
		t.Fatal("personal data stands in the rate windows")
	}
}

func TestWhoTriesManyKeysHasToWait(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true }).Stock(t)
	for _, key := range []string{"unknown", "mistyped"} {
		for i := range 62 {
			w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known[key])
			if want := map[bool]int{true: http.StatusUnauthorized, false: http.StatusTooManyRequests}[i < 60]; w.Code != want {
				t.Fatalf("try %d of a key that is %s: got %d, want %d", i+1, key, w.Code, want)
			}
		}
	}
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"]); w.Code != http.StatusOK {
		t.Fatalf("a good key got %d", w.Code)
	}
}

func TestARevokedKeyOpensNothingAnyMore(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	get := func() int {
		return s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["sister"]).Code
	}
	if code := get(); code != http.StatusOK {
		t.Fatal(code)
	}
	s.Do(t, paneltest.Revoke("Sister01"))
	s.Server.ForgetKey("Sister01")
	if code := get(); code != http.StatusUnauthorized {
		t.Fatal(code)
	}
	if n := s.Count(
		t,
		`select count(*) from api_key_uses where id = 'Sister01' and last_used_at = date_trunc('hour', last_used_at)`,
	); n != 1 {
		t.Fatal("the last use of the key is not known to the hour")
	}
}

func TestForgedWebhooksAreSlowedDownAndRealOnesAreNot(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true }).Stock(t)
	for i := range 62 {
		w := s.Call("POST", "/storefront/webhooks/test/", "{}")
		if want := map[bool]int{true: http.StatusBadRequest, false: http.StatusTooManyRequests}[i < 60]; w.Code != want {
			t.Fatalf("try %d: got %d, want %d", i+1, w.Code, want)
		}
	}
	for range 2 {
		if w := s.Webhook("/storefront/webhooks/test/", `{"id":"evt_1","type":"noise"}`); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}

func TestTheOwnerOfAKeyCanTellFromWhereItComes(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	from := func(origin string) int {
		return s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"], "Origin", origin).Code
	}
	s.AtOnce(50, func(int) *httptest.ResponseRecorder {
		return s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"], "Origin", "https://shop.example")
	})
	for _, origin := range []string{"https://shop.example", "https://Copied.example", "https://copied.example", ""} {
		if code := from(origin); code != http.StatusOK {
			t.Errorf("%s: %d", origin, code)
		}
	}
	if n := s.Events(t, "security.key_used_from_new_origin"); n != 2 {
		t.Errorf("%d websites were written down", n)
	}
	if n := s.Count(t, `select count(*) from events where stream = 'security-7' and data ->> 'key' = 'OpenKey1' and `+
		`actor = 'api_key:OpenKey1'`); n != 2 {
		t.Errorf("%d of them in the owner's journal", n)
	}
	for i := range 60 {
		from(fmt.Sprintf("https://%d.example", i))
	}
	if n := s.Events(t, "security.key_used_from_new_origin"); n != 50 {
		t.Errorf("%d made-up websites were written down", n)
	}
	if w := s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["bound"], "Origin",
		"https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if n := s.Events(t, "security.key_used_from_new_origin"); n != 50 {
		t.Error("a website that was refused counts as one of the key's")
	}
}
