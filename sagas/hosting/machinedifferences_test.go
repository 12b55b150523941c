package hosting_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// comparedMachines compares the hypervisor with the records of machines and returns the
// incidents that are open or ignored then, in words.
func comparedMachines(w *sagastest.World) (all []string) {
	w.T.Helper()
	w.Must(w.Differences.CompareMachines(w.T.Context(), "one"))
	return openAboutMachines(w)
}

func openAboutMachines(w *sagastest.World) (all []string) {
	w.T.Helper()
	found, err := w.Tables.For(projections.System).Operations().MachineDifferences(w.T.Context())
	w.Must(err)
	for _, i := range found {
		all = append(all, fmt.Sprint(i.Kind, " ", i.About["id"], i.About["name"], " ", i.About["fields"], i.Answer))
	}
	slices.Sort(all)
	return all
}

// aMachine is a machine that an order has bought, and that runs.
func aMachine(w *sagastest.World) (order uuid.UUID, vm hosting.Ref, tenant int64, seen compute.Seen) {
	w.T.Helper()
	order, vm, of := sagastest.Machine(w)
	w.Powered(vm, "running")
	return order, vm, of.ID, w.Compute.All()[hosting.MachineName(vm.ID)]
}

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
		w.Equal("lost", comparedMachines(w), []string{fmt.Sprint("engine_missing ", vm.ID, " ")})
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
	w.Equal("without a record", comparedMachines(w), []string{"machine_orphan vm900 "})
	w.Equal("adopted", domain.CodeOf(answer(w, told, operations.Adopt)), domain.Conflict)
	other := orphan
	other.ID, other.Ours = uuid.New(), false
	w.Compute.Put(other)
	w.Equal("a stranger's by now", domain.CodeOf(answer(w, told, operations.Remove)), domain.Conflict)
	w.Compute.Put(orphan)
	w.Must(answer(w, told, operations.Remove))
	left := w.Compute.All()
	_, stays := left[seen.Name]
	w.Equal("machines", fmt.Sprint(len(left), stays), "1 true")
	w.Equal("left", comparedMachines(w), []string(nil))
}

