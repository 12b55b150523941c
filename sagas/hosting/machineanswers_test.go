package hosting_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func specOf(w *sagastest.World, vm hosting.Ref) (m hosting.Machine) {
	w.T.Helper()
	row := w.Resource(vm)
	w.Must(row.Load(&m))
	return m
}

// This story alone proves that a lost machine is made again once, with a disk of its own, and
// that one that has come back is not.
func TestALostMachineIsMadeAgainOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	order, vm, tenant, seen := aMachine(w)
	w.Equal("at first", comparedMachines(w), []string(nil))
	w.Compute.Forget()
	lost := operations.MissingTrouble(tenant, "vm", vm.ID)
	for range 2 {
		w.Equal("lost", comparedMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID)})
	}
	w.Compute.Put(seen)
	w.Equal("it has come back", domain.CodeOf(answer(w, lost, operations.Remake)), domain.Conflict)
	w.Equal("its disk", specOf(w, vm).Disks, 1)
	w.Equal("over", comparedMachines(w), []string(nil))
	w.Compute.Forget()
	comparedMachines(w)
	w.Must(answer(w, lost, operations.Remake))
	w.Equal("answered twice", domain.CodeOf(answer(w, lost, operations.Remake)), domain.Conflict)
	w.Powered(vm, "running")
	w.Equal("machines made", w.Compute.Creations(order.String()), 2)
	w.Equal("the disk of the second", w.Compute.All()[seen.Name].Disk, 2)
	w.Equal("left", comparedMachines(w), []string(nil))
}

// This story alone proves that the record wins by a push, and that the hypervisor wins by an
// adoption, which changes no machine.
func TestAChangedMachineIsPushedOrAdopted(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant, seen := aMachine(w)
	other := seen
	other.MemoryMB /= 2
	w.Compute.Put(other)
	w.Equal("less memory", comparedMachines(w), []string{fmt.Sprint("engine_changed ", vm.ID, " memory_mb")})
	w.Must(answer(w, operations.ChangedTrouble(tenant, "vm", vm.ID, []string{"memory_mb"}), operations.Remake))
	w.Eventually("it is as it was", func() bool { return w.Compute.All()[seen.Name].MemoryMB == seen.MemoryMB })
	w.Powered(vm, "running")
	other = w.Compute.All()[seen.Name]
	other.Cores, other.DiskGB = other.Cores+1, other.DiskGB+10
	w.Compute.Put(other)
	w.Equal("more of all", comparedMachines(w), []string{fmt.Sprint("engine_changed ", vm.ID, " cores disk_gb")})
	larger := operations.ChangedTrouble(tenant, "vm", vm.ID, []string{"cores", "disk_gb"})
	w.Equal("no disk shrinks", domain.CodeOf(answer(w, larger, operations.Remake)), domain.Conflict)
	w.Must(answer(w, larger, operations.Ignore))
	w.Equal("left as it is", comparedMachines(w), []string{fmt.Sprint("engine_changed ", vm.ID, " cores disk_gb ignore")})
	w.Must(answer(w, larger, operations.Adopt))
	m := specOf(w, vm)
	w.Equal("the record", fmt.Sprint(m.Cores, m.DiskGB), fmt.Sprint(other.Cores, other.DiskGB))
	w.Equal("the machine", fmt.Sprint(w.Compute.All()[seen.Name]), fmt.Sprint(other))
	w.Equal("left", comparedMachines(w), []string(nil))
}

// This story alone proves that a suspended machine that runs is a difference which cannot be
// adopted, and that one whose system has shut itself down is none.
func TestASuspendedMachineThatRunsIsADifference(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant, seen := aMachine(w)
	off := seen
	off.State = compute.Stopped
	w.Compute.Put(off)
	w.Equal("it has shut itself down", comparedMachines(w), []string(nil))
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Powered(vm, "stopped")
	on := w.Compute.All()[seen.Name]
	on.State = compute.Running
	w.Compute.Put(on)
	w.Equal("it runs", comparedMachines(w), []string{fmt.Sprint("engine_changed ", vm.ID, " is_on")})
	runs := operations.ChangedTrouble(tenant, "vm", vm.ID, []string{"is_on"})
	w.Equal("adopted", domain.CodeOf(answer(w, runs, operations.Adopt)), domain.Conflict)
	w.Must(answer(w, runs, operations.Remake))
	w.Powered(vm, "stopped")
	w.Equal("left", comparedMachines(w), []string(nil))
}

