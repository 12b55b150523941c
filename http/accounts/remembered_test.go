package accounts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore/eventstoretest"
	panel "hostpanel/http"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// process is another process on the same database, with its own cache.
func process(s *paneltest.Shop) http.Handler {
	one := &panel.Server{
		Settings: s.Server.Settings, Once: s.Server.Once, Limits: s.Server.Limits, Commands: s.Store, Tables: s.Tables,
		TokenKeys: s.Server.TokenKeys, Log: s.Server.Log,
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
	s := paneltest.Open(t).People(t)
	s.Do(t, account.GrantSuperuser{User: paneltest.Eve, At: time.Now()})
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
		{
			"let in", "ben", othersPath, 404, 200, "",
			after(account.GrantMembership{User: paneltest.Ben, Tenant: 2, Role: account.Member, At: now}),
		},
		{
			"acting for another", "ben", "/api/me/", 200, 200, "",
			after(account.ActivateTenant{User: paneltest.Ben, Tenant: 2, At: now}),
		},
		{
			"turned out", "ben", itsTenant, 200, 404, "not_found",
			after(account.RevokeMembership{User: paneltest.Ben, Tenant: 1, At: now}),
		},
		{"promoted", "ben", usersPath, 403, 200, "", after(account.GrantSuperuser{User: paneltest.Ben, At: now})},
		{
			"demoted", "eve", usersPath, 200, 401, "token_not_valid",
			after(account.RevokeSuperuser{User: paneltest.Eve, At: now}),
		},
		{"demoted, with a new token", "eve again", usersPath, 403, 403, "permission_denied", func() error { return nil }},
		{"with another password", "ana", itsTenant, 200, 401, "password_changed", func() error {
			return s.Server.Accounts.Change(context.Background(), domain.Metadata{Actor: "user:2"}, paneltest.Ana,
				paneltest.GoodPassword+"!")
		}},
		{
			"deactivated", "ana again", itsTenant, 200, 401, "user_inactive",
			after(account.Deactivate{User: paneltest.Ana, At: now}),
		},
		{
			"active again, with the token of before", "ana again", itsTenant, 401, 401, "token_not_valid",
			after(account.Reactivate{User: paneltest.Ana, At: now}),
		},
		{
			"active again", "ana at last", itsTenant, 200, 401, "token_not_valid",
			after(account.EndSessions{User: paneltest.Ana, At: now}),
		},
		{"erased", "ben", "/api/me/", 200, 401, "user_not_found", func() error {
			return s.Server.Accounts.Erase(context.Background(), domain.Metadata{Actor: "operator:1"}, paneltest.Ben)
		}},
	} {
		s.Known["eve again"] = s.Token(t, paneltest.Eve, paneltest.With{"sv": 2})
		s.Known["ana again"], s.Known["ana at last"] = s.Token(t, paneltest.Ana, paneltest.With{"sv": 2}), s.Token(t,
			paneltest.Ana, paneltest.With{"sv": 3})
		here, elsewhere := process(s), process(s)
		for range 2 { // the second call is answered from the cache
			for _, process := range []http.Handler{here, elsewhere} {
				if w := reads(process, story.path, s.Known[story.token]); w.Code != story.before {
					t.Errorf("%s: %d before: %s", story.what, w.Code, w.Body)
				}
			}
		}
		if err := story.change(); err != nil {
			t.Fatal(story.what, err)
		}
		want := reads(process(s), story.path, s.Known[story.token]) // its cache is empty
		for _, process := range []http.Handler{here, elsewhere, here} {
			w := reads(process, story.path, s.Known[story.token])
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
	s := paneltest.Open(t).People(t)
	processes := []http.Handler{process(s), process(s)}
	var over, ended atomic.Bool
	var all sync.WaitGroup
	var before, afterwards atomic.Int64
	for i := range 100 {
		all.Go(func() {
			for !ended.Load() {
				late := over.Load()
				switch w := reads(processes[i%2], itsTenant, s.Known["ben"]); {
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
	paneltest.WaitFor(t, func() bool { return before.Load() > 200 })
	s.Do(t, account.RevokeMembership{User: paneltest.Ben, Tenant: 1, At: time.Now()})
	over.Store(true)
	paneltest.WaitFor(t, func() bool { return afterwards.Load() > 200 })
	ended.Store(true)
	all.Wait()
}

func TestWhoIsRememberedIsAskedForAlongWithWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	var trips atomic.Int64
	pool := eventstoretest.Traced(t, s.Readers, s.Readers.Config().MaxConns,
		&eventstoretest.Tracer{Trip: func() { trips.Add(1) }})
	s.Tables = projections.Open(pool)
	process := process(s)
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
			if w := reads(process, c.path, s.Known["ana"]); trips.Load() != want ||
				w.Header().Get("X-RateLimit-Remaining") == "" {
				t.Errorf("%s: %d round trips, %d %v", c.path, trips.Load(), w.Code, w.Header())
			}
		}
	}
	s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: 3, Role: account.Member, At: time.Now()})
	trips.Store(0)
	if w := reads(process, itsTenant, s.Known["ana"]); w.Code != http.StatusOK || trips.Load() != 3 {
		t.Errorf("%d after %d round trips", w.Code, trips.Load())
	}
	// Counting a change needs no second round trip.
	r := httptest.NewRequest("POST", itsTenant, nil)
	r.Header.Set("Authorization", "Bearer "+s.Known["ana"])
	w := httptest.NewRecorder()
	trips.Store(0)
	if process.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed || trips.Load() != 1 ||
		w.Header().Get("X-RateLimit-Remaining") == "" {
		t.Errorf("%d after %d round trips, %v", w.Code, trips.Load(), w.Header())
	}
}

// A call with a revoked token does not count against its user's rate limit.
func TestACallWithARevokedTokenIsNotCounted(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	reads(s.Handler, itsTenant, s.Known["ana"])
	s.Do(t, account.EndSessions{User: paneltest.Ana, At: time.Now()})
	for _, method := range []string{"GET", "DELETE", "GET"} {
		if w := s.Call(method, itsTenant, "", paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusUnauthorized ||
			w.Header().Get("X-RateLimit-Limit") != "" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
	}
	if w := reads(s.Handler, itsTenant, s.Token(t, paneltest.Ana,
		paneltest.With{"sv": 2})); w.Header().Get("X-RateLimit-Remaining") != "598" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
