package sandbox_test

import (
	"errors"
	"net/netip"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

var _ hosting.Hypervisor = (*sandbox.Cluster)(nil)

func pool(t *testing.T) *pgxpool.Pool {
	return eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "sandbox_compute", Files: sandbox.Migrations}))
}

func machine(name, tag string) hosting.VM {
	return hosting.VM{Name: name, Tag: tag, Cores: 2, MemoryMB: 4096, DiskGB: 40, TrafficTB: 1, OS: "debian-12"}
}

func create(t *testing.T, c *sandbox.Cluster, vm hosting.VM) string {
	t.Helper()
	external, err := c.CreateVM(t.Context(), vm)
	if err != nil {
		t.Fatal(err)
	}
	return external
}

func find(t *testing.T, c *sandbox.Cluster, tag, name string) (hosting.VM, bool) {
	t.Helper()
	vm, found, err := c.FindVM(t.Context(), tag, name)
	if err != nil {
		t.Fatal(err)
	}
	return vm, found
}

func order(t *testing.T, c *sandbox.Cluster, f faults.Fault) {
	t.Helper()
	if _, err := c.Faults().Order(t.Context(), f); err != nil {
		t.Fatal(err)
	}
}

func wantFailure(t *testing.T, err error, class domain.Class, code string) {
	t.Helper()
	var f *domain.Failure
	if !errors.As(err, &f) || f.Class != class || f.Code != code {
		t.Errorf("got %v, want %s failure %s", err, class, code)
	}
}

func wantCreated(t *testing.T, c *sandbox.Cluster, tag string, times int) {
	t.Helper()
	if n, err := c.Created(t.Context(), tag); err != nil || n != times {
		t.Errorf("machine %s was created %d times, not %d (%v)", tag, n, times, err)
	}
}

func TestAMachineIsFoundByItsTagThenByItsName(t *testing.T) {
	c := sandbox.New(pool(t))
	mine := create(t, c, machine("vm77", "order-1"))
	other := create(t, c, machine("vm78", "order-2"))
	for _, by := range []struct{ tag, name, external string }{
		{"order-1", "", mine},
		{"", "vm77", mine},
		{"order-1", "vm78", mine}, // the tag counts first
		{"order-3", "vm78", other},
	} {
		vm, found := find(t, c, by.tag, by.name)
		if !found || vm.External != by.external || vm.Cores != 2 || vm.MemoryMB != 4096 || vm.DiskGB != 40 ||
			vm.TrafficTB != 1 || vm.OS != "debian-12" {
			t.Errorf("by %v: %+v, %v", by, vm, found)
		}
	}
	if vm, found := find(t, c, "", ""); found {
		t.Errorf("by nothing: %+v", vm)
	}
}

func TestAMachineHasAnAddressOnceItHasBooted(t *testing.T) {
	p := pool(t)
	create(t, sandbox.New(p, sandbox.Booting(time.Hour)), machine("vm1", "slow"))
	c := sandbox.New(p)
	create(t, c, machine("vm2", "fast"))
	if vm, _ := find(t, c, "slow", ""); vm.State != "booting" || vm.Address != "" {
		t.Errorf("%+v", vm)
	}
	vm, _ := find(t, c, "fast", "")
	if a, err := netip.ParseAddr(vm.Address); vm.State != "running" || err != nil || !netip.MustParsePrefix("192.0.2.0/24").Contains(a) {
		t.Errorf("%+v", vm)
	}
}

func TestEveryMachineHasAnAddressOfItsOwn(t *testing.T) {
	c := sandbox.New(pool(t))
	seen := map[string]bool{}
	for i := range 300 {
		create(t, c, machine("m"+string(rune('a'+i/26))+string(rune('a'+i%26)), "many"))
	}
	all, err := c.Machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, vm := range all {
		a, err := netip.ParseAddr(vm.Address)
		if err != nil || seen[vm.Address] || !a.Is4() && !netip.MustParsePrefix("2001:db8::/32").Contains(a) {
			t.Errorf("address %q of %s", vm.Address, vm.Name)
		}
		seen[vm.Address] = true
	}
	_, _, err = c.FindVM(t.Context(), "many", "")
	wantFailure(t, err, domain.Permanent, "ambiguous")
}

func TestTheHypervisorHasRulesOfItsOwn(t *testing.T) {
	c := sandbox.New(pool(t))
	create(t, c, machine("vm1", "a"))
	_, err := c.CreateVM(t.Context(), machine("vm1", "b"))
	wantFailure(t, err, domain.Permanent, "name_taken")
	for _, change := range []func(*hosting.VM){
		func(vm *hosting.VM) { vm.Name = "VM 1" },
		func(vm *hosting.VM) { vm.OS = "" },
		func(vm *hosting.VM) { vm.Cores = 0 },
		func(vm *hosting.VM) { vm.MemoryMB = 0 },
		func(vm *hosting.VM) { vm.DiskGB = -1 },
		func(vm *hosting.VM) { vm.TrafficTB = -1 },
	} {
		vm := machine("vm2", "c")
		change(&vm)
		_, err := c.CreateVM(t.Context(), vm)
		wantFailure(t, err, domain.Permanent, "invalid")
	}
	wantCreated(t, c, "c", 0)
}

