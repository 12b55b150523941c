package hosting_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
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
		words := fmt.Sprint(i.Kind, " ", i.About["id"], i.About["name"], " ", i.About["fields"], " ", i.Answer)
		all = append(all, strings.Join(strings.Fields(words), " "))
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

// This story alone proves that what is in flight, or only partly told, has no verdict.
func TestAMachineOnItsWayIsNoDifference(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, vm, tenant, seen := aMachine(w)
	w.Compute.Forget()
	w.Compute.Put(compute.Seen{Name: seen.Name, External: "part", Partial: true})
	w.Equal("a part", comparedMachines(w), []string(nil))
	w.Compute.Forget()
	w.Compute.Tell(nil, during("list", func() { w.Compute.Put(seen) }))
	w.Equal("a list that lacks it", comparedMachines(w), []string(nil))
	w.Compute.Tell(nil, nil)
	w.Compute.Forget()
	w.Equal("lost", len(comparedMachines(w)), 1)
	w.End()
	w.Does(hosting.Push{Ref: vm}) // no process carries it out
	w.Compute.Put(seen)
	w.Equal("an incident about what is in flight stays", len(comparedMachines(w)), 1)
	_, settled := sagastest.Reports(w, operations.MissingTrouble(tenant, "vm", vm.ID))
	w.Equal("settled", settled, 0)
}

// This story alone proves that machines which are made, switched on or removed while the list
// is read are no difference.
func TestAMachineThatChangesDuringTheListIsNoDifference(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, old, _, _ := aMachine(w)
	_, off, _, _ := aMachine(w)
	w.Carry(hosting.Disable{Ref: off, By: hosting.BySite})
	w.Powered(off, "stopped")
	w.Compute.Tell(during("list", func() {
		aMachine(w)
		w.Carry(hosting.Enable{Ref: off, By: hosting.BySite})
		w.Powered(off, "running")
	}), during("list", func() {
		w.Carry(hosting.Remove{Ref: old})
		w.Stands(old, hosting.Gone)
	}))
	w.Equal("made, switched on, then removed", comparedMachines(w), []string(nil))
	w.Compute.Tell(nil, nil)
	w.Equal("listed", w.Count(`select machines from machine_comparison`), 3)
	w.Equal("after that", comparedMachines(w), []string(nil))
	w.Equal("machines", w.Count(`select machines from machine_comparison`), 2)
}

// during does something in the first call of a name.
func during(call string, do func()) func(string, string) error {
	var once sync.Once
	return func(name, _ string) error {
		if name == call {
			once.Do(do)
		}
		return nil
	}
}

// This story alone proves that no machine of running orders is ever reported, wherever their
// steps are when it is compared.
func TestMachinesOfRunningOrdersAreNeverReported(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Compute.Slowly(1, 2*time.Millisecond, 60*time.Millisecond)
	var orders []uuid.UUID
	for range 8 {
		orders = append(orders, w.Buy(sagastest.OrderForm{Kind: "vps"}))
	}
	compared := 0
	while := func(step string, done func(id uuid.UUID) bool) {
		w.Eventually(step, func() bool {
			compared++
			w.Equal(step, comparedMachines(w), []string(nil))
			return !slices.ContainsFunc(orders, func(id uuid.UUID) bool { return !done(id) })
		})
	}
	vm := func(id uuid.UUID) hosting.Ref { return hosting.Ref{Kind: "vm", ID: w.Provision(id).Job.VM} }
	while("made", func(id uuid.UUID) bool { return w.Order(id).Status == order.StatusActive })
	for _, id := range orders {
		w.Carry(hosting.Disable{Ref: vm(id), By: hosting.BySite})
	}
	while("switched off", func(id uuid.UUID) bool { return w.Resource(vm(id)).SyncStatus == "synced" })
	for _, id := range orders {
		w.Carry(hosting.Remove{Ref: vm(id)})
	}
	while("removed", func(id uuid.UUID) bool { return w.Resource(vm(id)).Status == hosting.Gone })
	w.Equal("machines left", len(w.Compute.All()), 0)
	w.Equal("reports", w.Count(`select count(*) from events where name = 'operations.incident_reported'`), 0)
	t.Logf("%d comparisons", compared)
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
// thousand machines as for ten, and that those of a hypervisor which has lost all are reported
// by and by.
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
	took := time.Since(begun)
	t.Logf("a thousand machines: %v, %d statements", took.Round(time.Millisecond), many)
	w.Equal("within ten seconds", took < 10*time.Second, true)
	w.Equal("statements", many, few)
	w.Equal("lists, looks for one", fmt.Sprint(lists.Load()-before, finds.Load()), "1 0")
	w.Equal("machines", w.Count(`select machines from machine_comparison`), 1000)
	w.Equal("differences", openAboutMachines(w), []string(nil))
	w.Compute.Forget()
	for most := 50; most <= 150; most += 50 { // in one comparison
		asked()
		w.Equal("reported, looks for one", fmt.Sprint(len(openAboutMachines(w)), finds.Load()), fmt.Sprint(most, most))
	}
}
