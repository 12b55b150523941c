package http_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// restless is why a tenant is out of service.
func (s *shop) reasons(t *testing.T, id int64) string {
	t.Helper()
	found, err := s.For(projections.System).Among(t.Context(), "tenant", []int64{id})
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
	s := openShop(t).people(t)
	s.open(t)
	s.reseller(t, 3, false)
	runs, one := s.subTenant(t, "One")
	rests, two := s.subTenant(t, "Two")
	_, three := s.subTenant(t, "Three")
	s.do(t, account.GrantMembership{User: eve, Tenant: one, Role: account.Admin, At: time.Now()})
	site := func(id, tenant int64, active string) hosting.Ref {
		ref := hosting.Ref{Kind: "site", ID: id}
		spec := (&hosting.Site{Domain: fmt.Sprint("s", id, ".example")}).Fields().Values()
		spec["is_active"] = json.RawMessage(active)
		s.do(t, hosting.Request{Ref: ref, Tenant: tenant, Spec: spec})
		return ref
	}
	sites := []hosting.Ref{site(501, one, "true"), site(502, one, "false"), site(503, two, "true"), site(504, three, "true")}
	s.answers(t, "PATCH", rests, `{"status":"suspended","suspended_reason":"Did not pay us"}`, map[string]int{"ana": 200})
	s.do(t, hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: three}, By: hosting.ByOrder})
	waitFor(t, func() bool {
		return s.count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 2
	})
	before, states := s.standing(t, sites), []string{s.reasons(t, one), s.reasons(t, two), s.reasons(t, three)}

	parent := hosting.Ref{Kind: "tenant", ID: 1}
	for name, turn := range map[string]func(off bool){
		"an operator": func(off bool) {
			s.patched(t, tenantOne, `{"status":"`+map[bool]string{true: "suspended", false: "active"}[off]+`"}`)
		},
		"an order": func(off bool) {
			if off {
				s.do(t, hosting.SuspendService{Ref: parent, By: hosting.ByOrder})
			} else {
				s.do(t, hosting.ResumeService{Ref: parent, By: hosting.ByOrder})
			}
		},
	} {
		turn(true)
		waitFor(t, func() bool {
			return s.reasons(t, one) == "active[parent]" && s.reasons(t, two) == "suspended[parent]" && s.reasons(t, three) == "active[order parent]"
		})
		waitFor(t, func() bool {
			return s.count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 4
		})
		s.answers(t, "POST", "/hosting/api/rest/sites/", `{"domain":"more.example"}`, map[string]int{"eve": 403})
		s.answers(t, "PATCH", runs, `{"status":"active"}`, map[string]int{"ana": 403})
		turn(false)
		waitFor(t, func() bool {
			return slices.Equal([]string{s.reasons(t, one), s.reasons(t, two), s.reasons(t, three)}, states)
		})
		waitFor(t, func() bool {
			return s.count(t, `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`) == 2
		})
		for stream, is := range s.standing(t, sites) {
			if is != before[stream] {
				t.Errorf("%s: %s is %s, and was %s", name, stream, is, before[stream])
			}
		}
	}
}

func TestSubTenantsEndWithTheirParent(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.open(t)
	s.reseller(t, 3, false)
	one, id := s.subTenant(t, "One")
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "site", ID: 501}, Tenant: id, Spec: (&hosting.Site{Domain: "s.example", IsActive: true}).Fields().Values()})
	// What an order has made stands on its own, whatever its parent is.
	bought := &hosting.Tenant{Name: "Bought", Email: "b@example.com", Slug: "bought", Username: "t77", CustomerNumber: "t77", Status: "active", IsActive: true, Limits: hosting.NoLimits()}
	parent := int64(1)
	bought.Parent = &parent
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 77}, Tenant: 77, Spec: bought.Fields().Values(), For: "order:3f2504e0-4f89-41d3-9a0c-0305e82c3301"})
	s.answers(t, "GET", tenantsAPI+"77/", "", map[string]int{"ana": 404})

	s.answers(t, "DELETE", tenantOne, "", map[string]int{"root": 204})
	waitFor(t, func() bool { return s.reasons(t, id) == "terminated[]" })
	s.answers(t, "GET", one, "", map[string]int{"root": 404})
	waitFor(t, func() bool {
		return s.count(t, `select count(*) from resources where kind = 'site' and id = 501 and 'tenant' = any(disabled_by)`) == 1
	})

	s.do(t, hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: 1}})
	waitFor(t, func() bool {
		return s.count(t, fmt.Sprint(`select count(*) from resources where status in ('leaving', 'gone') and (kind = 'site' and id = 501 or kind = 'tenant' and id = `, id, `)`)) == 2
	})
	if got := s.reasons(t, 77); got != "active[]" {
		t.Error(got)
	}
}

func TestASubTenantThatComesToASuspendedParentRests(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.open(t)
	s.pastPeople(t)
	s.patched(t, tenantOne, `{"status":"suspended"}`)
	w := s.call("POST", tenantsAPI, `{"name":"Late","email":"l@example.com","parent":1}`, bearer(s.known["root"])...)
	made := numberOf(t, w)
	waitFor(t, func() bool { return s.reasons(t, made) == "active[parent]" })
	s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "tenant", ID: 1}, Spec: field.Values{"status": field.AppendText(nil, "active")}})
	waitFor(t, func() bool { return s.reasons(t, made) == "active[]" })
}