// A hypervisor with a size refuses what it has no room for, also of many creations at once,
// and tells so before.
func TestAFullHypervisorRefusesAndTells(t *testing.T) {
	vm := machine("vm1", "a")
	c := sandbox.New(pool(t), sandbox.Sized(3*vm.MemoryMB, 100*vm.DiskGB))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := c.CreateVM(t.Context(), machine("vm"+strconv.Itoa(i), "a")); err != nil {
				wantFailure(t, err, domain.Permanent, "node_full")
			}
		})
	}
	all.Wait()
	wantCreated(t, c, "a", 3)
	wantRoom := func(want bool) {
		t.Helper()
		if has, err := c.HasRoom(t.Context(), vm); err != nil || has != want {
			t.Errorf("room: %v, %v", has, err)
		}
	}
	wantRoom(false)
	machines, err := c.Machines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.RemoveVM(t.Context(), machines[0].External); err != nil {
		t.Fatal(err)
	}
	wantRoom(true)
}

func TestOfEqualCreationsAtOnceOneSucceeds(t *testing.T) {
	c := sandbox.New(pool(t))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := c.CreateVM(t.Context(), machine("vm1", "a")); err != nil {
				wantFailure(t, err, domain.Permanent, "name_taken")
			}
		})
	}
	all.Wait()
	wantCreated(t, c, "a", 1)
}

func TestRemovingAMachineThatIsGoneIsASuccess(t *testing.T) {
	c := sandbox.New(pool(t))
	external := create(t, c, machine("vm1", "a"))
	for _, id := range []string{external, external, "", "999999", "no number"} {
		if err := c.RemoveVM(t.Context(), id); err != nil {
			t.Errorf("remove %q: %v", id, err)
		}
	}
	if vm, found := find(t, c, "a", "vm1"); found {
		t.Errorf("still there: %+v", vm)
	}
}

func turn(t *testing.T, c *sandbox.Cluster, external string, on bool) {
	t.Helper()
	if err := c.SwitchVM(t.Context(), external, on); err != nil {
		t.Fatal(err)
	}
}

func TestAMachineIsSwitchedOffAndOnAgain(t *testing.T) {
	p := pool(t)
	c := sandbox.New(p)
	external := create(t, c, machine("vm1", "a"))
	running, _ := find(t, c, "a", "")
	for range 2 { // again changes nothing
		turn(t, c, external, false)
		if vm, found := find(t, c, "a", ""); !found || vm.State != "stopped" || vm.Address != "" {
			t.Errorf("%+v, %v", vm, found)
		}
	}
	for range 2 {
		turn(t, c, external, true)
		if vm, _ := find(t, c, "a", ""); vm != running {
			t.Errorf("%+v, not %+v", vm, running)
		}
	}
	slow := sandbox.New(p, sandbox.Booting(time.Hour))
	turn(t, slow, external, true) // it has been on all the time
	if vm, _ := find(t, c, "a", ""); vm.State != "running" {
		t.Errorf("%+v", vm)
	}
	turn(t, slow, external, false)
	turn(t, slow, external, true)
	if vm, _ := find(t, c, "a", ""); vm.State != "booting" {
		t.Errorf("%+v", vm)
	}
	wantFailure(t, c.SwitchVM(t.Context(), "4711", false), domain.Permanent, "absent")
}

func TestAMachineIsSwitchedOffInItsOwnTime(t *testing.T) {
	c := sandbox.New(pool(t))
	external := create(t, c, machine("vm1", "a"))
	order(t, c, faults.Fault{What: faults.Late, Call: faults.Change, Kind: "vm", Delay: time.Hour})
	turn(t, c, external, false)
	if vm, _ := find(t, c, "a", ""); vm.State != "running" {
		t.Errorf("%+v", vm)
	}
	order(t, c, faults.Fault{What: faults.ResetAfter, Call: faults.Change})
	wantFailure(t, c.SwitchVM(t.Context(), external, false), domain.Unknown, "reset")
	if vm, _ := find(t, c, "a", ""); vm.State != "stopped" {
		t.Errorf("%+v", vm)
	}
	order(t, c, faults.Fault{What: faults.Busy, Call: faults.Change})
	wantFailure(t, c.SwitchVM(t.Context(), external, true), domain.Transient, "busy")
}

func TestWhatIsOrderedToGoWrongGoesWrong(t *testing.T) {
	c := sandbox.New(pool(t))
	order(t, c, faults.Fault{What: faults.ResetAfter, Call: faults.Create, Kind: "vm"})
	_, err := c.CreateVM(t.Context(), machine("vm1", "a"))
	wantFailure(t, err, domain.Unknown, "reset")
	if _, found := find(t, c, "a", ""); !found {
		t.Error("was not carried out")
	}
	order(t, c, faults.Fault{What: faults.Late, Call: faults.Create, Delay: time.Hour})
	create(t, c, machine("vm2", "b"))
	order(t, c, faults.Fault{What: faults.Forget, Call: faults.Create})
	create(t, c, machine("vm3", "c"))
	order(t, c, faults.Fault{What: faults.ClaimsDone, Call: faults.Create})
	if create(t, c, machine("vm4", "d")) == "0" {
		t.Error("a machine that never was has no number")
	}
	for _, tag := range []string{"b", "c", "d"} {
		if vm, found := find(t, c, tag, ""); found {
			t.Errorf("seen: %+v", vm)
		}
	}
	wantCreated(t, c, "b", 1)
	wantCreated(t, c, "d", 0)
	order(t, c, faults.Fault{What: faults.TimeoutBefore, Call: faults.Find})
	_, _, err = c.FindVM(t.Context(), "a", "")
	wantFailure(t, err, domain.Unknown, "timeout")
	order(t, c, faults.Fault{What: faults.Busy, Call: faults.Remove})
	wantFailure(t, c.RemoveVM(t.Context(), "100"), domain.Transient, "busy")
}
