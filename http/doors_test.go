package http_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/idempotency"
	"hostpanel/eventstore/ratelimit"
	"hostpanel/paneltest"
	"hostpanel/projections"
	"hostpanel/sagas/catalogue"
)

func TestAPasswordMayBeWrongFiveTimesFromOneNetwork(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for i := range 5 {
		if w := s.Try(fmt.Sprintf("192.0.2.%d:1", i+1), "ana@example.com", "wrong"); w.Code != http.StatusUnauthorized {
			t.Fatalf("try %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	for _, email := range []string{"ana@example.com", " ANA@Example.com"} {
		w := s.Try("192.0.2.200:1", email, paneltest.GoodPassword)
		paneltest.Has(t, w.Body.String(), `{"detail":"Request was throttled. Expected available in `, ` seconds."}`)
		if w.Code != http.StatusTooManyRequests || len(w.Header().Get("Retry-After")) != 3 ||
			w.Header().Get("X-Error-Code") != "throttled" {
			t.Fatalf("the right one: %d %s %v", w.Code, w.Body, w.Header())
		}
	}
	for _, elsewhere := range []string{"198.18.0.1:1", "[2001:db8::1]:1"} {
		if w := s.Try(elsewhere, "ana@example.com", paneltest.GoodPassword); w.Code != http.StatusOK {
			t.Fatalf("from %s: %d %s", elsewhere, w.Code, w.Body)
		}
	}
	if w := s.Try("192.0.2.1:1", "ben@example.com", paneltest.GoodPassword); w.Code != http.StatusOK {
		t.Fatalf("another account: %d %s", w.Code, w.Body)
	}
}

func TestNeighboursInIPv6AreOneNetwork(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for i := range 6 {
		want := http.StatusUnauthorized
		if i == 5 {
			want = http.StatusTooManyRequests
		}
		if w := s.Try(fmt.Sprintf("[2001:db8:0:1:%x::1]:1", i), "nobody@example.com", "wrong"); w.Code != want {
			t.Fatalf("try %d: %d %s", i, w.Code, w.Body)
		}
	}
}

func TestASuccessForgivesTheAccountsFailures(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for range 3 {
		for range 4 {
			if w := s.Try("192.0.2.1:1", "ana@example.com", "wrong"); w.Code != http.StatusUnauthorized {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		}
		if w := s.Try("192.0.2.1:1", "ana@example.com", paneltest.GoodPassword); w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}

func TestOneAddressMayBeWrongTwentyTimesAMinute(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	for i := range 20 {
		if w := s.Try("192.0.2.1:1", fmt.Sprintf("guess%d@example.com", i), "wrong"); w.Code != http.StatusUnauthorized {
			t.Fatalf("try %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	if w := s.Try("192.0.2.1:1", "ana@example.com", paneltest.GoodPassword); w.Code != http.StatusTooManyRequests ||
		len(w.Header().Get("Retry-After")) > 2 {
		t.Fatalf("%d %s %v", w.Code, w.Body, w.Header())
	}
	if w := s.Try("192.0.2.2:1", "ana@example.com", paneltest.GoodPassword); w.Code != http.StatusOK {
		t.Fatalf("its neighbour: %d %s", w.Code, w.Body)
	}
}

func TestTheCurrentPasswordCannotBeGuessedEither(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	change := func(current string) *httptest.ResponseRecorder {
		return s.Call("POST", "/api/me/password/", `{"current_password":"`+current+`","new_password":"another good one"}`,
			paneltest.Bearer(s.Known["ana"])...)
	}
	for i := range 5 {
		if w := change("wrong"); w.Code != http.StatusBadRequest {
			t.Fatalf("try %d: %d %s", i+1, w.Code, w.Body)
		}
	}
	if w := change(paneltest.GoodPassword); w.Code != http.StatusTooManyRequests {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	if n := s.Count(t, `select count(*) from events where name = 'security.sign_in_refused' and stream = 'security-2'`); n != 5 {
		t.Fatalf("%d refusals written down", n)
	}
}

// watched records every statement that the server sends to the database.
func watched(t *testing.T, s *paneltest.Shop) *eventstoretest.Witness {
	t.Helper()
	seen := &eventstoretest.Witness{}
	pool := eventstoretest.Traced(t, s.Pool(), 1, &eventstoretest.Tracer{Statement: seen.Note})
	other := &paneltest.Shop{Store: eventstore.Open(pool, catalogue.Events(), eventstoretest.Keys(t),
		eventstore.WithProjector(projections.Projector()), eventstore.WithIdempotencyKeys(idempotency.Statement),
		eventstoretest.Caused())}
	catalogue.Serve(other.Store)
	s.Server.Commands, s.Server.Limits, s.Server.Credentials, s.Server.Tokens = other.Store, ratelimit.Open(pool),
		other.Vault(), other.Vault()
	s.Server.Once = idempotency.Open(pool, other.Keys())
	s.Server.Tables = projections.Open(pool)
	s.Rewire(t)
	return seen
}

func TestWhatHappensAtTheDoorsIsWrittenDown(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Figures).People(t)
	s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	s.Try("192.0.2.1:1", "ana@example.com", "wrong")
	s.Try("192.0.2.1:1", "nobody@example.com", "wrong")
	for range 15 {
		s.Call("GET", "/metrics", "", paneltest.Bearer(s.Known["ben"])...)
		s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["gone"])...)
	}
	for stream, want := range map[string]map[string]int{
		"security-2": {"security.signed_in": 1, "security.sign_in_refused": 1},
		"security-0": {"security.sign_in_refused": 1},
		"security-3": {"security.access_denied": 10},
		"security-5": {"security.access_denied": 10},
	} {
		for name, n := range want {
			if got := s.Count(t, `select count(*) from events where stream = $1 and name = $2`, stream, name); got != n {
				t.Errorf("%s has %d %s, not %d", stream, got, name, n)
			}
		}
	}
	if n := s.Count(t, `select count(*) from events where data::text like '%192.0.2.1%'`); n != 0 {
		t.Errorf("%d events with an address in clear text", n)
	}
	if n := s.Count(t, `select count(*) from events where name = 'security.access_denied' and data ->> 'route' = `+
		`'/metrics' and data ->> 'method' = 'GET' and actor = 'user:3'`); n != 10 {
		t.Errorf("%d events name the route", n)
	}
	if n := s.Count(t, `select count(*) from users where last_login_at is not null`); n != 1 {
		t.Errorf("%d users have signed in", n)
	}
}

func TestAUserHasSixHundredCallsAMinute(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	w := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ana"])...)
	if w.Code != http.StatusOK || w.Header().Get("RateLimit-Policy") != `"user";q=600;w=60` ||
		w.Header().Get("X-RateLimit-Remaining") != "599" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	s.Call("DELETE", "/api/me/", "", paneltest.Bearer(s.Known["ana"])...) // counts too
	for range 598 {
		if _, err := ratelimit.Open(s.Pool()).Take(t.Context(), "user:2", 600, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	for _, method := range []string{"GET", "DELETE"} { // before the method is looked at
		w = s.Call(method, "/api/me/", "", paneltest.Bearer(s.Known["ana"])...)
		if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
			t.Fatalf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	if w = s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusOK {
		t.Fatalf("another user: %d", w.Code)
	}
}

func TestOfTwoWhoChangeTheSameVersionOneIsTold(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	tag := s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["eve"])...).Header().Get("ETag")
	changed, stale := 0, 0
	for _, w := range s.AtOnce(8, func(i int) *httptest.ResponseRecorder {
		return s.Call("PATCH", "/api/me/", fmt.Sprintf(`{"name":"Eve %d"}`, i),
			append(paneltest.Bearer(s.Known["eve"]), "If-Match", tag)...)
	}) {
		switch w.Code {
		case http.StatusOK:
			changed++
		case http.StatusPreconditionFailed:
			stale++
		default:
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if changed != 1 || stale != 7 {
		t.Fatalf("%d changed, %d stale", changed, stale)
	}
}

func TestARoleEndsWithTheNextCall(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Figures).People(t)
	me := func(name string) string {
		return s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known[name])...).Body.String()
	}
	paneltest.Has(t, me("ben"), `"active_tenant":1,`)
	s.Do(t, account.RevokeMembership{User: paneltest.Ben, Tenant: 1, At: time.Now()})
	paneltest.Has(t, me("ben"), `"active_tenant":null,"active_tenant_name":null,"memberships":[]`)
	s.Do(t, account.GrantSuperuser{User: paneltest.Ben, At: time.Now()})
	if w := s.Call("GET", "/metrics", "", paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusOK {
		t.Fatalf("a new superuser: %d %s", w.Code, w.Body)
	}
	s.Do(t, account.RevokeSuperuser{User: paneltest.Ben, At: time.Now()})
	if w := s.Call("GET", "/metrics", "", paneltest.Bearer(s.Known["ben"])...); w.Code != http.StatusUnauthorized ||
		w.Body.String() != paneltest.InvalidToken("Token is invalid") {
		t.Fatalf("a former superuser: %d %s", w.Code, w.Body)
	}
}

func TestNoTokenAndNoPasswordIsInTheLog(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Figures).People(t)
	got := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	s.Try("192.0.2.1:1", "ana@example.com", "a wrong secret")
	next := paneltest.Answered[paneltest.Tokens](t, s.Call("POST", "/api/token/refresh/", `{"refresh":"`+got.Refresh+`"}`))
	s.Call("POST", "/api/token/refresh/", `{"refresh":"`+got.Refresh+`"}`)
	s.Call("POST", "/api/token/blacklist/", `{"refresh":"`+next.Refresh+`"}`)
	s.Call("GET", "/api/me/", "", paneltest.Bearer(got.Access+"x")...)
	again := s.SignIn(t, "ana@example.com", paneltest.GoodPassword)
	changed := paneltest.Answered[paneltest.Tokens](t,
		s.Call("POST", "/api/me/password/", `{"current_password":"`+paneltest.GoodPassword+`","new_password":"another good one"}`,
			paneltest.Bearer(again.Access)...))
	var stored string
	if err := s.Owner.QueryRow(t.Context(), `select string_agg(t::text, ' ') from (
		select data::text || meta::text t from events union all select r::text from refresh_tokens r
		union all select f::text from refresh_families f
		union all select o::text from once_keys o union all select key from rate_windows) all_of_it`).Scan(&stored); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		got.Access, got.Refresh, next.Access, next.Refresh, changed.Access, changed.Refresh,
		paneltest.GoodPassword, "another good one", "a wrong secret", "ana@example.com",
	} {
		if strings.Contains(s.Logged.String(), secret) {
			t.Errorf("%.20s… is in the log", secret)
		}
		if strings.Contains(stored, secret) {
			t.Errorf("%.20s… is in the database", secret)
		}
	}
}
