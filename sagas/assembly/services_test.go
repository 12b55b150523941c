package assembly_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// joins buys a further service for the tenant.
func (b bought) joins(kind string, change ...func(*ordering)) uuid.UUID {
	b.t.Helper()
	o := ordering{kind: kind, email: "joins@example.com", joins: order.Joining{Tenant: b.tenant, User: b.provision(b.id).Job.User}}
	for _, c := range change {
		c(&o)
	}
	id := b.buy(o)
	b.becomes(id, order.StatusActive)
	return id
}

// disputes lets the bank of a customer claim the payment of an order, or give up.
func (b bought) disputes(id uuid.UUID, state order.DisputeState) {
	b.t.Helper()
	b.pay.dispute(id, state)
	b.must(b.Payments.Hint(b.t.Context(), id, "dispute"))
}

// tenancy is how the tenant stands.
func (b bought) tenancy() (row projections.Resource, t hosting.Tenant) {
	b.t.Helper()
	row = b.resource(hosting.Ref{Kind: "tenant", ID: b.tenant})
	b.must(row.Load(&t))
	return row, t
}

// may waits until the tenant may have so many sites.
func (b bought) may(sites int64) {
	b.t.Helper()
	kind, _ := hosting.KindNamed("site")
	b.eventually(fmt.Sprintf("it may have %d sites", sites), func() bool {
		_, most, err := b.tables.For(projections.System).Limit(b.t.Context(), kind, b.tenant)
		_, t := b.tenancy()
		return err == nil && most == sites && t.MayHave(t.Limits).Of("sites") == sites
	})
}

// inService waits until the tenant is out of service for these reasons alone.
func (b bought) reasons(want ...string) {
	b.t.Helper()
	b.eventually(fmt.Sprint("its reasons are ", want), func() bool {
		row, _ := b.tenancy()
		return slices.Equal(slices.Sorted(slices.Values(row.DisabledBy)), want)
	})
}

// snapshot is what runs of the tenant, and why the rest does not.
func (b bought) snapshot() string {
	b.t.Helper()
	return b.text(`select string_agg(kind || ' ' || id || ' ' || active || disabled_by::text || case kind when 'tenant' then (spec - 'synced_at')::text else '' end, ' ' order by kind, id)
		from resources where tenant = $1`, b.tenant)
}

func (b bought) machineOf(id uuid.UUID) hosting.Ref {
	return hosting.Ref{Kind: "vm", ID: b.provision(id).Job.VM}
}

func TestAFurtherServiceJoinsTheTenantAndAddsToWhatItMayHave(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	b.may(5)
	tenants, users := b.count(`select count(*) from resources where kind = 'tenant'`), b.count(`select count(*) from users`)
	second := b.joins("hosting", func(o *ordering) { o.domain = "second.example.com" })
	b.may(10)
	vps, saas := b.joins("vps"), b.joins("saas")
	b.equal("tenants", b.count(`select count(*) from resources where kind = 'tenant'`), tenants)
	b.equal("accounts", b.count(`select count(*) from users`), users)
	b.equal("invoices of the tenant", b.count(`select count(*) from invoices where tenant = $1`, b.tenant), 4)
	b.eventually("it has the maxima of the plan", func() bool { _, t := b.tenancy(); return t.MaySaaS().MaxHostingAccounts == 10 })
	b.powered(b.machineOf(vps), "running")
	b.eventually("its own limits are at the engine", func() bool {
		return value(b.has("tenant", hosting.CustomerNumber(b.tenant)), "max_sites") == "10"
	})
	b.equal("owner of the ordered site", b.has("site", "second.example.com").Owner, b.has("site", "bought.example.com").Owner)
	for _, id := range []uuid.UUID{second, vps, saas} {
		b.equal("its tenant", b.provision(id).Job.Tenant, b.tenant)
	}
}

func TestADisputeTouchesTheResourcesOfItsOwnServiceAlone(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	vps := b.joins("vps")
	machine := b.machineOf(vps)
	off := b.ask(b.draw("site"), site("off.example.com"))
	b.carry(off)
	b.stands(off.Ref, hosting.Running)
	b.carry(set(off.Ref, `{"is_active":false}`))
	b.on()
	b.quiet()
	before := b.snapshot()

	b.disputes(vps, order.DisputeOpen)
	b.powered(machine, "stopped")
	b.reasons()
	b.on()
	b.disputes(b.id, order.DisputeOpen) // now nothing runs
	b.reasons("order")
	b.off()
	b.disputes(vps, order.DisputeWon) // the machine alone goes on
	b.reasons()
	b.powered(machine, "running")
	b.off()
	b.may(0)
	b.disputes(b.id, order.DisputeWon)
	b.on()
	b.may(5)
	b.quiet()
	b.equal("after all disputes", b.snapshot(), before)
}

