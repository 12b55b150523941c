//go:build system

package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// A hundred choices race with the payment: the service joins the tenant if the choice was
// in before, and otherwise all were refused.
func TestAChoiceIsInBeforeThePaymentOrRefused(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	for range 4 {
		id := r.Place(sagastest.OrderForm{Email: again, Company: "Again SL"})
		orders, done := r.orders(), make(chan error, 100)
		var ready sync.WaitGroup
		ready.Add(1)
		for range cap(done) {
			go func() {
				ready.Wait()
				done <- orders.ChooseTenant(
					context.Background(), domain.Metadata{Actor: "user:1"}, id,
					order.Joining{Tenant: r.Tenant, User: r.user},
				)
			}()
		}
		ready.Done()
		r.Paid(id)
		chose := 0
		for range cap(done) {
			switch err := <-done; {
			case err == nil:
				chose++
			case domain.CodeOf(err) != domain.Conflict:
				t.Error(err)
			}
		}
		r.Becomes(id, order.StatusActive)
		r.Equal("choices", r.Often(order.Stream(id), "order.tenant_chosen"), min(chose, 1))
		r.Equal("it joins", r.Provision(id).Job.Tenant == r.Tenant, chose > 0)
	}
}

// An invoice that is not paid lets its own service rest, and no other of the tenant.
func TestAnUnpaidServiceRestsAlone(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	first := w.Serves(sagastest.OrderForm{Kind: "hosting", Period: order.Yearly, Price: "1.26"})
	tenant := w.Subscription(first).Tenant
	joined := w.Serves(
		sagastest.OrderForm{
			Kind: "hosting", Email: "joins@example.com",
			Joins: order.Joining{Tenant: tenant, User: w.Provision(first).Job.User},
		},
	)
	b := sagastest.Purchase{Household: &sagastest.Household{World: w.World, Tenant: tenant}, ID: first}
	may(b, 10)
	w.Equal(
		"another plan", fmt.Sprint(w.Changes(joined, sagastest.LargePlan, "monthly")),
		"plan: A service that was ordered into a tenant keeps its plan. Only its billing period can be changed.",
	)
	w.Until(joined, "billing.subscription_suspended", 1)
	may(b, 5)
	reasons(b)
	w.Equal("the other service", w.Subscription(first).Status, billing.Running)
	w.Pays(joined)
	may(b, 10)
	reasons(b)
}

func TestAServiceThatIsRefundedIsSuspendedAndRemovedAfterAWeek(t *testing.T) { // T19, V3
	t.Parallel()
	for _, kind := range []string{"hosting", "vps"} {
		b := sagastest.NewPurchase(t, kind)
		b.Pay.GiveAll(b.ID)
		b.Must(b.Payments.Hint(t.Context(), b.ID, "refund"))
		b.Becomes(b.ID, order.StatusRefunded)
		b.Off()
		b.Equal("subscription", b.Count(`select count(*) from events where name = 'billing.subscription_ended'
			and data ->> 'reason' = 'refunded'`), 1)
		b.Clock.Pass(7*sagastest.Day - time.Minute)
		b.Quiet()
		run := b.RunOf("deprovision:" + b.ID.String())
		b.Equal("before the grace is over", fmt.Sprint(run.At().Name, run.Status), "grace"+string(sagas.StatusReady))
		b.Clock.Pass(2 * time.Minute)
		b.Removed()
		b.End()
	}
}

