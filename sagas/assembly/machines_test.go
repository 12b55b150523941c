package assembly_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// machine buys a virtual server and answers with it and its tenant.
func (w *world) machine() (id uuid.UUID, vm, tenant hosting.Ref) {
	w.t.Helper()
	id = w.buy(ordering{kind: "vps"})
	w.becomes(id, order.StatusActive)
	job := w.provision(id).Job
	return id, hosting.Ref{Kind: "vm", ID: job.VM}, hosting.Ref{Kind: "tenant", ID: job.Tenant}
}

// powered waits until a machine is on or off, and every run for it is done.
func (w *world) powered(vm hosting.Ref, state string) {
	w.t.Helper()
	w.eventually(vm.Stream().String()+" is "+state, func() bool {
		return w.compute.state(hosting.MachineName(vm.ID)) == state && w.resource(vm).SyncStatus == "synced" &&
			w.count(`select count(*) from saga_run where about = $1 and status <> 'done'`, vm.Stream().String()) == 0
	})
}

// Who buys a machine gets a machine, and nothing of the hosting engine.
func TestTheBuyerOfAMachineGetsNoSites(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	_, _, tenant := w.machine()
	request := hosting.Request{Ref: hosting.Ref{Kind: "site", ID: w.draw("site")}, Tenant: tenant.ID, Spec: site("more.example").Fields().Values()}
	_, err := w.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, request)
	w.equal("a site", fmt.Sprint(err), "non_field_errors: Limit reached: sites.")
	kind, _ := hosting.KindNamed("mail_domain")
	used, most, err := w.tables.For(projections.System).Limit(t.Context(), kind, tenant.ID)
	w.must(err)
	w.equal("mail domains", fmt.Sprint(used, " of ", most), "0 of 0")
}

func TestAMachineRestsWithItsTenant(t *testing.T) { // E-6
	t.Parallel()
	w := newWorld(t).goes()
	_, vm, tenant := w.machine()
	w.carry(hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.powered(vm, "stopped")
	w.equal("clients made for the tenant of a machine", len(w.engine.all()), 0)
	w.carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder})
	w.powered(vm, "running")
	w.carry(set(tenant, `{"status":"suspended"}`), hosting.SuspendService{Ref: tenant, By: hosting.ByOrder})
	w.powered(vm, "stopped")
	w.carry(hosting.ResumeService{Ref: tenant, By: hosting.ByOrder}) // it is still suspended
	w.carry(hosting.Remove{Ref: vm})
	w.stands(vm, hosting.Gone)
	w.equal("machines", len(w.compute.all()), 0)
}

func TestAWorkerMayDieWhileItSwitchesAMachine(t *testing.T) { // F-1
	t.Parallel()
	var at atomic.Value
	at.Store(sagas.Point(""))
	w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 300 * time.Millisecond })
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		if c.At().Name == "machine" && at.CompareAndSwap(p, sagas.Point("")) {
			return sagas.ErrKilled
		}
		return nil
	})
	w.goes()
	_, vm, _ := w.machine()
	// The machine is off by a reason that no reaction goes by: its tenant is in service, so
	// a reaction switches on again what is off by the tenant.
	for i, p := range []sagas.Point{sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete} {
		at.Store(p)
		if i%2 == 0 {
			w.carry(hosting.Disable{Ref: vm, By: hosting.BySite})
			w.powered(vm, "stopped")
		} else {
			w.carry(hosting.Enable{Ref: vm, By: hosting.BySite})
			w.powered(vm, "running")
		}
		w.equal("died at "+string(p), at.Load(), sagas.Point(""))
	}
}

func TestAMachineThatIsNotThereCannotBeSwitched(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	id, vm, _ := w.machine()
	w.must(w.compute.RemoveVM(t.Context(), "ext-"+hosting.MachineName(vm.ID)))
	w.carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.eventually("it is refused", func() bool { return w.resource(vm).SyncError == "absent" })
	w.must(func() error {
		_, err := w.compute.CreateVM(t.Context(), hosting.VM{Name: hosting.MachineName(vm.ID), Tag: uuid.NewString()})
		return err
	}())
	w.carry(hosting.Remove{Ref: vm}) // the machine with its name has another owner
	w.stands(vm, hosting.Gone)
	w.equal("machines", len(w.compute.all()), 1)
	w.equal("order", w.order(id).Status, order.StatusActive)
}

func TestALaterRequestForAMachineWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	_, vm, _ := w.machine()
	var asked atomic.Int32
	w.compute.tell(nil, func(call, _ string) error {
		if call == "switch" && asked.Add(1) == 1 {
			w.carry(hosting.Enable{Ref: vm, By: hosting.BySite}) // while the answer gets lost
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	w.carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.powered(vm, "running")
	w.equal("events", strings.Join(w.happened(vm.Stream())[2:], " "), "hosting.disabled hosting.enabled hosting.engine_confirmed")
}
