package assembly_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/orders"
)

const again = "again@example.com"

// A regular is a customer of the shop who administers a tenant: a first order has made it.
type regular struct {
	*household
	user int64
}

func newRegular(t *testing.T) regular {
	t.Helper()
	r := regular{household: &household{newWorld(t).goes(), 0}}
	first := r.buy(ordering{email: again, company: "Again SL"})
	r.becomes(first, order.StatusActive)
	job := r.provision(first).Job
	r.tenant, r.user = job.Tenant, job.User
	return r
}

func (r regular) orders() *orders.Service {
	return orders.New(orders.Options{Tables: r.tables, Commands: r.store, Now: r.Now})
}

// link is the link in the mail about an order.
func (r regular) link(id uuid.UUID) notice.Joining {
	r.t.Helper()
	var text string
	r.eventually("the mail about the order has come", func() bool {
		for _, m := range r.mail.offers(again) {
			if strings.Contains(m.Subject, r.order(id).Number) {
				text = m.Text
			}
		}
		return text != ""
	})
	_, token, _ := strings.Cut(text, "http://127.0.0.1:8080"+order.JoinPath)
	token, _, _ = strings.Cut(token, "/")
	j, ok := notice.ReadJoining(token, unsubscribeKey)
	if !ok || j != (notice.Joining{User: r.user, Order: id}) {
		r.t.Fatalf("%+v %v\n%s", j, ok, text)
	}
	return j
}

// chooses follows the link of an order and chooses a tenant there.
func (r regular) chooses(id uuid.UUID, tenant int64) error {
	r.t.Helper()
	j := r.link(id)
	c, err := r.orders().Choice(r.t.Context(), j.Order, j.User)
	r.must(err)
	r.equal("the tenants on offer", len(c.Tenants) > 0, c.IsOpen())
	return r.orders().ChooseTenant(r.t.Context(), domain.Metadata{Actor: "user:1"}, id, order.Joining{Tenant: tenant, User: j.User})
}

// mailsEnd waits until every mail about an order is dealt with.
func (r regular) mailsEnd() {
	r.t.Helper()
	r.eventually("all mails are dealt with", func() bool {
		return r.count(`select count(*) from saga_run where definition = 'mail/5' and status <> 'done'`) == 0
	})
}

func (r regular) tenants() int {
	return r.count(`select count(*) from resources where kind = 'tenant'`)
}

// nameOf is the name of the tenant that has the service of an order.
func (r regular) nameOf(id uuid.UUID) string {
	r.t.Helper()
	return r.text(`select spec ->> 'name' from resources where kind = 'tenant' and id = $1`, r.provision(id).Job.Tenant)
}

func TestASecondOrderJoinsTheTenantAfterItsLink(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	tenants, users := r.tenants(), r.count(`select count(*) from users`)
	for kind, site := range map[string]string{"hosting": "joined.example.com", "vps": "", "saas": ""} {
		id := r.place(ordering{email: again, company: "Again SL", kind: kind, domain: site})
		r.must(r.chooses(id, r.tenant))
		r.must(r.chooses(id, 0))
		r.must(r.chooses(id, r.tenant))
		r.paid(id)
		r.becomes(id, order.StatusActive)
		r.equal("the tenant of the service", r.provision(id).Job.Tenant, r.tenant)
		r.equal("the tenant of the order", r.count(`select tenant from orders where id = $1`, id), int(r.tenant))
		r.equal("invoices", r.count(`select count(*) from invoices where order_id = $1 and tenant = $2`, id, r.tenant), 1)
	}
	r.equal("tenants", r.tenants(), tenants)
	r.equal("accounts", r.count(`select count(*) from users`), users)
	r.equal("the first service is still the first", r.count(`select count(*) from orders where tenant = $1 and ordered_by is null`, r.tenant), 1)
}

