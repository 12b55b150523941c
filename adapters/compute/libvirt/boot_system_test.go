//go:build system

package libvirt_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// A booted is a machine whose system reports what it is.
type booted struct {
	*testing.T
	*libvirttest.Server
	h        *libvirt.Hypervisor
	m        compute.Machine
	external string
	reports  int
}

// boot makes a machine and waits for its first report.
func boot(t *testing.T) *booted {
	t.Helper()
	server := libvirttest.Start(t)
	server.BootableTemplates(t)
	b := &booted{T: t, Server: server, m: machine("vm77"), h: open(t, "qemu", server.Socket(), func(c *libvirt.Config) {
		c.Serial, c.Rescue, c.Grace = server.Serial, "rescue.qcow2", time.Minute
	})}
	b.m.Template, b.m.MemoryMB, b.m.Hostname = "own.qcow2", 160, "www.acme.test"
	b.m.Network = compute.Network{
		Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.10/24"), netip.MustParsePrefix("2001:db8::10/64")},
		Gateways:  []netip.Addr{netip.MustParseAddr("192.0.2.1")},
	}
	begun := time.Now()
	external, err := b.h.Create(t.Context(), b.m)
	if err != nil {
		t.Fatal(err)
	}
	made := time.Since(begun)
	b.external = external
	b.reported("own", "1")
	t.Logf("made in %s, booted in %s", made, time.Since(begun)-made)
	return b
}

// reported waits for a report of the system, as the nth start of its disk.
func (b *booted) reported(system, starts string) {
	b.Helper()
	b.reports++
	r := b.Report(b.T, b.m.Name, b.reports)
	want := libvirttest.Report{
		System: system, UUID: b.m.ID.String(), MAC: compute.MAC(b.m.ID), Addresses: "192.0.2.10/24,2001:db8::10/64,", Host: b.m.Hostname,
		Starts: starts, Bytes: r.Bytes,
	}
	if r != want {
		b.Errorf("the system reports %+v, not %+v", r, want)
	}
}

// change brings the machine to what is wanted, as often as that needs.
func (b *booted) change(wants func(*compute.Machine)) (waits int) {
	b.Helper()
	wants(&b.m)
	b.m.Generation++
	for begun := time.Now(); ; waits++ {
		err := b.h.Change(b.Context(), b.external, b.m)
		if err == nil {
			return waits
		}
		if domain.ClassOf(err) != domain.Waiting || time.Since(begun) > time.Minute {
			b.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// A counter of boots on its disk shows which disk the machine has started from. The story of
// an order has the other starts (tests/program).
func TestAMachineBootsFromItsOwnDisk(t *testing.T) {
	t.Parallel()
	b := boot(t)
	begun := time.Now()
	if waits := b.change(func(m *compute.Machine) { m.On, m.Soft = false, true }); waits == 0 || time.Since(begun) > 30*time.Second {
		t.Errorf("its system was not waited for: %d waits, %s", waits, time.Since(begun))
	}
	b.change(func(m *compute.Machine) { m.On, m.Soft, m.Boot, m.Rescue = true, false, 2, true })
	b.reported("rescue", "2")
	b.change(func(m *compute.Machine) { m.Boot, m.Rescue, m.DiskGB = 3, false, 2 })
	b.reported("own", "3")
	if r := b.Report(t, b.m.Name, b.reports); r.Bytes != "2147483648" {
		t.Errorf("its disk has %s bytes", r.Bytes)
	}
	b.hasNothingLeft()
}

// hasNothingLeft removes the machine with its volumes.
func (b *booted) hasNothingLeft() {
	b.Helper()
	if err := b.h.Remove(b.Context(), b.external, b.m); err != nil {
		b.Fatal(err)
	}
	hosts, err := b.h.Hosts(b.Context())
	if err != nil || len(hosts) != 1 || len(hosts[0].Templates) != 1 {
		b.Errorf("left: %+v, %v", hosts, err)
	}
	if seen, found, err := b.h.Find(b.Context(), b.m); err != nil || found {
		b.Errorf("left: %+v, %v", seen, err)
	}
}

// A system that does not shut down is switched off when its time is over.
func TestASystemThatDoesNotShutDownIsSwitchedOff(t *testing.T) {
	t.Parallel()
	server := libvirttest.Start(t)
	server.EmptyTemplate(t, "empty.qcow2")
	now := time.Now()
	h := open(t, "qemu", server.Socket(), func(c *libvirt.Config) { c.Grace, c.Now = time.Minute, func() time.Time { return now } })
	m := machine("vm77")
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	m.On, m.Soft, m.Generation = false, true, 2
	moving := func() {
		t.Helper()
		var f *domain.Failure
		if err := h.Change(t.Context(), external, m); !errors.As(err, &f) || f.Class != domain.Waiting || f.Code != "moving" {
			t.Fatal(err)
		}
		if seen, _, err := h.Find(t.Context(), m); err != nil || seen.State != compute.Moving {
			t.Errorf("%+v, %v", seen, err)
		}
	}
	moving()
	now = now.Add(59 * time.Second)
	moving()
	now = now.Add(2 * time.Second)
	if err := h.Change(t.Context(), external, m); err != nil {
		t.Fatal(err)
	}
	if seen, _, err := h.Find(t.Context(), m); err != nil || seen.State != compute.Stopped || seen.Generation != 2 {
		t.Errorf("%+v, %v", seen, err)
	}
}

// A machine with a bridge sends from its own addresses alone.
func TestAMachineSendsFromItsAddressesAlone(t *testing.T) {
	t.Parallel()
	server := libvirttest.StartWithBridge(t)
	server.EmptyTemplate(t, "empty.qcow2")
	h, m := open(t, "qemu", server.Socket()), machine("vm77")
	m.Network = compute.Network{Bridge: "br0", Addresses: []netip.Prefix{
		netip.MustParsePrefix("192.0.2.10/24"), netip.MustParsePrefix("192.0.2.11/24"), netip.MustParsePrefix("2001:db8::10/64"),
	}}
	external, err := h.Create(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	rules := server.Rules(t)
	for _, want := range []string{
		"-s ! " + compute.MAC(m.ID) + " -j DROP", "--ip-src 192.0.2.10 -j ACCEPT", "--ip-src 192.0.2.11 -j ACCEPT",
		"--ip6-src 2001:db8::10 -j ACCEPT", "--arp-ip-src 192.0.2.10 ", "router-advertisement -j DROP",
	} {
		if !strings.Contains(rules, want) {
			t.Errorf("without %q: %s", want, rules)
		}
	}
	m.Generation, m.Boot, m.Network.Addresses = 2, 2, m.Network.Addresses[1:]
	if err := h.Change(t.Context(), external, m); err != nil {
		t.Fatal(err)
	}
	if rules := server.Rules(t); strings.Contains(rules, "192.0.2.10 ") {
		t.Errorf("it still has the address: %s", rules)
	}
	if u, err := h.Usage(t.Context(), external, m); err != nil || u.CPU == 0 || u.Epoch == "" {
		t.Errorf("%+v, %v", u, err)
	}
	if err := h.Remove(t.Context(), external, m); err != nil {
		t.Fatal(err)
	}
	if rules := server.Rules(t); strings.Contains(rules, "192.0.2.11") {
		t.Errorf("left: %s", rules)
	}
}
