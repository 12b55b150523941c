package http_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/eventstoretest"
	panel "hostpanel/http"
	"hostpanel/projections"
)

// process is another process on the same database, with its own cache.
func (s *shop) process() http.Handler {
	one := &panel.Server{
		Settings: s.server.Settings, Once: s.server.Once, Limits: s.server.Limits, Commands: s.Store, Tables: s.Tables, TokenKeys: s.server.TokenKeys, Log: s.server.Log,
	}
	return one.Handler()
}

// reads sends a GET to a process.
func reads(process http.Handler, path, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("X-Request-Id", "the-same-for-all")
	w := httptest.NewRecorder()
	process.ServeHTTP(w, r)
	return w
}

const (
	itsTenant  = "/hosting/api/rest/tenants/1/"
	othersPath = "/hosting/api/rest/tenants/2/"
	usersPath  = "/operations/api/v1/users/"
)

func TestChangesOfACachedCallerHoldFromTheNextCallOn(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.do(t, account.GrantSuperuser{User: eve, At: time.Now()})
	after := func(commands ...domain.Command) func() error {
		return func() error {
			_, err := s.Execute(context.Background(), domain.Metadata{Actor: "test"}, commands...)
			return err
		}
	}
	now := time.Now()
	for _, story := range []struct {
		what         string
		token, path  string
		before, then int
		code         string
		change       func() error
	}{
		{"let in", "ben", othersPath, 404, 200, "", after(account.GrantMembership{User: ben, Tenant: 2, Role: account.Member, At: now})},
		{"acting for another", "ben", "/api/me/", 200, 200, "", after(account.ActivateTenant{User: ben, Tenant: 2, At: now})},
		{"turned out", "ben", itsTenant, 200, 404, "not_found", after(account.RevokeMembership{User: ben, Tenant: 1, At: now})},
		{"promoted", "ben", usersPath, 403, 200, "", after(account.GrantSuperuser{User: ben, At: now})},
		{"demoted", "eve", usersPath, 200, 401, "token_not_valid", after(account.RevokeSuperuser{User: eve, At: now})},
		{"demoted, with a new token", "eve again", usersPath, 403, 403, "permission_denied", func() error { return nil }},
		{"with another password", "ana", itsTenant, 200, 401, "password_changed", func() error {
			return s.server.Accounts.Change(context.Background(), domain.Metadata{Actor: "user:2"}, ana, goodPassword+"!")
		}},
		{"deactivated", "ana again", itsTenant, 200, 401, "user_inactive", after(account.Deactivate{User: ana, At: now})},
		{"active again, with the token of before", "ana again", itsTenant, 401, 401, "token_not_valid", after(account.Reactivate{User: ana, At: now})},
		{"active again", "ana at last", itsTenant, 200, 401, "token_not_valid", after(account.EndSessions{User: ana, At: now})},
		{"erased", "ben", "/api/me/", 200, 401, "user_not_found", func() error {
			return s.server.Accounts.Erase(context.Background(), domain.Metadata{Actor: "operator:1"}, ben)
		}},
	} {
		s.known["eve again"] = s.token(t, eve, with{"sv": 2})
		s.known["ana again"], s.known["ana at last"] = s.token(t, ana, with{"sv": 2}), s.token(t, ana, with{"sv": 3})
		here, elsewhere := s.process(), s.process()
		for range 2 { // the second call is answered from the cache
			for _, process := range []http.Handler{here, elsewhere} {
				if w := reads(process, story.path, s.known[story.token]); w.Code != story.before {
					t.Errorf("%s: %d before: %s", story.what, w.Code, w.Body)
				}
			}
		}
		if err := story.change(); err != nil {
			t.Fatal(story.what, err)
		}
		want := reads(s.process(), story.path, s.known[story.token]) // its cache is empty
		for _, process := range []http.Handler{here, elsewhere, here} {
			w := reads(process, story.path, s.known[story.token])
			if w.Code != story.then || w.Header().Get("X-Error-Code") != story.code || w.Body.String() != want.Body.String() {
				t.Errorf("%s: %d %s: %s, not %s", story.what, w.Code, w.Header().Get("X-Error-Code"), w.Body, want.Body)
			}
			if len(w.Header()) != len(want.Header()) {
				t.Errorf("%s: %v, not %v", story.what, w.Header(), want.Header())
			}
		}
	}
}

// Many simultaneous calls to two processes while a role is revoked.
func TestNoCallThatBeginsAfterARevocationSeesAnything(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	processes := []http.Handler{s.process(), s.process()}
	var over, ended atomic.Bool
	var all sync.WaitGroup
	var before, afterwards atomic.Int64
	for i := range 100 {
		all.Go(func() {
			for !ended.Load() {
				late := over.Load()
				switch w := reads(processes[i%2], itsTenant, s.known["ben"]); {
				case w.Code == http.StatusOK && late:
					t.Errorf("a late call was answered: %s", w.Body)
					return
				case w.Code == http.StatusOK:
					before.Add(1)
				case w.Code == http.StatusNotFound:
					afterwards.Add(1)
				default:
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
			}
		})
	}
	waitFor(t, func() bool { return before.Load() > 200 })
	s.do(t, account.RevokeMembership{User: ben, Tenant: 1, At: time.Now()})
	over.Store(true)
	waitFor(t, func() bool { return afterwards.Load() > 200 })
	ended.Store(true)
	all.Wait()
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Error("nothing happens")
			return
		}
	}
}

