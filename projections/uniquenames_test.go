package projections

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
)

const siteTaken = "site with this domain already exists."

func (p *panel) holds(t *testing.T, domain string) bool {
	t.Helper()
	taken, err := p.For(Caller{}).Hosting().NameTaken(t.Context(), "site", "domain", domain)
	if err != nil {
		t.Fatal(err)
	}
	return taken
}

func TestAnOrderHoldsItsDomainUntilItIsCancelled(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	first := p.place("shop.example.com")
	p.do(t, first)
	p.refused(t, "domain", siteTaken, p.place("shop.example.com"))
	p.refused(t, "domain", siteTaken, site(1, 5, "shop.example.com", ""))
	if !p.holds(t, "shop.example.com") {
		t.Fatal("the order must hold the name")
	}
	p.do(t, order.Cancel{ID: first.ID, By: order.ByAdmin, At: noon})
	if p.holds(t, "shop.example.com") {
		t.Fatal("a cancelled order must let go")
	}
	p.do(t, p.place("shop.example.com"))
}

func TestManyOrdersForOneDomainAtOnceGiveOneOrder(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	results := make(chan error, 16)
	for range cap(results) {
		c := p.place("shop.example.com")
		go func() { results <- p.try(t, c) }()
	}
	won := 0
	for range cap(results) {
		if err := <-results; err == nil {
			won++
		} else if err.Error() != "domain: "+siteTaken {
			t.Error(err)
		}
	}
	if all, err := p.For(System).Orders().Orders(t.Context(), OrderFilter{}); won != 1 || len(all) != 1 || err != nil {
		t.Fatal(won, all, err)
	}
}

func TestTheSiteOfAnOrderTakesItsNameOver(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	c := p.place("shop.example.com")
	id := p.opened(t, c)
	p.do(t, p.truth(c, order.SessionComplete, order.Payment{ID: "pay_1", State: order.StatePaid}))
	p.refused(t, "domain", siteTaken, site(1, 5, "shop.example.com", "order:"+uuid.NewString()))
	p.do(t, tenant(5, "Ana", "ana"), site(2, 5, "shop.example.com", "order:"+id.String()))
	p.do(t, hosting.Change{Ref: hosting.Ref{Kind: "site", ID: 2}, Spec: values(&hosting.Site{Domain: "new.example.com", IPAddress: "*"})})
	if p.holds(t, "shop.example.com") || !p.holds(t, "new.example.com") {
		t.Fatal("a changed name frees the one before it")
	}
	p.do(t, hosting.Remove{Ref: hosting.Ref{Kind: "site", ID: 2}})
	if p.holds(t, "new.example.com") {
		t.Fatal("a site that leaves lets go")
	}
}

func TestAReopenedOrderTakesItsNameAgain(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	c := p.place("shop.example.com")
	p.opened(t, c)
	expire := p.truth(c, order.SessionExpired)
	expire.TimeUp = true
	p.do(t, expire)
	if p.holds(t, "shop.example.com") {
		t.Fatal("an expired order must let go")
	}
	own, err := p.For(System).Hosting().NameTakenByOthers(t.Context(), "site", "domain", "shop.example.com", c.ID)
	if err != nil || own {
		t.Fatal(own, err)
	}
	p.do(t, p.truth(c, order.SessionComplete, order.Payment{ID: "pay_1", State: order.StatePaid}))
	o, err := p.For(System).Orders().Order(t.Context(), c.ID)
	if err != nil || o.Status != order.StatusPaid || o.CancelReason != "" || !p.holds(t, "shop.example.com") {
		t.Fatal(o, err)
	}
}

func TestEveryUniqueFieldHasItsOwnRefusal(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, tenant(1, "Ana", "ana"))
	p.refused(t, "slug", "tenant with this slug already exists.", tenant(2, "Other Ana", "ana"))
	p.do(t, tenant(2, "Other Ana", "other-ana"))
	p.refused(t, "slug", "tenant with this slug already exists.", hosting.Change{
		Ref: hosting.Ref{Kind: "tenant", ID: 2}, Spec: values(&hosting.Tenant{Name: "Ana", Slug: "ana", Username: "t2"}),
	})
}

func TestAPlanWithoutASiteHoldsNoName(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for i := range 2 {
		c := p.place("shop.example.com")
		c.Plan.ResourceType = "vps"
		c.At = noon.Add(time.Duration(i))
		p.do(t, c)
	}
}
