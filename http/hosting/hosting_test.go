package hosting_test

import (
	"fmt"
	"net/http"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// What tenants do with what runs for them, as one would with curl.
func TestHostingConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/hosting/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.House(t)
		return s.Handler, s.Known
	})
}

// In a suspended tenant nothing is written, but by superusers; it is read as ever.
func TestNothingIsWrittenInASuspendedTenant(t *testing.T) {
	t.Parallel()
	s := paneltest.House(t)
	const path = "/hosting/api/rest/whitelabel/"
	call := func(who, method, path, body string) string {
		w := s.Call(method, path, body, append(paneltest.Bearer(s.Known[who]), "Content-Type", "application/json")...)
		return fmt.Sprint(w.Code, " ", w.Header().Get("X-Error-Code"))
	}
	if got := call("ana", "POST", path, `{"brand_name":"Bread"}`); got != "201 " {
		t.Fatal(got)
	}
	s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": []byte(`"suspended"`)}})
	for _, c := range []struct{ who, method, path, body, want string }{
		{"ana", "GET", path + "101/", "", "200 "},
		{"ana", "PATCH", path + "101/", "{", "403 tenant_suspended"},
		{"ana", "DELETE", path + "101/", "", "403 tenant_suspended"},
		{"ana", "PATCH", path + "999/", "{", "404 not_found"},
		{"ana", "POST", path, "{", "403 tenant_suspended"},
		{"root", "PATCH", path + "101/", `{"brand_name":"Milk"}`, "200 "},
	} {
		if got := call(c.who, c.method, c.path, c.body); got != c.want {
			t.Errorf("%s %s %s: %s, not %s", c.who, c.method, c.path, got, c.want)
		}
	}
}