func TestSubTenantsRestAndEndWithTheSaaSServiceOfATenantThatHasAnother(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	saas := joins(b, "saas")
	b.Eventually("it may have sub-tenants", func() bool { _, t := tenancy(b); return t.MaySaaS().MaxHostingAccounts == 10 })
	child := b.NewTenant(b.Draw("tenant"))
	parent := &hosting.Tenant{Parent: &b.Tenant}
	child.Spec["parent"] = parent.Fields().Only("parent").Values()["parent"]
	b.Carry(child)
	own := b.Ask(b.Draw("site"), sagastest.Site("child.example.com"))
	own.Tenant = child.ID
	b.Carry(own)
	b.Stands(own.Ref, hosting.Running)
	rests := func(want bool) {
		b.T.Helper()
		b.Eventually(fmt.Sprint("the sub-tenant rests: ", want), func() bool {
			return slices.Contains(b.Resource(child.Ref).DisabledBy, hosting.ByParent) == want &&
				slices.Contains(b.Resource(own.Ref).DisabledBy, hosting.ByTenant) == want
		})
	}
	// A sub-tenant with a service of its own stays, with that alone.
	stays := b.NewTenant(b.Draw("tenant"))
	stays.Spec["parent"] = child.Spec["parent"]
	b.Carry(stays)
	kept := b.Ask(b.Draw("site"), sagastest.Site("stays.example.com"))
	kept.Tenant = stays.ID
	b.Carry(kept)
	b.Stands(kept.Ref, hosting.Running)
	vps := b.Buy(
		sagastest.OrderForm{
			Kind: "vps", Email: "stays@example.com",
			Joins: order.Joining{Tenant: stays.ID, User: b.Provision(b.ID).Job.User},
		},
	)
	b.Becomes(vps, order.StatusActive)
	machine := hosting.Ref{Kind: "vm", ID: b.Provision(vps).Job.VM}
	siteRests := func(want bool) {
		b.T.Helper()
		b.Eventually(fmt.Sprint("its site rests: ", want), func() bool {
			return slices.Contains(b.Resource(kept.Ref).DisabledBy, hosting.ByOrder) == want && len(b.Resource(stays.Ref).DisabledBy) == 0
		})
		b.Powered(machine, "running")
	}
	disputes(b, saas, order.DisputeOpen)
	rests(true)
	siteRests(true)
	reasons(b)
	b.On()
	disputes(b, saas, order.DisputeWon)
	rests(false)
	siteRests(false)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, saas, "no customers"))
	rests(true)
	b.On()
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("the sub-tenant is gone", func() bool { return b.Resource(child.Ref).Status == hosting.Gone })
	b.Eventually("the run is done", func() bool { return b.RunOf("deprovision:"+saas.String()).Status == sagas.StatusDone })
	b.On()
	siteRests(true)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, vps, "the last of it"))
	b.Powered(machine, "stopped")
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("it is gone too", func() bool { return b.Resource(stays.Ref).Status == hosting.Gone })
}

func TestTheSecondOfTwoHostingServicesKeepsTheSites(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	second := joins(b, "hosting")
	may(b, 10)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "one is enough"))
	may(b, 5)
	reasons(b)
	b.On()
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("its run is done", func() bool { return b.RunOf("deprovision:"+b.ID.String()).Status == sagas.StatusDone })
	may(b, 5)
	b.On()
	disputes(b, second, order.DisputeOpen)
	reasons(b, "order")
	b.Off()
	disputes(b, second, order.DisputeWon)
	reasons(b)
	b.On()
	may(b, 5)
}

func TestACancellationAndAWorkerCannotBothWin(t *testing.T) { // F-26
	t.Parallel()
	sagastest.CancellationRace(t, 4)
}

func TestASecondOrderJoinsTheTenantAfterItsLink(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	tenants, users := r.tenants(), r.Count(`select count(*) from users`)
	for kind, site := range map[string]string{"hosting": "joined.example.com", "vps": "", "saas": ""} {
		id := r.Place(sagastest.OrderForm{Email: again, Company: "Again SL", Kind: kind, Domain: site})
		r.Must(r.chooses(id, r.Tenant))
		r.Must(r.chooses(id, 0))
		r.Must(r.chooses(id, r.Tenant))
		r.Paid(id)
		r.Becomes(id, order.StatusActive)
		r.Equal("the tenant of the service", r.Provision(id).Job.Tenant, r.Tenant)
		r.Equal("the tenant of the order", r.Count(`select tenant from orders where id = $1`, id), int(r.Tenant))
		r.Equal("invoices", r.Count(`select count(*) from invoices where order_id = $1 and tenant = $2`, id, r.Tenant), 1)
	}
	r.Equal("tenants", r.tenants(), tenants)
	r.Equal("accounts", r.Count(`select count(*) from users`), users)
	r.Equal(
		"the first service is still the first",
		r.Count(`select count(*) from orders where tenant = $1 and ordered_by is null`, r.Tenant), 1,
	)
}

