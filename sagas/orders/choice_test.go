package orders_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/sagas/orders"
	"hostpanel/sagas/sagastest"
)

const again = "again@example.com"

// A regular is a customer of the shop who administers a tenant: a first order has made it.
type regular struct {
	*sagastest.Household
	user int64
}

func newRegular(t *testing.T) regular {
	t.Helper()
	r := regular{Household: &sagastest.Household{World: sagastest.NewWorld(t).Goes()}}
	first := r.Buy(sagastest.OrderForm{Email: again, Company: "Again SL"})
	r.Becomes(first, order.StatusActive)
	job := r.Provision(first).Job
	r.Tenant, r.user = job.Tenant, job.User
	return r
}

func (r regular) orders() *orders.Service {
	return orders.New(orders.Options{Tables: r.Tables, Commands: r.Store, Now: r.Runner.Now})
}

// link is the link in the mail about an order.
func (r regular) link(id uuid.UUID) notice.Joining {
	r.T.Helper()
	var text string
	r.Eventually("the mail about the order has come", func() bool {
		for _, m := range r.Mail.Offers(again) {
			if strings.Contains(m.Subject, r.Order(id).Number) {
				text = m.Text
			}
		}
		return text != ""
	})
	_, token, _ := strings.Cut(text, "http://127.0.0.1:8080"+order.JoinPath)
	token, _, _ = strings.Cut(token, "/")
	j, ok := notice.ReadJoining(token, sagastest.UnsubscribeKey)
	if !ok || j != (notice.Joining{User: r.user, Order: id}) {
		r.T.Fatalf("%+v %v\n%s", j, ok, text)
	}
	return j
}

// chooses follows the link of an order and chooses a tenant there.
func (r regular) chooses(id uuid.UUID, tenant int64) error {
	r.T.Helper()
	j := r.link(id)
	c, err := r.orders().Choice(r.T.Context(), j.Order, j.User)
	r.Must(err)
	r.Equal("the tenants on offer", len(c.Tenants) > 0, c.IsOpen())
	return r.orders().ChooseTenant(r.T.Context(), domain.Metadata{Actor: "user:1"}, id, order.Joining{Tenant: tenant, User: j.User})
}

// mailsEnd waits until every mail about an order is dealt with.
func (r regular) mailsEnd() {
	r.T.Helper()
	r.Eventually("all mails are dealt with", func() bool {
		return r.Count(`select count(*) from saga_run where definition = 'mail/5' and status <> 'done'`) == 0
	})
}

func (r regular) tenants() int {
	return r.Count(`select count(*) from resources where kind = 'tenant'`)
}

// nameOf is the name of the tenant that has the service of an order.
func (r regular) nameOf(id uuid.UUID) string {
	r.T.Helper()
	return r.Text(`select spec ->> 'name' from resources where kind = 'tenant' and id = $1`, r.Provision(id).Job.Tenant)
}

// A paid order waits for no choice: without the link a new tenant is made, and its name tells
// both apart. The link changes nothing afterwards.
func TestAnOrderThatIsPaidBeforeItsLinkIsFollowedMakesATenant(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	id := r.Buy(sagastest.OrderForm{Email: again, Company: "Again SL"})
	r.Becomes(id, order.StatusActive)
	r.Equal("the tenant is a new one", r.Provision(id).Job.Tenant != r.Tenant, true)
	r.Equal("its name", r.nameOf(id), "Again SL ("+r.Order(id).Number+")")
	err := r.orders().ChooseTenant(t.Context(), domain.Metadata{Actor: "user:1"}, id, order.Joining{Tenant: r.Tenant, User: r.user})
	if domain.CodeOf(err) != domain.Conflict || !strings.Contains(err.Error(), "joins no other tenant") {
		t.Error(err)
	}
	r.Equal("choices", r.Often(order.Stream(id), "order.tenant_chosen"), 0)
}