// A paid order waits for no choice: without the link a new tenant is made, and its name tells
// both apart. The link changes nothing afterwards.
func TestAnOrderThatIsPaidBeforeItsLinkIsFollowedMakesATenant(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	id := r.buy(ordering{email: again, company: "Again SL"})
	r.becomes(id, order.StatusActive)
	r.equal("the tenant is a new one", r.provision(id).Job.Tenant != r.tenant, true)
	r.equal("its name", r.nameOf(id), "Again SL ("+r.order(id).Number+")")
	err := r.orders().ChooseTenant(t.Context(), domain.Metadata{Actor: "user:1"}, id, order.Joining{Tenant: r.tenant, User: r.user})
	if domain.CodeOf(err) != domain.Conflict || !strings.Contains(err.Error(), "joins no other tenant") {
		t.Error(err)
	}
	r.equal("choices", r.often(order.Stream(id), "order.tenant_chosen"), 0)
}

// Two first orders that are paid at once cannot see each other's tenant. One of them looks
// again.
func TestTenantsOfOrdersThatArePaidAtOnceCanBeToldApart(t *testing.T) {
	t.Parallel()
	r := regular{household: &household{newWorld(t), 0}}
	r.opens(90, again, "en") // two that open the account would meet at its address
	first, second := r.buy(ordering{email: again, company: "Again SL"}), r.buy(ordering{email: again, company: "Again SL"})
	var named sync.WaitGroup // both names are chosen before one of them is written
	named.Add(2)
	chose := map[uuid.UUID]func(){first: sync.OnceFunc(named.Done), second: sync.OnceFunc(named.Done)}
	r.fault.to(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.At().Name == "tenant" {
			chose[c.Order]()
			named.Wait()
		}
		return nil
	})
	r.goes()
	r.becomes(first, order.StatusActive)
	r.becomes(second, order.StatusActive)
	for _, id := range []uuid.UUID{first, second} {
		if other := map[uuid.UUID]uuid.UUID{first: second, second: first}[id]; r.nameOf(id) == "Again SL" {
			r.equal("the other's name", r.nameOf(other), "Again SL ("+r.order(other).Number+")")
			return
		}
	}
	t.Errorf("%s, %s", r.nameOf(first), r.nameOf(second))
}

func TestALinkIsMailedOnceAndOnlyToWhomHasAChoice(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	asked := func(address string) int { return len(r.mail.offers(address)) }
	r.opens(90, "member@example.com", "en")
	r.opens(91, "stranger@example.com", "en")
	r.asks(account.GrantMembership{User: 90, Tenant: r.tenant, Role: account.Member, At: r.Now()})
	id := r.place(ordering{email: again})
	for _, other := range []string{"member@example.com", "stranger@example.com", "new@example.com"} {
		r.place(ordering{email: other})
	}
	r.place(ordering{email: again, joins: order.Joining{Tenant: r.tenant, User: r.user}}) // of who is signed in
	r.link(id)
	r.repeated()
	r.heard()
	r.mailsEnd()
	r.equal("mails", []int{asked(again), asked("member@example.com"), asked("stranger@example.com"), asked("new@example.com")}, []int{1, 0, 0, 0})
	r.equal("offers", r.count(`select count(*) from events where name = 'account.joining_offered'`), 1)
	token := notice.Joining{User: r.user, Order: id}.Token(unsubscribeKey)
	r.equal("rows of the log with the token", r.count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	r.equal("inputs of runs with the token", r.count(`select count(*) from saga_run where input::text like '%' || $1 || '%'`, token), 0)
}

// The mail server's answer is lost, or the process is: the mail that is sent again is the same.
func TestAMailWithALinkToJoinIsTheSameWhenItIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	var once sync.Once
	r.mail.tell(nil, func(_, to string) (err error) {
		if to == again {
			once.Do(func() { err = errors.New("the connection is lost") })
		}
		return err
	})
	id := r.place(ordering{email: again})
	r.link(id)
	r.mailsEnd()
	ids := map[string]bool{}
	for _, m := range r.mail.offers(again) {
		ids[m.MessageID+m.Text] = true
	}
	r.equal("different mails", len(ids), 1)
}