// The mail server's answer is lost, or the process is: the mail that is sent again is the same.
func TestAMailWithALinkToJoinIsTheSameWhenItIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	var once sync.Once
	r.Mail.Tell(nil, func(_, to string) (err error) {
		if to == again {
			once.Do(func() { err = errors.New("the connection is lost") })
		}
		return err
	})
	id := r.Place(sagastest.OrderForm{Email: again})
	r.link(id)
	r.mailsEnd()
	ids := map[string]bool{}
	for _, m := range r.Mail.Offers(again) {
		ids[m.MessageID+m.Text] = true
	}
	r.Equal("different mails", len(ids), 1)
}

func TestADisputeThatIsWonLeavesEverythingAsItWas(t *testing.T) { // T23, R-3
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	before := b.Ask(b.Draw("site"), sagastest.Site("off.example.com"))
	b.Carry(before)
	b.Stands(before.Ref, hosting.Running)
	b.Carry(sagastest.Set(before.Ref, `{"is_active":false}`))
	b.Stands(before.Ref, hosting.Running)
	b.Pay.Dispute(b.ID, order.DisputeOpen)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.Off()
	b.Equal("holds", b.Order(b.ID).Holds, []order.Hold{order.DisputeHold})
	b.Pay.Dispute(b.ID, order.DisputeWon)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.On()
	b.Equal("what was off before", sagastest.Value(b.Has("site", "off.example.com"), "is_active"), "false")
	b.Equal("status", b.Order(b.ID).Status, order.StatusActive)
}

// Who is refunded before the service is set up gets it back; the tenant stays as it was.
func TestAServiceThatWasToJoinIsTakenBackWithoutItsTenant(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	b.Quiet()
	before := snapshot(b)
	b.Pauses(b.Reconciler.ComputeQueue(""))
	id := b.Buy(
		sagastest.OrderForm{
			Kind: "vps", Email: "joins@example.com",
			Joins: order.Joining{Tenant: b.Tenant, User: b.Provision(b.ID).Job.User},
		},
	)
	sagastest.StandsAt(b.World, id, "vm")
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, id, "a mistake"))
	sagastest.GoesOn(b.World)
	sagastest.GivesBack(b.World, id)
	b.Becomes(id, order.StatusRefunded)
	b.On()
	b.Eventually("the tenant is as it was", func() bool {
		return b.Text(`select string_agg(kind || ' ' || id || ' ' || active || disabled_by::text || case kind
			when 'tenant' then (spec - 'synced_at')::text else '' end, ' ' order by kind, id)
			from resources where tenant = $1 and kind <> 'vm'`, b.Tenant) == before
	})
	b.Equal("members", b.Count(`select count(*) from memberships where tenant = $1`, b.Tenant), 1)
}

// What was made for an order and is gone has been taken back, though another client has an
// object of its name by now.
func TestTakingBackLeavesWhatAnotherClientHas(t *testing.T) { // E-3
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.ReadyBudget = sagastest.Quick.Quarantine })
	const domain = "taken.example.com"
	w.Engine.Applied = func(o hosting.EngineObject) bool { return o.Kind != "site" }
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Domain: domain})
	w.Becomes(id, order.StatusFailed)
	w.Engine.Forget("site/" + domain)
	w.Engine.Put("site/"+domain, hosting.EngineObject{Kind: "site", Name: domain, Owner: 4711})
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the customer changed their mind"))
	w.Refunded(id)
	left := w.Engine.All()
	w.Equal("left at the engine", len(left), 1)
	w.Equal("whose", left["site/"+domain].Owner, int64(4711))
	run := w.Provision(id)
	w.Equal("the run", run.Status, sagas.StatusUndone)
	w.Equal("parked", strings.Count(strings.Join(w.Happened(sagas.StreamOf(run.Key)), " "), "saga.parked"), 1)
}