// Each of the six hundred calls counts once, also those that start again because
// the caller's rights have changed.
func TestSixHundredCallsAreCountedOnceOverTwoProcesses(t *testing.T) {
	t.Parallel()
	s := openShop(t, guarded).people(t)
	processes := []http.Handler{s.process(), s.process()}
	paths := []string{itsTenant, "/hosting/api/rest/tenants/", "/api/me/", "/hosting/api/rest/tenants/99/"}
	var left []int
	refused := 0
	for i, w := range s.atOnce(700, func(i int) *httptest.ResponseRecorder {
		if i%70 == 0 {
			s.do(t, account.GrantMembership{User: ana, Tenant: int64(100 + i), Role: account.Member, At: time.Now()})
		}
		if i%7 == 0 { // writing calls read the caller from the database first
			return s.call("TRACE", paths[i%4&^1], "", bearer(s.known["ana"])...)
		}
		return reads(processes[i%2], paths[i%4], s.known["ana"])
	}) {
		n, err := strconv.Atoi(w.Header().Get("X-RateLimit-Remaining"))
		switch {
		case err != nil:
			t.Errorf("call %d: %d without a limit: %s", i, w.Code, w.Body)
		case w.Code == http.StatusTooManyRequests:
			refused++
		default:
			left = append(left, n)
		}
	}
	slices.Sort(left)
	for i := range left {
		if left[i] != i {
			t.Fatalf("%d calls left at the %d-th: %v", left[i], i, left)
		}
	}
	if len(left) != 600 || refused != 100 {
		t.Fatalf("%d were answered, %d refused", len(left), refused)
	}
}

func TestWhoIsRememberedIsAskedForAlongWithWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	s := openShop(t, guarded).people(t)
	var trips atomic.Int64
	pool := eventstoretest.Traced(t, s.readers, s.readers.Config().MaxConns, &eventstoretest.Tracer{Trip: func() { trips.Add(1) }})
	s.Tables = projections.Open(pool)
	process := s.process()
	for _, c := range []struct {
		path          string
		first, second int64
	}{
		{itsTenant, 2, 1},
		{"/hosting/api/rest/tenants/", 1, 1}, // answered from the cache
		{"/hosting/api/rest/sites/", 1, 1},
		{"/api/me/", 2, 2},
		{"/hosting/api/rest/tenants/99/", 1, 1},
		{"/hosting/api/rest/tenants/?page=nonsense", 1, 1}, // sends no further statement
	} {
		for _, want := range []int64{c.first, c.second} {
			trips.Store(0)
			if w := reads(process, c.path, s.known["ana"]); trips.Load() != want || w.Header().Get("X-RateLimit-Remaining") == "" {
				t.Errorf("%s: %d round trips, %d %v", c.path, trips.Load(), w.Code, w.Header())
			}
		}
	}
	s.do(t, account.GrantMembership{User: ana, Tenant: 3, Role: account.Member, At: time.Now()})
	trips.Store(0)
	if w := reads(process, itsTenant, s.known["ana"]); w.Code != http.StatusOK || trips.Load() != 3 {
		t.Errorf("%d after %d round trips", w.Code, trips.Load())
	}
	// Counting a change needs no second round trip.
	r := httptest.NewRequest("POST", itsTenant, nil)
	r.Header.Set("Authorization", "Bearer "+s.known["ana"])
	w := httptest.NewRecorder()
	trips.Store(0)
	if process.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed || trips.Load() != 1 || w.Header().Get("X-RateLimit-Remaining") == "" {
		t.Errorf("%d after %d round trips, %v", w.Code, trips.Load(), w.Header())
	}
}

// A call with a revoked token does not count against its user's rate limit.
func TestACallWithARevokedTokenIsNotCounted(t *testing.T) {
	t.Parallel()
	s := openShop(t, guarded).people(t)
	reads(s.handler, itsTenant, s.known["ana"])
	s.do(t, account.EndSessions{User: ana, At: time.Now()})
	for _, method := range []string{"GET", "DELETE", "GET"} {
		if w := s.call(method, itsTenant, "", bearer(s.known["ana"])...); w.Code != http.StatusUnauthorized || w.Header().Get("X-RateLimit-Limit") != "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if w := reads(s.handler, itsTenant, s.token(t, ana, with{"sv": 2})); w.Header().Get("X-RateLimit-Remaining") != "598" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
