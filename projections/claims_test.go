package projections

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
)

func TestADomainAboveOrBelowOneOfAnotherTenantIsClaimed(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	under := &hosting.Tenant{
		Name: "Below", Email: "t@example.com", Slug: "below", Username: "t2", Status: "active", IsActive: true,
		Limits: hosting.NoLimits(),
	}
	parent := int64(1)
	under.Parent = &parent
	p.do(t, tenant(1, "Ana", "ana"))
	p.do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: 2}, Tenant: 2, Subject: uuid.New(), Spec: values(under)})
	p.do(t, tenant(3, "Other", "other"), site(1, 1, "shop.bread.example", ""), site(2, 2, "cheese.example", ""))
	p.do(t, hosting.Request{Ref: hosting.Ref{Kind: "dns_zone", ID: 1}, Tenant: 1, Spec: values(&hosting.DNSZone{Origin: "milk.example."})})
	c := p.place("ordered.example")
	p.do(t, c)
	claimed := func(name string, tenant int64, order uuid.UUID) bool {
		t.Helper()
		is, err := p.For(System).Hosting().ClaimedByOthers(t.Context(), "mail_domain", name, tenant, order)
		if err != nil {
			t.Fatal(err)
		}
		return is
	}
	for _, look := range []struct {
		name string
		by   []int64 // the tenants that cannot have it
	}{
		{"shop.bread.example", []int64{0, 3}},
		{"bread.example", []int64{0, 3}},
		{"bread.example.", []int64{0, 3}},
		{"a.b.shop.bread.example", []int64{0, 3}},
		{"shop.milk.example", []int64{0, 3}},
		{"milk.example", []int64{0, 3}},
		{"milk.example.", []int64{0, 3}},
		{"www.cheese.example", []int64{0, 3}},
		{"sub.ordered.example", []int64{0, 1, 2, 3}},
		{"workshop.bread.example", nil},
		{"shop-bread.example", nil},
		{"shop.bread.example.test", nil},
		{"milk.test", nil},
		{"ilk.example", nil},
		{"test", nil},
		{"", nil},
	} {
		for _, by := range []int64{0, 1, 2, 3} {
			want := false
			for _, one := range look.by {
				want = want || one == by
			}
			if got := claimed(look.name, by, uuid.Nil); got != want {
				t.Errorf("%q for tenant %d: %v, not %v", look.name, by, got, want)
			}
		}
	}
	if claimed("sub.ordered.example", 3, c.ID) {
		t.Error("an order is no other to itself")
	}
	p.do(t, hosting.Remove{Ref: hosting.Ref{Kind: "site", ID: 1}})
	if claimed("bread.example", 3, uuid.Nil) {
		t.Error("a site that leaves lets go")
	}
}
