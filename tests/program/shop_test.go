//go:build system

package program_test

import (
	"encoding/json"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// The first plan and the first key need no HTTP: with them a website can place
// an order.
func TestPlansAndKeysAreMadeFromTheCommandLine(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	said := h.Must("plans", "create", `name=Web "L"`, "price=7.99", "resource_type=hosting", "quota_sites=3")
	if !strings.Contains(said, "plan 4 is on offer") {
		t.Errorf("it says %s", said)
	}
	h.Must("plans", "create", `name=Web "L"`, "price=7.99", "resource_type=hosting") // a slug of its own
	h.Must("plans", "create", "name=Root", "price=12.00", "resource_type=vps", `vps_os_options=["debian-12"]`,
		"vps_default_os=debian-12")
	h.Must("plans", "change", "4", "price=8.49", "quota_sites=5")
	h.Must("nodes", "create", "name=alpha", "cores=4", "memory_mb=4096", "disk_gb=100")
	h.Must("nodes", "change", "1", "is_drained=true")
	if out := h.Must("nodes", "list"); !strings.Contains(out, "alpha") || !strings.Contains(out, "true") {
		t.Errorf("the node is not drained:\n%s", out)
	}
	h.Must("address-pools", "create", "name=blue", "network=192.0.2.0/24")
	h.Must("address-pools", "remove", "1")
	key := strings.TrimSpace(h.Must("keys", "create", "--mode", "test", "name=Our website"))
	shown := r.Ask(200, "GET", "/storefront/api/plans/", "", "X-API-Key", key).Body
	for _, want := range []string{`"name":"Web \"L\""`, `"price":"8.49"`, `"quota_sites":5`, `"name":"Root"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("the website does not see %s: %s", want, shown)
		}
	}
	mistakesOfTheShop(h, t)
	id := strings.Split(key, "_")[2][:8]
	h.Must("keys", "change", id, "rate_limit_per_minute=600", `allowed_domains=["https://shop.example"]`)
	list := h.Must("keys", "list")
	if strings.Contains(list, key) || !strings.Contains(list, id) || !strings.Contains(list, "600") {
		t.Errorf("the list should show the id, never the key:\n%s", list)
	}
	for _, args := range [][]string{{"plans", "list", "--json"}, {"keys", "list", "--json"}, {"nodes", "list", "--json"}} {
		if out := h.Must(args...); !json.Valid([]byte(out)) {
			t.Errorf("%v prints no JSON: %s", args, out)
		}
	}
	h.Must("keys", "revoke", id)
	processtest.Eventually(t, "the key opens nothing", func() bool {
		a, err := processtest.Call(t.Context(), "GET", r.Base+"/storefront/api/plans/", "", "X-API-Key", key)
		return err == nil && a.Status == 401
	})
	r.Stop()
	processtest.KeepsSecrets(t, r.Stderr(), key)
}

// mistakesOfTheShop are told in the words of the API.
func mistakesOfTheShop(h processtest.Home, t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		says string
		code int
		args []string
	}{
		{"price: This field is required.", console.Failed, []string{"plans", "create", "name=X", "resource_type=vps"}},
		{"slug: plan with this slug already exists.", console.Failed, []string{"plans", "change", "4", "slug=web-s"}},
		{`package: Invalid pk "99" - object does not exist.`, console.Failed, []string{"plans", "change", "4", "package=99"}},
		{"there is no plan 99", console.Failed, []string{"plans", "change", "99", "name=X"}},
		{"there is no key 00000000", console.Failed, []string{"keys", "revoke", "00000000"}},
		{"is not an active superuser", console.Failed, []string{
			"keys", "create", "--mode", "test", "--owner",
			"customer@demo.example", "name=X",
		}},
		{
			`"colour=red" is not FIELD=VALUE of a field: the fields are name`, console.Usage,
			[]string{"plans", "change", "4", "colour=red"},
		},
		{"mode", console.Usage, []string{"keys", "create", "name=X"}},
		{"disk_gb: This field is required.", console.Failed, []string{"nodes", "create", "name=x", "cores=1", "memory_mb=1"}},
		{"name: node with this name already exists.", console.Failed, []string{
			"nodes", "create", "name=alpha", "cores=1", "memory_mb=1", "disk_gb=1",
		}},
		{"there is no address pool 9", console.Failed, []string{"address-pools", "change", "9", "name=x"}},
	} {
		out, complaint, code := h.Command(c.args...)
		if code != c.code || out != "" || !strings.Contains(complaint, c.says) {
			t.Errorf("%v ends with %d: %s%s", c.args, code, out, complaint)
		}
	}
}
