package http_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/paneltest"
)

// An entry is the record that the routes of these tests show.
type entry struct{ Text string }

func (e *entry) Fields() field.Set { return field.Set{field.Text("text", &e.Text).Required()} }

// rules are the access rules for those who have signed in to the panel.
func rules(s *paneltest.Shop) []route.Access {
	p := s.Server
	callers := caller.New(caller.Deps{
		Tables: p.Tables, Commands: p.Commands, Credentials: p.Credentials, Sessions: p.Sessions, Limits: p.Limits, Once: p.Once,
		TokenKeys: p.TokenKeys, PublicURL: p.Settings.PublicURL, Abuse: p.Settings.Abuse, Factor: p.Settings.Factor,
		Now: p.Now, AsOf: p.AsOf, Log: p.Log, Caches: &caller.Caches{},
	})
	return []route.Access{callers.User(), callers.Writing(), callers.TenantAdmin(), callers.Superuser()}
}

// probes has one route for each access rule.
func probes(s *paneltest.Shop) http.Handler {
	find := func(_ context.Context, c route.Call) (any, string, error) {
		if c.ID("id") != 1 {
			return nil, "", route.Missing("Entry")
		}
		return &entry{}, "entry-1-7", nil
	}
	show := func(context.Context, route.Call) (*entry, error) { return &entry{"hello"}, nil }
	change := func(_ context.Context, _ route.Call, e *entry) (*entry, error) { return e, nil }
	var areas []route.Area
	for _, access := range rules(s) {
		path := "/" + strings.ReplaceAll(access.Rule, " ", "-") + "/{id:int}/"
		areas = append(areas, route.Area{Name: access.Rule, Access: access, Routes: []route.Route{
			route.Get(path, "Show", show).Of("Entry").Finding(find),
			route.Put(path, "Replace", change).Of("Entry").Finding(find),
		}})
	}
	return route.Mount(route.Options{Log: s.Server.Log}, areas...)
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Root, At: time.Now()})
	probes := probes(s)
	call := func(method, path, token, body string, headers ...string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		probes.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	who := []string{"", "eve", "ben", "ana", "root"} // anonymous, without tenant, member, administrator, superuser
	for rule, may := range map[string][]int{
		"user":                         {401, 200, 200, 200, 200},
		"user-with-an-active-tenant":   {401, 403, 200, 200, 200},
		"tenant-administrator":         {401, 403, 403, 200, 200},
		"superuser":                    {401, 403, 403, 403, 200},
		"user-with-an-active-tenant//": {404, 404, 404, 404, 404}, // the path comes before credentials
	} {
		for i, name := range who {
			token := s.Known[name]
			if status, body := call("GET", "/"+rule+"/1/", token, ""); status != may[i] {
				t.Errorf("%s by %q: %d %s", rule, name, status, body)
			}
			if may[i] == 200 {
				continue
			}
			// A refusal reveals nothing about the method, the object, its version or the body.
			for _, at := range []string{"/1/", "/99/"} {
				for _, method := range []string{"PUT", "DELETE", "OPTIONS", "HEAD"} {
					if status, body := call(method, "/"+rule+at, token, `{"broken`, "If-Match", `"entry-1-1"`); status != may[i] {
						t.Errorf("%s %s%s by %q: %d %s", method, rule, at, name, status, body)
					}
				}
			}
		}
	}
}

func TestWhoMayHearsOfTheMethodTheObjectItsVersionAndTheBodyInThisOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	probes := probes(s)
	for _, c := range []struct {
		method, path, match string
		want                int
		body                string
	}{
		{"DELETE", "/tenant-administrator/99/", `"entry-1-1"`, 405, `{"detail":"Method \"DELETE\" not allowed."}`},
		{"PUT", "/tenant-administrator/99/", `"entry-1-1"`, 404, `{"detail":"No Entry matches the given query."}`},
		{
			"PUT", "/tenant-administrator/1/", `"entry-1-1"`, 412,
			`{"detail":"The resource was changed in the meantime.","code":"precondition_failed"}`,
		},
		{
			"PUT", "/tenant-administrator/1/", `"entry-1-7"`, 400,
			`{"detail":"JSON parse error - Unterminated string starting at: line 1 column 2 (char 1)"}`,
		},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(`{"broken`))
		r.Header.Set("Authorization", "Bearer "+s.Known["ana"])
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("If-Match", c.match)
		w := httptest.NewRecorder()
		if probes.ServeHTTP(w, r); w.Code != c.want || w.Body.String() != c.body {
			t.Errorf("%v: %d %s", c, w.Code, w.Body)
		}
	}
}

func TestAChangeWithoutActiveTenantSaysSo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	r := httptest.NewRequest("PUT", "/user-with-an-active-tenant/1/", nil)
	r.Header.Set("Authorization", "Bearer "+s.Known["eve"])
	w := httptest.NewRecorder()
	probes(s).ServeHTTP(w, r)
	if w.Code != http.StatusForbidden || w.Body.String() != `{"detail":"No active tenant.","code":"no_active_tenant"}` ||
		w.Header().Get("X-Error-Code") != "no_active_tenant" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
}