func TestATenantThatIsSuspendedStaysSoWhenADisputeIsWon(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	tenant := hosting.Ref{Kind: "tenant", ID: b.Tenant}
	b.Carry(sagastest.Set(tenant, `{"status":"suspended"}`))
	b.Off()
	for _, outcome := range []order.DisputeState{order.DisputeOpen, order.DisputeWon} {
		b.Must(b.Payments.Dispute(t.Context(), sagastest.Operator, b.ID, outcome, "by letter")) // P-9
		b.Eventually(
			"the tenant follows",
			func() bool { return (len(b.Resource(tenant).DisabledBy) == 1) == (outcome == order.DisputeOpen) },
		)
		b.Quiet()
		b.Off()
	}
	b.Carry(sagastest.Set(tenant, `{"status":"active"}`))
	b.On()
}

// What was made instead of the chosen tenant is taken back as any other.
func TestATenantMadeInsteadOfTheChosenOneIsTakenBack(t *testing.T) {
	t.Parallel()
	r := newRegular(t)
	id := r.Place(sagastest.OrderForm{Email: again, Domain: "back.example.com"})
	r.Must(r.chooses(id, r.Tenant))
	r.Asks(account.RevokeMembership{User: r.user, Tenant: r.Tenant, At: r.Runner.Now()})
	r.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.Contains(name, "back.example.com") {
			return domain.Fail(domain.Permanent, "name_taken", errors.New("taken"))
		}
		return nil
	}, nil)
	r.Paid(id)
	r.Becomes(id, order.StatusFailed)
	made := r.Provision(id).Job.Tenant
	r.Must(r.Orders.Cancel(t.Context(), domain.Metadata{Actor: "operator:1"}, id, "given up"))
	r.Becomes(id, order.StatusRefunded)
	r.Eventually("nothing is left of it", func() bool {
		return r.Count(`select count(*) from resources where kind = 'tenant' and id = $1 and present`, made) == 0
	})
	r.Equal("the chosen one is there", r.Count(`select count(*) from resources where kind = 'tenant' and id = $1 and present`, r.Tenant), 1)
}

// Two first orders that are paid at once cannot see each other's tenant. One of them looks
// again.
func TestTenantsOfOrdersThatArePaidAtOnceCanBeToldApart(t *testing.T) {
	t.Parallel()
	r := regular{Household: &sagastest.Household{World: sagastest.NewWorld(t)}}
	r.Opens(90, again, "en") // two that open the account would meet at its address
	first, second := r.Buy(sagastest.OrderForm{Email: again, Company: "Again SL"}), r.Buy(
		sagastest.OrderForm{Email: again, Company: "Again SL"},
	)
	var named sync.WaitGroup // both names are chosen before one of them is written
	named.Add(2)
	chose := map[uuid.UUID]func(){first: sync.OnceFunc(named.Done), second: sync.OnceFunc(named.Done)}
	r.Fault.To(func(p sagas.Point, c sagas.Run) error {
		if p == sagas.BeforeComplete && c.At().Name == "tenant" {
			chose[c.Order]()
			named.Wait()
		}
		return nil
	})
	r.Goes()
	r.Becomes(first, order.StatusActive)
	r.Becomes(second, order.StatusActive)
	for _, id := range []uuid.UUID{first, second} {
		if other := map[uuid.UUID]uuid.UUID{first: second, second: first}[id]; r.nameOf(id) == "Again SL" {
			r.Equal("the other's name", r.nameOf(other), "Again SL ("+r.Order(other).Number+")")
			return
		}
	}
	t.Errorf("%s, %s", r.nameOf(first), r.nameOf(second))
}

func TestTwoOrdersOfOneNewAddressAtOnceOpenOneAccount(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	a, b := w.Place(sagastest.OrderForm{Email: "twin@example.com"}), w.Place(sagastest.OrderForm{Email: "twin@example.com"})
	w.Paid(a)
	w.Paid(b)
	w.Goes()
	w.Becomes(a, order.StatusActive)
	w.Becomes(b, order.StatusActive)
	w.Equal("the user", w.Provision(a).Job.User, w.Provision(b).Job.User)
}

// What is asked of a machine while it is being made follows once it is.
func TestAMachineThatIsSwitchedOffWhileItIsMadeIsOffAfterwards(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var vm hosting.Ref
	w.Compute.Tell(nil, func(call, tag string) error {
		if call == "create" {
			vm = hosting.Ref{Kind: "vm", ID: w.Provision(uuid.MustParse(tag)).Job.VM}
			w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusActive)
	w.Powered(vm, "stopped")
}
