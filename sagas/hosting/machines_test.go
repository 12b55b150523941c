package hosting_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// Who buys a machine gets a machine, and nothing of the hosting engine.
func TestTheBuyerOfAMachineGetsNoSites(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, _, tenant := sagastest.Machine(w)
	request := hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: w.Draw("site")}, Tenant: tenant.ID,
		Spec: sagastest.Site("more.example").Fields().Values(),
	}
	_, err := w.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, request)
	w.Equal("a site", fmt.Sprint(err), "non_field_errors: Limit reached: sites.")
	kind, _ := hosting.KindNamed("mail_domain")
	used, most, err := w.Tables.For(projections.System).Hosting().Limit(t.Context(), kind, tenant.ID)
	w.Must(err)
	w.Equal("mail domains", fmt.Sprint(used, " of ", most), "0 of 0")
}

func TestAMachineThatIsNotThereCannotBeSwitched(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id, vm, _ := sagastest.Machine(w)
	w.Compute.Forget()
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Eventually("it is refused", func() bool { return w.Resource(vm).SyncError == "absent" })
	w.Compute.Put(compute.Seen{Name: hosting.MachineName(vm.ID), ID: uuid.New(), State: compute.Running})
	w.Carry(hosting.Remove{Ref: vm}) // the machine with its name has another owner
	w.Stands(vm, hosting.Gone)
	w.Equal("machines", len(w.Compute.All()), 1)
	w.Equal("order", w.Order(id).Status, order.StatusActive)
}