// What the tenant or the user has become meanwhile never keeps a paid order waiting.
func TestAChoiceThatCannotBeKeptMakesANewTenant(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(r regular){
		"the membership has ended": func(r regular) { r.asks(account.RevokeMembership{User: r.user, Tenant: r.tenant, At: r.Now()}) },
		"the role is another": func(r regular) {
			r.asks(account.GrantMembership{User: r.user, Tenant: r.tenant, Role: account.Member, At: r.Now()})
		},
		"the tenant is suspended": func(r regular) {
			r.asks(hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: r.tenant}, By: hosting.ByInvoice})
		},
		"the tenant has ended": func(r regular) { r.asks(hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: r.tenant}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegular(t)
			id := r.place(ordering{email: again, company: "Again SL", domain: "kept.example.com"})
			r.must(r.chooses(id, r.tenant))
			ends(r)
			r.paid(id)
			r.becomes(id, order.StatusActive)
			made := r.provision(id).Job.Tenant
			r.equal("it is a new tenant", made != r.tenant, true)
			r.equal("who administers it", r.count(`select count(*) from memberships where user_id = $1 and tenant = $2 and role = 'admin'`, r.user, made), 1)
			r.equal("the tenant of the order", r.count(`select tenant from orders where id = $1 and ordered_by is null`, id), int(made))
			r.equal("owner of the site", r.has("site", "kept.example.com").Owner, r.provision(id).Job.Client)
			r.equal("its place at the engine", r.has("tenant", hosting.CustomerNumber(made)).Ref, hosting.CustomerNumber(made))
			r.equal("what the history says", r.count(`select count(*) from events where stream = $1 and name = 'order.tenant_chosen' and (data::jsonb ->> 'instead')::bigint = $2`, order.Stream(id).String(), r.tenant), 1)
		})
	}
}

// What was made instead of the chosen tenant is taken back as any other.
func TestATenantMadeInsteadOfTheChosenOneIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	id := r.place(ordering{email: again, domain: "back.example.com"})
	r.must(r.chooses(id, r.tenant))
	r.asks(account.RevokeMembership{User: r.user, Tenant: r.tenant, At: r.Now()})
	r.engine.tell(func(call, name string) error {
		if call == "create" && strings.Contains(name, "back.example.com") {
			return domain.Fail(domain.Permanent, "name_taken", errors.New("taken"))
		}
		return nil
	}, nil)
	r.paid(id)
	r.becomes(id, order.StatusFailed)
	made := r.provision(id).Job.Tenant
	r.must(r.Cancel(t.Context(), domain.Metadata{Actor: "operator:1"}, id, "given up"))
	r.becomes(id, order.StatusRefunded)
	r.eventually("nothing is left of it", func() bool {
		return r.count(`select count(*) from resources where kind = 'tenant' and id = $1 and present`, made) == 0
	})
	r.equal("the chosen one is there", r.count(`select count(*) from resources where kind = 'tenant' and id = $1 and present`, r.tenant), 1)
}

// An erased customer has no choice any more, and gets no mail.
func TestTheLinkOfAnErasedAccountLeadsNowhere(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	r.opens(90, "root@example.com", "en")
	id := r.place(ordering{email: again})
	j := r.link(id)
	r.must(r.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:90"}, r.user))
	if _, err := r.orders().Choice(t.Context(), j.Order, j.User); !errors.Is(err, orders.ErrNoChoice) {
		t.Error(err)
	}
	if _, err := r.orders().Choice(t.Context(), uuid.New(), j.User); !errors.Is(err, orders.ErrNoChoice) {
		t.Error(err)
	}
}

// A hundred choices race with the payment: the service joins the tenant if the choice was
// in before, and otherwise all were refused.
func TestAChoiceIsInBeforeThePaymentOrRefused(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	for range 4 {
		id := r.place(ordering{email: again, company: "Again SL"})
		orders, done := r.orders(), make(chan error, 100)
		var ready sync.WaitGroup
		ready.Add(1)
		for range cap(done) {
			go func() {
				ready.Wait()
				done <- orders.ChooseTenant(context.Background(), domain.Metadata{Actor: "user:1"}, id, order.Joining{Tenant: r.tenant, User: r.user})
			}()
		}
		ready.Done()
		r.paid(id)
		chose := 0
		for range cap(done) {
			switch err := <-done; {
			case err == nil:
				chose++
			case domain.CodeOf(err) != domain.Conflict:
				t.Error(err)
			}
		}
		r.becomes(id, order.StatusActive)
		r.equal("choices", r.often(order.Stream(id), "order.tenant_chosen"), min(chose, 1))
		r.equal("it joins", r.provision(id).Job.Tenant == r.tenant, chose > 0)
	}
}