func TestTheEndOfAServiceLeavesTheOthersOfItsTenant(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	vps := b.joins("vps")
	machine := b.machineOf(vps)
	b.pay.giveAll(b.id)
	b.must(b.Payments.Hint(t.Context(), b.id, "refund"))
	b.becomes(b.id, order.StatusRefunded)
	b.off()
	b.reasons()
	b.powered(machine, "running")
	b.clock.pass(8 * day)
	b.eventually("its run is done", func() bool { return b.runOf("deprovision:"+b.id.String()).Status == sagas.StatusDone })
	b.eventually("its sites are gone", func() bool {
		return b.count(`select count(*) from resources where tenant = $1 and kind <> 'vm' and kind <> 'tenant' and status <> 'gone'`, b.tenant) == 0
	})
	b.powered(machine, "running")
	b.may(0)
	b.reasons()
	b.equal("members", b.count(`select count(*) from memberships where tenant = $1`, b.tenant), 1)

	b.must(b.Cancel(t.Context(), operator, vps, "the last one"))
	b.reasons("order")
	b.powered(machine, "stopped")
	b.clock.pass(8 * day)
	b.eventually("the run of the last is done", func() bool { return b.runOf("deprovision:"+vps.String()).Status == sagas.StatusDone })
	b.quiet()
	b.equal("what is left", b.count(`select count(*) from resources where tenant = $1 and status <> 'gone'`, b.tenant), 0)
	b.equal("at the engine", len(b.engine.all()), 0)
}

func TestTheSecondOfTwoHostingServicesKeepsTheSites(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	second := b.joins("hosting")
	b.may(10)
	b.must(b.Cancel(t.Context(), operator, b.id, "one is enough"))
	b.may(5)
	b.reasons()
	b.on()
	b.clock.pass(8 * day)
	b.eventually("its run is done", func() bool { return b.runOf("deprovision:"+b.id.String()).Status == sagas.StatusDone })
	b.may(5)
	b.on()
	b.disputes(second, order.DisputeOpen)
	b.reasons("order")
	b.off()
	b.disputes(second, order.DisputeWon)
	b.reasons()
	b.on()
	b.may(5)
}

func TestSubTenantsRestAndEndWithTheSaaSServiceOfATenantThatHasAnother(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	saas := b.joins("saas")
	b.eventually("it may have sub-tenants", func() bool { _, t := b.tenancy(); return t.MaySaaS().MaxHostingAccounts == 10 })
	child := b.newTenant(b.draw("tenant"))
	parent := &hosting.Tenant{Parent: &b.tenant}
	child.Spec["parent"] = parent.Fields().Only("parent").Values()["parent"]
	b.carry(child)
	own := b.ask(b.draw("site"), site("child.example.com"))
	own.Tenant = child.ID
	b.carry(own)
	b.stands(own.Ref, hosting.Running)
	rests := func(want bool) {
		b.t.Helper()
		b.eventually(fmt.Sprint("the sub-tenant rests: ", want), func() bool {
			return slices.Contains(b.resource(child.Ref).DisabledBy, hosting.ByParent) == want &&
				slices.Contains(b.resource(own.Ref).DisabledBy, hosting.ByTenant) == want
		})
	}
	// A sub-tenant with a service of its own stays, with that alone.
	stays := b.newTenant(b.draw("tenant"))
	stays.Spec["parent"] = child.Spec["parent"]
	b.carry(stays)
	kept := b.ask(b.draw("site"), site("stays.example.com"))
	kept.Tenant = stays.ID
	b.carry(kept)
	b.stands(kept.Ref, hosting.Running)
	vps := b.buy(ordering{kind: "vps", email: "stays@example.com", joins: order.Joining{Tenant: stays.ID, User: b.provision(b.id).Job.User}})
	b.becomes(vps, order.StatusActive)
	machine := hosting.Ref{Kind: "vm", ID: b.provision(vps).Job.VM}
	siteRests := func(want bool) {
		b.t.Helper()
		b.eventually(fmt.Sprint("its site rests: ", want), func() bool {
			return slices.Contains(b.resource(kept.Ref).DisabledBy, hosting.ByOrder) == want && len(b.resource(stays.Ref).DisabledBy) == 0
		})
		b.powered(machine, "running")
	}
	b.disputes(saas, order.DisputeOpen)
	rests(true)
	siteRests(true)
	b.reasons()
	b.on()
	b.disputes(saas, order.DisputeWon)
	rests(false)
	siteRests(false)
	b.must(b.Cancel(t.Context(), operator, saas, "no customers"))
	rests(true)
	b.on()
	b.clock.pass(8 * day)
	b.eventually("the sub-tenant is gone", func() bool { return b.resource(child.Ref).Status == hosting.Gone })
	b.eventually("the run is done", func() bool { return b.runOf("deprovision:"+saas.String()).Status == sagas.StatusDone })
	b.on()
	siteRests(true)
	b.must(b.Cancel(t.Context(), operator, vps, "the last of it"))
	b.powered(machine, "stopped")
	b.clock.pass(8 * day)
	b.eventually("it is gone too", func() bool { return b.resource(stays.Ref).Status == hosting.Gone })
}

