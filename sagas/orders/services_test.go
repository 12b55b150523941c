package orders_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// joins buys a further service for the tenant.
func joins(b sagastest.Purchase, kind string, change ...func(*sagastest.OrderForm)) uuid.UUID {
	b.T.Helper()
	o := sagastest.OrderForm{
		Kind: kind, Email: "joins@example.com",
		Joins: order.Joining{Tenant: b.Tenant, User: b.Provision(b.ID).Job.User},
	}
	for _, c := range change {
		c(&o)
	}
	id := b.Buy(o)
	b.Becomes(id, order.StatusActive)
	return id
}

// disputes lets the bank of a customer claim the payment of an order, or give up.
func disputes(b sagastest.Purchase, id uuid.UUID, state order.DisputeState) {
	b.T.Helper()
	b.Pay.Dispute(id, state)
	b.Must(b.Payments.Hint(b.T.Context(), id, "dispute"))
}

// tenancy is how the tenant stands.
func tenancy(b sagastest.Purchase) (row projections.Resource, t hosting.Tenant) {
	b.T.Helper()
	row = b.Resource(hosting.Ref{Kind: "tenant", ID: b.Tenant})
	b.Must(row.Load(&t))
	return row, t
}

// may waits until the tenant may have so many sites.
func may(b sagastest.Purchase, sites int64) {
	b.T.Helper()
	kind, _ := hosting.KindNamed("site")
	b.Eventually(fmt.Sprintf("it may have %d sites", sites), func() bool {
		_, most, err := b.Tables.For(projections.System).Hosting().Limit(b.T.Context(), kind, b.Tenant)
		_, t := tenancy(b)
		return err == nil && most == sites && t.MayHave(t.Limits).Of("sites") == sites
	})
}

// inService waits until the tenant is out of service for these reasons alone.
func reasons(b sagastest.Purchase, want ...string) {
	b.T.Helper()
	b.Eventually(fmt.Sprint("its reasons are ", want), func() bool {
		row, _ := tenancy(b)
		return slices.Equal(slices.Sorted(slices.Values(row.DisabledBy)), want)
	})
}

// snapshot is what runs of the tenant, and why the rest does not.
func snapshot(b sagastest.Purchase) string {
	b.T.Helper()
	return b.Text(`select string_agg(kind || ' ' || id || ' ' || active || disabled_by::text || case kind when 'tenant'
		then (spec - 'synced_at')::text else '' end, ' ' order by kind, id)
		from resources where tenant = $1`, b.Tenant)
}

func machineOf(b sagastest.Purchase, id uuid.UUID) hosting.Ref {
	return hosting.Ref{Kind: "vm", ID: b.Provision(id).Job.VM}
}

func TestAFurtherServiceJoinsTheTenantAndAddsToWhatItMayHave(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	may(b, 5)
	tenants, users := b.Count(`select count(*) from resources where kind = 'tenant'`), b.Count(`select count(*) from users`)
	second := joins(b, "hosting", func(o *sagastest.OrderForm) { o.Domain = "second.example.com" })
	may(b, 10)
	vps, saas := joins(b, "vps"), joins(b, "saas")
	b.Equal("tenants", b.Count(`select count(*) from resources where kind = 'tenant'`), tenants)
	b.Equal("accounts", b.Count(`select count(*) from users`), users)
	b.Equal("invoices of the tenant", b.Count(`select count(*) from invoices where tenant = $1`, b.Tenant), 4)
	b.Eventually("it has the maxima of the plan", func() bool { _, t := tenancy(b); return t.MaySaaS().MaxHostingAccounts == 10 })
	b.Powered(machineOf(b, vps), "running")
	b.Eventually("its own limits are at the engine", func() bool {
		return sagastest.Value(b.Has("tenant", hosting.CustomerNumber(b.Tenant)), "max_sites") == "10"
	})
	b.Equal("owner of the ordered site", b.Has("site", "second.example.com").Owner, b.Has("site", "bought.example.com").Owner)
	for _, id := range []uuid.UUID{second, vps, saas} {
		b.Equal("its tenant", b.Provision(id).Job.Tenant, b.Tenant)
	}
}

func TestADisputeTouchesTheResourcesOfItsOwnServiceAlone(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	vps := joins(b, "vps")
	machine := machineOf(b, vps)
	off := b.Ask(b.Draw("site"), sagastest.Site("off.example.com"))
	b.Carry(off)
	b.Stands(off.Ref, hosting.Running)
	b.Carry(sagastest.Set(off.Ref, `{"is_active":false}`))
	b.On()
	b.Quiet()
	before := snapshot(b)

	disputes(b, vps, order.DisputeOpen)
	b.Powered(machine, "stopped")
	reasons(b)
	b.On()
	disputes(b, b.ID, order.DisputeOpen) // now nothing runs
	reasons(b, "order")
	b.Off()
	disputes(b, vps, order.DisputeWon) // the machine alone goes on
	reasons(b)
	b.Powered(machine, "running")
	b.Off()
	may(b, 0)
	disputes(b, b.ID, order.DisputeWon)
	b.On()
	may(b, 5)
	b.Quiet()
	b.Equal("after all disputes", snapshot(b), before)
}

func TestTheEndOfAServiceLeavesTheOthersOfItsTenant(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	vps := joins(b, "vps")
	machine := machineOf(b, vps)
	b.Pay.GiveAll(b.ID)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "refund"))
	b.Becomes(b.ID, order.StatusRefunded)
	b.Off()
	reasons(b)
	b.Powered(machine, "running")
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("its run is done", func() bool { return b.RunOf("deprovision:"+b.ID.String()).Status == sagas.StatusDone })
	b.Eventually("its sites are gone", func() bool {
		return b.Count(
			`select count(*) from resources where tenant = $1 and kind <> 'vm' and kind <> 'tenant' and status <> 'gone'`,
			b.Tenant,
		) == 0
	})
	b.Powered(machine, "running")
	may(b, 0)
	reasons(b)
	b.Equal("members", b.Count(`select count(*) from memberships where tenant = $1`, b.Tenant), 1)

	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, vps, "the last one"))
	reasons(b, "order")
	b.Powered(machine, "stopped")
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("the run of the last is done", func() bool { return b.RunOf("deprovision:"+vps.String()).Status == sagas.StatusDone })
	b.Quiet()
	b.Equal("what is left", b.Count(`select count(*) from resources where tenant = $1 and status <> 'gone'`, b.Tenant), 0)
	b.Equal("at the engine", len(b.Engine.All()), 0)
}

// A customer who orders again in the shop gets another tenant, whose name tells them apart.
func TestASecondOrderOfTheShopMakesATenantWithAnotherName(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	first := w.Buy(sagastest.OrderForm{Email: "twice@example.com", Company: "Twice SL"})
	w.Becomes(first, order.StatusActive)
	second, other := w.Buy(sagastest.OrderForm{Email: "twice@example.com", Company: "Twice SL"}), w.Buy(
		sagastest.OrderForm{Email: "twice@example.com", Company: "Other SL"},
	)
	for _, id := range []uuid.UUID{second, other} {
		w.Becomes(id, order.StatusActive)
	}
	name := func(id uuid.UUID) string {
		return w.Text(`select spec ->> 'name' from resources where kind = 'tenant' and id = $1`, w.Provision(id).Job.Tenant)
	}
	w.Equal("the first", name(first), "Twice SL")
	w.Equal("the second", name(second), "Twice SL ("+w.Order(second).Number+")")
	w.Equal("one of another name", name(other), "Other SL")
}
