package sandbox_test

import (
	"errors"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

var _ compute.Hypervisor = (*sandbox.Cluster)(nil)

func pool(t *testing.T) *pgxpool.Pool {
	return eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "sandbox_compute", Files: sandbox.Migrations}))
}

func machine(name string) compute.Machine {
	return compute.Machine{
		ID: compute.ID("test", name), Name: name, Service: "order of " + name, Generation: 1, Cores: 2, MemoryMB: 4096, DiskGB: 40,
		On: true, Boot: 1, Disk: 1, Template: "debian-12",
	}
}

func create(t *testing.T, c *sandbox.Cluster, m compute.Machine) string {
	t.Helper()
	external, err := c.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return external
}

func find(t *testing.T, c *sandbox.Cluster, m compute.Machine) (compute.Seen, bool) {
	t.Helper()
	seen, is, err := c.Find(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return seen, is
}

// change asks for a machine to become so.
func change(t *testing.T, c *sandbox.Cluster, external string, m *compute.Machine, wants func(*compute.Machine)) error {
	t.Helper()
	wants(m)
	m.Generation++
	return c.Change(t.Context(), external, *m)
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

func wantCreated(t *testing.T, c *sandbox.Cluster, m compute.Machine, times int) {
	t.Helper()
	if n, err := c.Created(t.Context(), m.Service); err != nil || n != times {
		t.Errorf("machine %s was created %d times, not %d (%v)", m.Name, n, times, err)
	}
}

// Machines of an earlier version have the id of their order as a tag, and no other one.
func TestAMachineFromBeforeIsFoundByItsService(t *testing.T) {
	p := pool(t)
	c, m := sandbox.New(p, sandbox.OfInstallation("ours")), machine("vm77")
	before := func() {
		if _, err := p.Exec(t.Context(), `
			insert into sandbox_compute.machines (name, tag, cores, memory_mb, disk_gb, traffic_tb, os, boots_at, visible_at)
			values ($1, $2, 2, 4096, 40, 1, 'debian-12', real_now(), real_now())`, m.Name, m.Service); err != nil {
			t.Fatal(err)
		}
	}
	before()
	seen, is := find(t, c, m)
	if !is || seen.ID != m.ID || !seen.Ours || seen.Service != m.Service || seen.Generation != 0 || !m.IsSo(seen) {
		t.Errorf("%+v, %v", seen, is)
	}
	if again := create(t, c, m); again != seen.External {
		t.Errorf("made again: %s", again)
	}
	if err := change(t, c, seen.External, &m, func(m *compute.Machine) { m.On = false }); err != nil {
		t.Fatal(err)
	}
	m.Service = "told by its id now"
	if seen, is := find(t, c, m); !is || seen.ID != m.ID || seen.State != compute.Stopped || seen.Service == m.Service {
		t.Errorf("%+v, %v", seen, is)
	}
	m = machine("vm77")
	m.ID = compute.ID("another", m.Name)
	before()
	before()
	_, _, err := c.Find(t.Context(), m)
	wantFailure(t, err, domain.Permanent, "ambiguous")
}

func TestAMachineHasAnAddressOnceItHasBooted(t *testing.T) {
	p := pool(t)
	create(t, sandbox.New(p, sandbox.Booting(time.Hour)), machine("slow"))
	c := sandbox.New(p)
	create(t, c, machine("fast"))
	if seen, _ := find(t, c, machine("slow")); seen.State != compute.Moving || len(seen.Addresses) > 0 {
		t.Errorf("%+v", seen)
	}
	seen, _ := find(t, c, machine("fast"))
	if seen.State != compute.Running || len(seen.Addresses) != 1 || !netip.MustParsePrefix("192.0.2.0/24").Contains(seen.Addresses[0]) {
		t.Errorf("%+v", seen)
	}
	given := machine("given")
	given.Network.Addresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.7/24"), netip.MustParsePrefix("2001:db8:1::7/64")}
	create(t, c, given)
	want := []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8:1::7")}
	if seen, _ := find(t, c, given); !slices.Equal(seen.Addresses, want) {
		t.Errorf("%v", seen.Addresses)
	}
}

func TestEveryMachineHasAnAddressOfItsOwn(t *testing.T) {
	c := sandbox.New(pool(t))
	for i := range 300 {
		create(t, c, machine("m"+string(rune('a'+i/26))+string(rune('a'+i%26))))
	}
	all, err := c.List(t.Context())
	if err != nil || len(all) != 300 {
		t.Fatal(len(all), err)
	}
	has, six := map[netip.Addr]bool{}, netip.MustParsePrefix("2001:db8::/32")
	for _, m := range all {
		if len(m.Addresses) != 1 || has[m.Addresses[0]] || m.Addresses[0].Is6() && !six.Contains(m.Addresses[0]) {
			t.Errorf("%+v", m)
		}
		has[m.Addresses[0]] = true
	}
}

func TestTheHypervisorHasRulesOfItsOwn(t *testing.T) {
	c := sandbox.New(pool(t))
	m := machine("vm2")
	for _, wrong := range []func(*compute.Machine){
		func(m *compute.Machine) { m.Name = "VM 1" },
		func(m *compute.Machine) { m.Hostname = "a_b" },
		func(m *compute.Machine) { m.Template = "" },
		func(m *compute.Machine) { m.Cores = 0 },
		func(m *compute.Machine) { m.MemoryMB = 0 },
		func(m *compute.Machine) { m.DiskGB = -1 },
	} {
		m := m
		wrong(&m)
		_, err := c.Create(t.Context(), m)
		wantFailure(t, err, domain.Permanent, "invalid")
	}
	wantCreated(t, c, m, 0)
}

// Hosts take machines while they have room, also of many creations at once, and tell what is
// free before.
func TestAFullClusterRefusesAndTells(t *testing.T) {
	m := machine("vm1")
	c := sandbox.New(pool(t), sandbox.Hosts(
		compute.Host{Name: "big", Cores: 8, MemoryMB: 2 * m.MemoryMB, DiskGB: 100 * m.DiskGB},
		compute.Host{Name: "down", Cores: 8, MemoryMB: 2 * m.MemoryMB, DiskGB: 100 * m.DiskGB, Down: "it is being mended"},
		compute.Host{Name: "small", Cores: 8, MemoryMB: 2 * m.MemoryMB, DiskGB: m.DiskGB},
	))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := c.Create(t.Context(), machine("vm"+strconv.Itoa(i))); err != nil {
				wantFailure(t, err, domain.Permanent, "node_full")
			}
		})
	}
	all.Wait()
	machines, err := c.List(t.Context())
	if err != nil || len(machines) != 3 {
		t.Fatal(machines, err)
	}
	wantRoom := func(want bool) {
		t.Helper()
		hosts, err := c.Hosts(t.Context())
		if err != nil || len(hosts) != 3 || compute.HasRoom(hosts, m) != want || len(hosts[0].Templates) == 0 {
			t.Errorf("room: %+v, %v", hosts, err)
		}
	}
	wantRoom(false)
	full := machines[slices.IndexFunc(machines, func(m compute.Seen) bool { return m.Host == "big" })]
	first := machine(full.Name)
	wantFailure(t, change(t, c, full.External, &first, func(m *compute.Machine) { m.MemoryMB++ }), domain.Permanent, "node_full")
	if err := c.Remove(t.Context(), full.External, first); err != nil {
		t.Fatal(err)
	}
	wantRoom(true)
}

