package hosting_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// restless is why a tenant is out of service.
func reasons(t *testing.T, s *paneltest.Shop, id int64) string {
	t.Helper()
	found, err := s.For(projections.System).Hosting().Among(t.Context(), "tenant", []int64{id})
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	slices.Sort(found[0].DisabledBy)
	var tenant hosting.Tenant
	if err := found[0].Load(&tenant); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(tenant.Status, found[0].DisabledBy)
}

func TestSubTenantsRestWithTheirParentAndComeBackExactly(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Start(t)
	reseller(t, s, 3, false)
	runs, one := subTenant(t, s, "One")
	rests, two := subTenant(t, s, "Two")
	_, three := subTenant(t, s, "Three")
	s.Do(t, account.GrantMembership{User: paneltest.Eve, Tenant: one, Role: account.Admin, At: time.Now()})
	site := func(id, tenant int64, active string) hosting.Ref {
		ref := hosting.Ref{Kind: "site", ID: id}
		spec := (&hosting.Site{Domain: fmt.Sprint("s", id, ".example")}).Fields().Values()
		spec["is_active"] = json.RawMessage(active)
		s.Do(t, hosting.Request{Ref: ref, Tenant: tenant, Spec: spec})
		return ref
	}
	sites := []hosting.Ref{
		site(501, one, "true"), site(502, one, "false"), site(503, two, "true"),
		site(504, three, "true"),
	}
	s.Answers(t, "PATCH", rests, `{"status":"suspended","suspended_reason":"Did not pay us"}`, map[string]int{"ana": 200})
	s.Do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: three}, By: hosting.ByOrder})
	paneltest.WaitFor(t, func() bool {
		return s.Count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 2
	})
	before, states := standing(t, s, sites), []string{reasons(t, s, one), reasons(t, s, two), reasons(t, s, three)}

	parent := hosting.Ref{Kind: "tenant", ID: 1}
	for name, turn := range map[string]func(off bool){
		"an operator": func(off bool) {
			patched(t, s, paneltest.TenantOne, `{"status":"`+map[bool]string{true: "suspended", false: "active"}[off]+`"}`)
		},
		"an order": func(off bool) {
			if off {
				s.Do(t, hosting.SuspendService{Ref: parent, By: hosting.ByOrder})
			} else {
				s.Do(t, hosting.ResumeService{Ref: parent, By: hosting.ByOrder})
			}
		},
	} {
		turn(true)
		paneltest.WaitFor(t, func() bool {
			return reasons(t, s, one) == "active[parent]" && reasons(t, s, two) == "suspended[parent]" &&
				reasons(t, s, three) == "active[order parent]"
		})
		paneltest.WaitFor(t, func() bool {
			return s.Count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 4
		})
		s.Answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"more.example"}`, map[string]int{"eve": 403})
		s.Answers(t, "PATCH", runs, `{"status":"active"}`, map[string]int{"ana": 403})
		turn(false)
		paneltest.WaitFor(t, func() bool {
			return slices.Equal([]string{reasons(t, s, one), reasons(t, s, two), reasons(t, s, three)}, states)
		})
		paneltest.WaitFor(t, func() bool {
			return s.Count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 2
		})
		for stream, is := range standing(t, s, sites) {
			if is != before[stream] {
				t.Errorf("%s: %s is %s, and was %s", name, stream, is, before[stream])
			}
		}
	}
}

func TestSubTenantsEndWithTheirParent(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Start(t)
	reseller(t, s, 3, false)
	one, id := subTenant(t, s, "One")
	s.Do(t, hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: 501}, Tenant: id,
		Spec: (&hosting.Site{Domain: "s.example", IsActive: true}).Fields().Values(),
	})
	// What an order has made stands on its own, whatever its parent is.
	bought := &hosting.Tenant{
		Name: "Bought", Email: "b@example.com", Slug: "bought", Username: "t77",
		CustomerNumber: "t77", Status: "active", IsActive: true, Limits: hosting.NoLimits(),
	}
	parent := int64(1)
	bought.Parent = &parent
	s.Do(t, hosting.Request{
		Ref: hosting.Ref{Kind: "tenant", ID: 77}, Tenant: 77, Spec: bought.Fields().Values(),
		For: "order:3f2504e0-4f89-41d3-9a0c-0305e82c3301",
	})
	s.Answers(t, "GET", tenantsAPI+"77/", "", map[string]int{"ana": 404})

	s.Answers(t, "DELETE", paneltest.TenantOne, "", map[string]int{"root": 204})
	paneltest.WaitFor(t, func() bool { return reasons(t, s, id) == "terminated[]" })
	s.Answers(t, "GET", one, "", map[string]int{"root": 404})
	paneltest.WaitFor(t, func() bool {
		return s.Count(t, `select count(*) from resources where kind = 'site' and id = 501 and 'tenant' = any(disabled_by)`) == 1
	})

	s.Do(t, hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: 1}})
	paneltest.WaitFor(t, func() bool {
		return s.Count(t, fmt.Sprint(`select count(*) from resources where status in ('leaving', 'gone') and (kind = `+
			`'site' and id = 501 or kind = 'tenant' and id = `, id, `)`)) == 2
	})
	if got := reasons(t, s, 77); got != "active[]" {
		t.Error(got)
	}
}
