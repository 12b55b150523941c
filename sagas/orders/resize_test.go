package orders_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
	"hostpanel/sagas/sagastest"
)

func TestAServerGetsAnotherSizeWhereItsNodeHasRoom(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	stocked(t, w.World, 3) // 6144 MB
	for id, body := range map[int64]string{
		20: `{"name":"L","price":"36.30","resource_type":"vps","vps_cpu_cores":4,"vps_memory_mb":4096,"vps_disk_gb":80}`,
		21: `{"name":"M","price":"24.20","resource_type":"vps","vps_cpu_cores":3,"vps_memory_mb":2048,"vps_disk_gb":40}`,
	} {
		var p storefront.Plan
		_, err := p.Fields().DecodeJSON([]byte(body), field.Create)
		w.Must(err)
		w.Does(storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: w.Runner.Now()})
	}
	first, second := w.Serves(sagastest.OrderForm{Kind: "vps"}), w.Serves(sagastest.OrderForm{Kind: "vps"})
	reserved := func(id uuid.UUID) string {
		return w.Text(`select concat_ws(' ', cores, memory_mb, disk_gb) from machine_places where order_id = $1`, id)
	}
	w.Equal("a smaller disk", fmt.Sprint(w.Changes(first, 4, "monthly")), "plan: The disk of a virtual server cannot shrink: it has 40 GB.")
	w.Must(w.Changes(first, 20, "monthly"))
	w.Equal("reserved before it is paid", reserved(first), "4 4096 80")
	const full = "plan: The node of the virtual server has no room for this size."
	w.Equal("the other one", fmt.Sprint(w.Changes(second, 20, "monthly")), full)
	_, _, err := w.Billing.PreviewChange(t.Context(), second, 20, "monthly")
	w.Equal("its preview", fmt.Sprint(err), full)

	w.Must(w.Changes(first, 21, "monthly")) // instead
	w.Eventually("the rest is free again", func() bool { return reserved(first) == "3 2048 40" })
	w.Must(w.Changes(second, 20, "monthly"))
	w.PaysChange(second)
	machine := func() (m hosting.Machine) {
		row := w.Resource(hosting.Ref{Kind: "vm", ID: w.Provision(second).Job.VM})
		w.Must(row.Load(&m))
		return m
	}
	w.Eventually("the machine is to be larger", func() bool { return machine().MemoryMB == 4096 })
	w.Equal("the machine", fmt.Sprint(machine().Cores, machine().DiskGB), "4 80")
	w.Equal("its place", reserved(second), "4 4096 80")
}