// Clusters of other names have nothing in common but the database.
func TestClustersStandSideBySide(t *testing.T) {
	p := pool(t)
	one, two := sandbox.New(p, sandbox.Named("one")), sandbox.New(p, sandbox.Named("two"))
	m := machine("vm1")
	external := create(t, one, m)
	if seen, is := find(t, two, m); is || two.Server() != "two" {
		t.Errorf("%+v", seen)
	}
	wantFailure(t, two.Change(t.Context(), external, m), domain.Permanent, "absent")
	if err := two.Remove(t.Context(), external, m); err != nil {
		t.Fatal(err)
	}
	if create(t, two, m) == external {
		t.Error("one machine is on both")
	}
	if all, err := one.List(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestAMachineShutsDownInItsOwnTime(t *testing.T) {
	c := sandbox.New(pool(t), sandbox.ShuttingDown(time.Hour))
	m := machine("vm1")
	external := create(t, c, m)
	for range 2 {
		wantFailure(t, change(t, c, external, &m, func(m *compute.Machine) { m.On, m.Soft = false, true }), domain.Waiting, "moving")
		if seen, _ := find(t, c, m); seen.State != compute.Running {
			t.Errorf("%+v", seen)
		}
	}
	if err := change(t, c, external, &m, func(m *compute.Machine) { m.Soft = false }); err != nil {
		t.Error(err)
	}
	if seen, _ := find(t, c, m); seen.State != compute.Stopped || len(seen.Addresses) > 0 {
		t.Errorf("%+v", seen)
	}
	order(t, c, faults.Fault{What: faults.Late, Call: faults.Change, Kind: "vm", Delay: time.Hour})
	if err := change(t, c, external, &m, func(m *compute.Machine) { m.On = true }); err != nil {
		t.Error(err)
	}
	if seen, _ := find(t, c, m); seen.State != compute.Moving {
		t.Errorf("%+v", seen)
	}
}

// Traffic is counted from each start, and the epoch tells so.
func TestTrafficIsCountedFromEachStart(t *testing.T) {
	c := sandbox.New(pool(t))
	m := machine("vm1")
	external := create(t, c, m)
	if err := c.Transfer(t.Context(), external, 700, 50); err != nil {
		t.Fatal(err)
	}
	before, err := c.Usage(t.Context(), external, m)
	if err != nil || before.Received != 700 || before.Sent != 50 {
		t.Errorf("%+v, %v", before, err)
	}
	if err := change(t, c, external, &m, func(m *compute.Machine) { m.Boot++ }); err != nil {
		t.Fatal(err)
	}
	after, err := c.Usage(t.Context(), external, m)
	if err != nil || after.Received != 0 || after.Sent != 0 || after.Epoch == before.Epoch {
		t.Errorf("%+v, %v", after, err)
	}
}

// A client of RFB sees another picture after each key.
func TestAKeyChangesTheScreen(t *testing.T) {
	c := sandbox.New(pool(t))
	m := machine("vm1")
	external := create(t, c, m)
	screen, password, err := c.Screen(t.Context(), external, m)
	if err != nil || password != "" {
		t.Fatal(password, err)
	}
	defer func() { _ = screen.Close() }()
	says := func(say []byte, answer int) []byte {
		t.Helper()
		if _, err := screen.Write(say); err != nil {
			t.Fatal(err)
		}
		all := make([]byte, answer)
		if _, err := io.ReadFull(screen, all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	greeting := make([]byte, 12)
	if _, err := io.ReadFull(screen, greeting); err != nil || string(greeting) != "RFB 003.008\n" {
		t.Errorf("%q, %v", greeting, err)
	}
	says([]byte("RFB 003.008\n"), 2)
	says([]byte{1}, 4)
	start := says([]byte{1}, 24+len(m.Name))
	if string(start[24:]) != m.Name {
		t.Errorf("%q", start)
	}
	const picture = 16 + 320*200*4
	says([]byte{2, 0, 0, 1, 0, 0, 0, 0}, 0)
	says([]byte{6, 0, 0, 0, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'}, 0)
	first := says([]byte{3, 0, 0, 0, 0, 0, 1, 64, 0, 200}, picture)
	says([]byte{3, 1, 0, 0, 0, 0, 1, 64, 0, 200}, 0)
	second := says([]byte{4, 1, 0, 0, 0, 0, 0, 'x'}, picture)
	if string(first[16:20]) == string(second[16:20]) || string(first[16:20]) != string(first[picture-4:]) {
		t.Errorf("%v, %v", first[:20], second[:20])
	}
	if err := change(t, c, external, &m, func(m *compute.Machine) { m.On = false }); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Screen(t.Context(), external, m)
	wantFailure(t, err, domain.Permanent, "stopped")
}

func TestWhatIsOrderedToGoWrongGoesWrong(t *testing.T) {
	c := sandbox.New(pool(t))
	a := machine("vm1")
	order(t, c, faults.Fault{What: faults.ResetAfter, Call: faults.Create, Kind: "vm"})
	_, err := c.Create(t.Context(), a)
	wantFailure(t, err, domain.Unknown, "reset")
	if _, is := find(t, c, a); !is {
		t.Error("was not carried out")
	}
	order(t, c, faults.Fault{What: faults.Late, Call: faults.Create, Delay: time.Hour})
	late := create(t, c, machine("vm2"))
	order(t, c, faults.Fault{What: faults.Forget, Call: faults.Create})
	create(t, c, machine("vm3"))
	order(t, c, faults.Fault{What: faults.ClaimsDone, Call: faults.Create})
	if create(t, c, machine("vm4")) == "0" {
		t.Error("a machine that never was has no number")
	}
	for _, name := range []string{"vm2", "vm3", "vm4"} {
		if seen, is := find(t, c, machine(name)); is {
			t.Errorf("seen: %+v", seen)
		}
	}
	if again := create(t, c, machine("vm2")); again != late {
		t.Errorf("%s was made again", again)
	}
	wantCreated(t, c, machine("vm2"), 1)
	wantCreated(t, c, machine("vm4"), 0)
	for _, ordered := range []faults.Fault{
		{Call: faults.Find, Kind: "vm"},
		{Call: faults.List, Kind: "vm"},
		{Call: faults.List, Kind: "host"},
		{Call: faults.List, Kind: "usage"},
		{Call: faults.Find, Kind: "screen"},
		{Call: faults.List, Kind: "snapshot"},
		{Call: faults.Change, Kind: "snapshot"},
		{Call: faults.Remove, Kind: "snapshot"},
		{Call: faults.Change, Kind: "vm"},
		{Call: faults.Remove, Kind: "vm"},
	} {
		ordered.What = faults.Busy
		order(t, c, ordered)
	}
	calls := map[string]func() error{
		"find":          func() error { _, _, err := c.Find(t.Context(), a); return err },
		"list":          func() error { _, err := c.List(t.Context()); return err },
		"hosts":         func() error { _, err := c.Hosts(t.Context()); return err },
		"usage":         func() error { _, err := c.Usage(t.Context(), "100", a); return err },
		"screen":        func() error { _, _, err := c.Screen(t.Context(), "100", a); return err },
		"snapshots":     func() error { _, err := c.Snapshots(t.Context(), "100", a); return err },
		"take snapshot": func() error { return c.TakeSnapshot(t.Context(), "100", a, "one") },
		"drop snapshot": func() error { return c.DropSnapshot(t.Context(), "100", a, "one") },
		"change":        func() error { return c.Change(t.Context(), "100", a) },
		"remove":        func() error { return c.Remove(t.Context(), "100", a) },
	}
	for name, call := range calls {
		if err := call(); domain.ClassOf(err) != domain.Transient {
			t.Errorf("%s: %v", name, err)
		}
	}
}