// This story alone proves that a machine of ours without a record is removed, and no other.
func TestAMachineOfOursWithoutARecordIsRemoved(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, _, _, seen := aMachine(w)
	service := uuid.NewString()
	orphan := compute.Seen{
		External: "ext-vm900", ID: compute.ID(sagastest.Installation, service), Name: "vm900", Ours: true, Service: service,
		State: compute.Running,
	}
	w.Compute.Put(orphan)
	told := operations.OrphanedMachine("one", orphan.Name, orphan.External, service)
	w.Equal("without a record", comparedMachines(w), []string{"machine_orphan vm900"})
	w.Equal("adopted", domain.CodeOf(answer(w, told, operations.Adopt)), domain.Conflict)
	other := orphan
	other.ID, other.Ours = uuid.New(), false
	w.Compute.Put(other)
	w.Equal("a stranger's by now", domain.CodeOf(answer(w, told, operations.Remove)), domain.Conflict)
	other = orphan
	other.External = "later"
	w.Compute.Put(other)
	w.Equal("another of its name by now", domain.CodeOf(answer(w, told, operations.Remove)), domain.Conflict)
	recorded := operations.OrphanedMachine("one", seen.Name, seen.External, seen.Service)
	w.Does(recorded.Report(w.Runner.Now()))
	w.Equal("a record is about it by now", domain.CodeOf(answer(w, recorded, operations.Remove)), domain.Conflict)
	w.Compute.Put(orphan)
	w.Must(answer(w, told, operations.Ignore))
	w.Equal("only the orphan", comparedMachines(w), []string{"machine_orphan vm900 ignore"})
	w.Must(answer(w, told, operations.Remove))
	left := w.Compute.All()
	_, stays := left[seen.Name]
	w.Equal("machines", fmt.Sprint(len(left), stays), "1 true")
	w.Equal("left", comparedMachines(w), []string(nil))
}

// This story alone proves that no answer touches a stranger's machine, also one with the name
// of ours, and that other strangers are counted alone: also a copy that has kept our mark.
func TestAMachineOfOthersIsNeverTouched(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	order, vm, tenant, seen := aMachine(w)
	w.Compute.Forget()
	stranger := compute.Seen{External: "101", ID: uuid.New(), Name: seen.Name, State: compute.Running}
	w.Compute.Put(stranger)
	w.Compute.Put(compute.Seen{External: "102", ID: uuid.New(), Name: "web", Ours: true, Service: order.String(), State: compute.Running})
	w.Equal("told", comparedMachines(w), []string{
		fmt.Sprint("engine_missing ", vm.ID), fmt.Sprint("machine_stranger ", seen.Name),
	})
	w.Equal("counted", w.Count(`select strangers from machine_comparison where server = 'one'`), 2)
	told := operations.StrangerTrouble("one", seen.Name, "101", "")
	w.Equal("removed", domain.CodeOf(answer(w, told, operations.Remove)), domain.Conflict)
	w.Must(answer(w, operations.MissingTrouble(tenant, "vm", vm.ID), operations.Remake))
	w.Eventually("its name is taken", func() bool { return w.Resource(vm).SyncError == "name_taken" })
	w.Equal("machines made", w.Compute.Creations(order.String()), 1)
	w.Equal("the stranger", fmt.Sprint(w.Compute.All()[seen.Name]), fmt.Sprint(stranger))
	w.Must(answer(w, told, operations.Ignore))
	w.Compute.Forget()
	w.Compute.Put(compute.Seen{External: "101", ID: stranger.ID, Name: "renamed", State: compute.Running})
	w.Equal("renamed", comparedMachines(w), []string(nil))
}

// This story alone proves that a lost machine is given up by the end of its service.
func TestALostMachineIsGivenUp(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	order, vm, tenant, _ := aMachine(w)
	w.Compute.Forget()
	lost := operations.MissingTrouble(tenant, "vm", vm.ID)
	w.Equal("lost", comparedMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID)})
	w.Equal("it cannot be taken over", domain.CodeOf(answer(w, lost, operations.Adopt)), domain.Conflict)
	w.Must(answer(w, lost, operations.Ignore))
	w.Equal("left as it is", comparedMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID, " ignore")})
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, order, "its machine is lost"))
	w.Eventually("its grace is over", func() bool {
		return w.Orders.EndGrace(t.Context(), sagastest.Operator, order, "asked for") == nil
	})
	w.Stands(vm, hosting.Gone)
	sagastest.Ends(w, lost, 1)
	w.Equal("left", comparedMachines(w), []string(nil))
	w.Equal("machines made", w.Compute.Creations(order.String()), 1)
}

// This story alone proves that a machine which was moved to another hypervisor by hand is not
// made a second time.
func TestAMachineThatAnotherHypervisorHasIsNotRemade(t *testing.T) {
	t.Parallel()
	two := elsewhere{sagastest.NewCompute()}
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Compute = append(o.Compute, two) }).Goes()
	order, vm, tenant, seen := aMachine(w)
	w.Compute.Forget()
	two.Put(seen)
	w.Equal("moved", comparedMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID)})
	w.Must(w.Differences.CompareMachines(t.Context(), two.Server()))
	w.Equal("there", openAboutMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID)})
	err := answer(w, operations.MissingTrouble(tenant, "vm", vm.ID), operations.Remake)
	w.Equal("remade", domain.CodeOf(err), domain.Conflict)
	w.Equal("machines made", w.Compute.Creations(order.String()), 1)
}

// A hypervisor beside the first.
type elsewhere struct{ *sagastest.Compute }

func (elsewhere) Server() string { return "two" }