func TestALinkIsMailedOnceAndOnlyToWhomHasAChoice(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	asked := func(address string) int { return len(r.Mail.Offers(address)) }
	r.Opens(90, "member@example.com", "en")
	r.Opens(91, "stranger@example.com", "en")
	r.Asks(account.GrantMembership{User: 90, Tenant: r.Tenant, Role: account.Member, At: r.Runner.Now()})
	id := r.Place(sagastest.OrderForm{Email: again})
	for _, other := range []string{"member@example.com", "stranger@example.com", "new@example.com"} {
		r.Place(sagastest.OrderForm{Email: other})
	}
	r.Place(sagastest.OrderForm{Email: again, Joins: order.Joining{Tenant: r.Tenant, User: r.user}}) // of who is signed in
	r.link(id)
	r.Repeated()
	r.Heard()
	r.mailsEnd()
	r.Equal(
		"mails",
		[]int{asked(again), asked("member@example.com"), asked("stranger@example.com"), asked("new@example.com")},
		[]int{1, 0, 0, 0},
	)
	r.Equal("offers", r.Count(`select count(*) from events where name = 'account.joining_offered'`), 1)
	token := notice.Joining{User: r.user, Order: id}.Token(sagastest.UnsubscribeKey)
	r.Equal("rows of the log with the token", r.Count(`select count(*) from events where data::text like '%' || $1 || '%'`, token), 0)
	r.Equal("inputs of runs with the token", r.Count(`select count(*) from saga_run where input::text like '%' || $1 || '%'`, token), 0)
}

// What the tenant or the user has become meanwhile never keeps a paid order waiting.
func TestAChoiceThatCannotBeKeptMakesANewTenant(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]func(r regular){
		"the membership has ended": func(r regular) {
			r.Asks(
				account.RevokeMembership{User: r.user, Tenant: r.Tenant, At: r.Runner.Now()},
			)
		},
		"the role is another": func(r regular) {
			r.Asks(account.GrantMembership{User: r.user, Tenant: r.Tenant, Role: account.Member, At: r.Runner.Now()})
		},
		"the tenant is suspended": func(r regular) {
			r.Asks(hosting.SuspendService{Ref: hosting.Ref{Kind: "tenant", ID: r.Tenant}, By: hosting.ByInvoice})
		},
		"the tenant has ended": func(r regular) { r.Asks(hosting.Remove{Ref: hosting.Ref{Kind: "tenant", ID: r.Tenant}}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRegular(t)
			id := r.Place(sagastest.OrderForm{Email: again, Company: "Again SL", Domain: "kept.example.com"})
			r.Must(r.chooses(id, r.Tenant))
			ends(r)
			r.Paid(id)
			r.Becomes(id, order.StatusActive)
			made := r.Provision(id).Job.Tenant
			r.Equal("it is a new tenant", made != r.Tenant, true)
			r.Equal(
				"who administers it",
				r.Count(`select count(*) from memberships where user_id = $1 and tenant = $2 and role = 'admin'`, r.user, made),
				1,
			)
			r.Equal("the tenant of the order", r.Count(`select tenant from orders where id = $1 and ordered_by is null`, id), int(made))
			r.Equal("owner of the site", r.Has("site", "kept.example.com").Owner, r.Provision(id).Job.Client)
			r.Equal("its place at the engine", r.Has("tenant", hosting.CustomerNumber(made)).Ref, hosting.CustomerNumber(made))
			r.Equal("what the history says", r.Count(`select count(*) from events where stream = $1
				and name = 'order.tenant_chosen' and (data::jsonb ->> 'instead')::bigint = $2`, order.Stream(id).String(), r.Tenant), 1)
		})
	}
}

// An erased customer has no choice any more, and gets no mail.
func TestTheLinkOfAnErasedAccountLeadsNowhere(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	r.Opens(90, "root@example.com", "en")
	id := r.Place(sagastest.OrderForm{Email: again})
	j := r.link(id)
	r.Must(r.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:90"}, r.user))
	if _, err := r.orders().Choice(t.Context(), j.Order, j.User); !errors.Is(err, orders.ErrNoChoice) {
		t.Error(err)
	}
	if _, err := r.orders().Choice(t.Context(), uuid.New(), j.User); !errors.Is(err, orders.ErrNoChoice) {
		t.Error(err)
	}
}