// This story alone proves that no answer touches a stranger's machine, also one with the name
// of ours, and that other strangers are counted alone.
func TestAMachineOfOthersIsNeverTouched(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	order, vm, tenant, seen := aMachine(w)
	w.Compute.Forget()
	stranger := compute.Seen{External: "101", ID: uuid.New(), Name: seen.Name, State: compute.Running}
	w.Compute.Put(stranger)
	w.Compute.Put(compute.Seen{External: "102", ID: uuid.New(), Name: "web", State: compute.Running})
	w.Equal("told", comparedMachines(w), []string{
		fmt.Sprint("engine_missing ", vm.ID, " "), fmt.Sprint("machine_stranger ", seen.Name, " "),
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

// This story alone proves that what is in flight, or only partly told, has no verdict.
func TestAMachineOnItsWayIsNoDifference(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant, seen := aMachine(w)
	w.Compute.Forget()
	w.Compute.Put(compute.Seen{Name: seen.Name, External: "part", Partial: true})
	w.Equal("a part", comparedMachines(w), []string(nil))
	w.Compute.Forget()
	w.Equal("lost", len(comparedMachines(w)), 1)
	w.End()
	w.Does(hosting.Push{Ref: vm}) // no process carries it out
	w.Compute.Put(seen)
	w.Equal("an incident about what is in flight stays", len(comparedMachines(w)), 1)
	_, settled := sagastest.Reports(w, operations.MissingTrouble(tenant, "vm", vm.ID))
	w.Equal("settled", settled, 0)
}

// This story alone proves that hypervisors are compared in turn without a request, and that
// one which does not answer settles nothing.
func TestASilentHypervisorSettlesNothing(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		o.Times.Compare, o.Times.ComparePoll, o.Times.CompareLease = 20*time.Millisecond, 5*time.Millisecond, 2*time.Second
	}).Goes()
	_, vm, tenant, seen := aMachine(w)
	lost := operations.MissingTrouble(tenant, "vm", vm.ID)
	_, err := w.Pool.Exec(t.Context(), `update engine_comparison set began_at = began_at - interval '1 hour'`)
	w.Must(err)
	w.Compute.Forget()
	w.Eventually("it is told", func() bool { reported, _ := sagastest.Reports(w, lost); return reported == 1 })
	w.Compute.Tell(func(call, _ string) error {
		if call == "list" || call == "find" {
			return domain.Fail(domain.Transient, "unreachable", errors.New("away"))
		}
		return nil
	}, nil)
	w.Compute.Put(seen)
	w.Eventually("it fails", func() bool {
		return w.Count(`select coalesce(sum(attempts), 0) from task where queue = 'machines'`) > 1
	})
	_, settled := sagastest.Reports(w, lost)
	w.Equal("settled while it is away", settled, 0)
	w.Equal("an answer", domain.CodeOf(answer(w, lost, operations.Remake)), domain.Unavailable)
	w.Compute.Tell(nil, nil)
	w.Eventually("it is over", func() bool { _, settled := sagastest.Reports(w, lost); return settled == 1 })
}

// This story alone proves that a comparison lists once and asks the database as often for a
// thousand machines as for ten.
func TestAThousandMachinesAreComparedByOneList(t *testing.T) {
	t.Parallel()
	var statements, lists, finds atomic.Int64
	tracer := &eventstoretest.Tracer{Statement: func(string, []any) { statements.Add(1) }}
	w := sagastest.NewWorld(t, sagastest.Traced(t, tracer), func(o *assembly.Options) {
		readers := eventstoretest.Readers(t, o.Store.Pool().Config().ConnString())
		o.Tables = projections.Open(eventstoretest.Traced(t, readers, 2, tracer))
	})
	tenant := w.Tenant(5, 12)
	w.Compute.Tell(func(call, _ string) error {
		switch call {
		case "list":
			lists.Add(1)
		case "find":
			finds.Add(1)
		}
		return nil
	}, nil)
	record := func(from, to int64) {
		var commands []domain.Command
		for id := from; id < to; id++ {
			order := uuid.NewString()
			m := hosting.NewMachine(id, order)
			m.Cores, m.MemoryMB, m.DiskGB = 2, 2048, 40
			ref := hosting.Ref{Kind: "vm", ID: id}
			commands = append(commands,
				hosting.Request{Ref: ref, Tenant: tenant.ID, Spec: m.Fields().Values(), For: "test"},
				hosting.Confirm{Ref: ref, External: "ext-" + m.Name})
			w.Compute.Put(compute.Seen{
				External: "ext-" + m.Name, ID: compute.ID(sagastest.Installation, order), Name: m.Name, Ours: true, Service: order,
				Cores: 2, MemoryMB: 2048, DiskGB: 40, State: compute.Running, Boot: 1, Disk: 1,
			})
			if len(commands) >= 100 {
				w.Does(commands...)
				commands = nil
			}
		}
		w.Does(commands...)
	}
	asked := func() (n int64) {
		before := statements.Load()
		w.Must(w.Differences.CompareMachines(t.Context(), "one"))
		return statements.Load() - before
	}
	record(1, 11)
	asked() // connections are made
	few := asked()
	record(11, 1001)
	before, begun := lists.Load(), time.Now()
	many := asked()
	t.Logf("a thousand machines: %v, %d statements", time.Since(begun).Round(time.Millisecond), many)
	w.Equal("statements", many, few)
	w.Equal("lists, looks for one", fmt.Sprint(lists.Load()-before, finds.Load()), "1 0")
	w.Equal("machines", w.Count(`select machines from machine_comparison`), 1000)
	w.Equal("differences", openAboutMachines(w), []string(nil))
}
