package hosting_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
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

func TestAMachineRestsWithItsTenant(t *testing.T) { // E-6
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant := sagastest.Machine(w)
	w.Carry(hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "stopped")
	w.Equal("clients made for the tenant of a machine", len(w.Engine.All()), 0)
	w.Carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "running")
	w.Carry(sagastest.Set(tenant, `{"status":"suspended"}`), hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.Powered(vm, "stopped")
	w.Carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder}) // it is still suspended
	w.Carry(hosting.Remove{Ref: vm})
	w.Stands(vm, hosting.Gone)
	w.Equal("machines", len(w.Compute.All()), 0)
}

func TestAMachineThatIsNotThereCannotBeSwitched(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id, vm, _ := sagastest.Machine(w)
	w.Must(w.Compute.RemoveVM(t.Context(), "ext-"+hosting.MachineName(vm.ID)))
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Eventually("it is refused", func() bool { return w.Resource(vm).SyncError == "absent" })
	w.Must(func() error {
		_, err := w.Compute.CreateVM(t.Context(), hosting.VM{Name: hosting.MachineName(vm.ID), Tag: uuid.NewString()})
		return err
	}())
	w.Carry(hosting.Remove{Ref: vm}) // the machine with its name has another owner
	w.Stands(vm, hosting.Gone)
	w.Equal("machines", len(w.Compute.All()), 1)
	w.Equal("order", w.Order(id).Status, order.StatusActive)
}

func TestALaterRequestForAMachineWins(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, _ := sagastest.Machine(w)
	var asked atomic.Int32
	w.Compute.Tell(nil, func(call, _ string) error {
		if call == "switch" && asked.Add(1) == 1 {
			w.Carry(hosting.Enable{Ref: vm, By: hosting.BySite}) // while the answer gets lost
			return domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie)
		}
		return nil
	})
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Powered(vm, "running")
	w.Equal("events", strings.Join(w.Happened(vm.Stream())[2:], " "), "hosting.disabled hosting.enabled hosting.engine_confirmed")
}
