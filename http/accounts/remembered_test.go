package accounts_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	panel "hostpanel/http"
	"hostpanel/paneltest"
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
