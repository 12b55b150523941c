//go:build system

package census_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// In a suspended tenant its people write nothing, wherever in the hosting API.
func TestPeopleOfASuspendedTenantWriteNothingAnywhere(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	c.Do(t, hosting.Change{
		Ref:  hosting.Ref{Kind: "tenant", ID: tenantA},
		Spec: field.Values{"status": []byte(`"suspended"`)},
	})
	asked := 0
	for _, r := range c.routes() {
		if !strings.HasPrefix(r.Path, "/hosting/api/rest/") || r.Method == http.MethodGet ||
			strings.HasSuffix(r.Path, "/activate/") {
			continue
		}
		paths := c.paths(t, r.Path)
		path, named := paths[ofA]
		if !named {
			path, named = paths[ofNobody]
		}
		if !named || may(t, r.Method, r.Path, "administrator of A", ofA) != in {
			continue
		}
		asked++
		if w := c.ask(t, "administrator of A", r.Method, path); w.Code != http.StatusForbidden ||
			w.Header().Get("X-Error-Code") != "tenant_suspended" {
			t.Errorf("%s %s: %d %s", r.Method, path, w.Code, w.Body)
		}
		if w := c.ask(t, "administrator of B", r.Method,
			strings.Replace(path, paneltest.TenantOne, "/hosting/api/rest/tenants/22/",
				1)); w.Header().Get("X-Error-Code") == "tenant_suspended" {
			t.Errorf("%s %s of another tenant: %d %s", r.Method, path, w.Code, w.Body)
		}
	}
	if asked < 30 {
		t.Errorf("only %d calls were made", asked)
	}
}