// Who is refunded before the service is set up gets it back; the tenant stays as it was.
func TestAServiceThatWasToJoinIsTakenBackWithoutItsTenant(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	b.quiet()
	before := b.snapshot()
	b.pauses(b.Reconciler.ComputeQueue())
	id := b.buy(ordering{kind: "vps", email: "joins@example.com", joins: order.Joining{Tenant: b.tenant, User: b.provision(b.id).Job.User}})
	b.standsAt(id, "vm")
	b.must(b.Cancel(t.Context(), operator, id, "a mistake"))
	b.goesOn()
	b.givesBack(id)
	b.becomes(id, order.StatusRefunded)
	b.on()
	b.eventually("the tenant is as it was", func() bool {
		return b.text(`select string_agg(kind || ' ' || id || ' ' || active || disabled_by::text || case kind when 'tenant' then (spec - 'synced_at')::text else '' end, ' ' order by kind, id)
			from resources where tenant = $1 and kind <> 'vm'`, b.tenant) == before
	})
	b.equal("members", b.count(`select count(*) from memberships where tenant = $1`, b.tenant), 1)
}

// A customer who orders again in the shop gets another tenant, whose name tells them apart.
func TestASecondOrderOfTheShopMakesATenantWithAnotherName(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	first := w.buy(ordering{email: "twice@example.com", company: "Twice SL"})
	w.becomes(first, order.StatusActive)
	second, other := w.buy(ordering{email: "twice@example.com", company: "Twice SL"}), w.buy(ordering{email: "twice@example.com", company: "Other SL"})
	for _, id := range []uuid.UUID{second, other} {
		w.becomes(id, order.StatusActive)
	}
	name := func(id uuid.UUID) string {
		return w.text(`select spec ->> 'name' from resources where kind = 'tenant' and id = $1`, w.provision(id).Job.Tenant)
	}
	w.equal("the first", name(first), "Twice SL")
	w.equal("the second", name(second), "Twice SL ("+w.order(second).Number+")")
	w.equal("one of another name", name(other), "Other SL")
}

// An invoice that is not paid lets its own service rest, and no other of the tenant.
func TestAnUnpaidServiceRestsAlone(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	first := w.serves(ordering{kind: "hosting", period: order.Yearly, price: "1.26"})
	tenant := w.subscription(first).Tenant
	joined := w.serves(ordering{kind: "hosting", email: "joins@example.com", joins: order.Joining{Tenant: tenant, User: w.provision(first).Job.User}})
	b := bought{household: &household{w.world, tenant}, id: first}
	b.may(10)
	w.equal("another plan", fmt.Sprint(w.changes(joined, largePlan, "monthly")), "plan: A service that was ordered into a tenant keeps its plan. Only its billing period can be changed.")
	w.until(joined, "billing.subscription_suspended", 1)
	b.may(5)
	b.reasons()
	w.equal("the other service", w.subscription(first).Status, billing.Running)
	w.pays(joined)
	b.may(10)
	b.reasons()
}
