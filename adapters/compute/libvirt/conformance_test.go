package libvirt_test

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/adapters/conformance"
	"hostpanel/domain/compute"
)

// A bench is a driver of a server, with a proxy before it.
type bench struct {
	*libvirttest.Server
	proxy  *libvirttest.Proxy
	driver string
	pool   string
	l      *rpc.Libvirt // without the proxy
}

func newBench(t *testing.T, server *libvirttest.Server, driver string) *bench {
	t.Helper()
	b := &bench{Server: server, driver: driver, pool: "machines", l: server.Connect(t, driver)}
	if driver == "test" {
		b.pool = "default-pool"
	}
	b.proxy = libvirttest.NewProxy(t, server.Socket())
	return b
}

// suite is what the suite may do with a driver.
func (b *bench) suite(t *testing.T) computetest.Hypervisor {
	t.Helper()
	rescue := func(c *libvirt.Config) { c.Rescue = "rescue.qcow2" }
	h := computetest.Hypervisor{
		Hypervisor: open(t, b.driver, b.proxy.Socket, rescue),
		Other:      open(t, b.driver, b.Socket(), rescue, func(c *libvirt.Config) { c.Installation = "another" }),
		Like: compute.Machine{MemoryMB: 32, Template: "empty.qcow2", Network: compute.Network{
			Addresses: []netip.Prefix{netip.MustParsePrefix("192.0.2.10/24")}, Gateways: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
		}},
		Patience: 20 * time.Second, Cut: b.proxy.Cut, Left: b.left, Stranger: b.stranger,
	}
	if b.driver == "test" {
		h.Lacks = []string{computetest.ShuttingDown, computetest.Screen}
		return h
	}
	h.Starts = func(_ conformance.T, m compute.Machine) int { return b.Starts(t, m.Name) }
	h.Mark = func(_ conformance.T, m compute.Machine) { b.write(t, b.disk(t, m)) }
	h.Marked = func(_ conformance.T, m compute.Machine) bool { return b.isWritten(t, b.disk(t, m)) }
	h.Hostname = func(_ conformance.T, m compute.Machine) string { return b.hostname(t, m) }
	return h
}

// left are all volumes of the pool.
func (b *bench) left(context.Context) ([]string, error) {
	pool, err := b.l.StoragePoolLookupByName(b.pool)
	if err != nil {
		return nil, err
	}
	all, _, err := b.l.StoragePoolListAllVolumes(pool, 1, 0)
	names := make([]string, 0, len(all))
	for _, v := range all {
		names = append(names, v.Name)
	}
	return names, err
}

func (b *bench) stranger(t conformance.T, name string) (remove func()) {
	kind, arch := "qemu", "x86_64"
	if b.driver == "test" {
		kind, arch = "test", "i686"
	}
	d, err := b.l.DomainDefineXML(fmt.Sprintf(
		`<domain type=%q><name>%s</name><memory unit="MiB">32</memory><os><type arch=%q>hvm</type></os></domain>`, kind, name, arch))
	if err != nil {
		t.Fatalf("define a stranger's machine: %v", err)
	}
	return func() {
		if err := b.l.DomainUndefine(d); err != nil {
			t.Errorf("undefine a stranger's machine: %v", err)
		}
	}
}

// disk is the file of a machine's disk.
func (b *bench) disk(t *testing.T, m compute.Machine) string {
	t.Helper()
	text, err := b.l.DomainGetXMLDesc(rpc.Domain{UUID: rpc.UUID(m.ID), Name: m.Name, ID: -1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(text, b.Pool+"/")
	name, _, _ := strings.Cut(after, "'")
	return filepath.Join(b.Pool, name)
}

func (b *bench) write(t *testing.T, disk string) {
	t.Helper()
	libvirttest.Run(t, "qemu-io", "-f", "qcow2", "-c", "write -P 0x77 32M 512", disk)
}

func (b *bench) isWritten(t *testing.T, disk string) bool {
	t.Helper()
	said := libvirttest.Run(t, "qemu-io", "-f", "qcow2", "-c", "read -v 32M 16", disk)
	return strings.Contains(said, "77 77 77 77")
}

// onTestDriver returns a bench for libvirt's test driver, which forgets everything with its
// last connection.
func onTestDriver(t *testing.T) *bench {
	t.Helper()
	b := newBench(t, libvirttest.Start(t), "test")
	pool, err := b.l.StoragePoolLookupByName(b.pool)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"empty.qcow2", "rescue.qcow2"} {
		volume := `<volume><name>` + name + `</name><capacity unit="MiB">64</capacity></volume>`
		if _, err := b.l.StorageVolCreateXML(pool, volume, 0); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestTheTestDriverKeepsTheContract(t *testing.T) {
	b := onTestDriver(t)
	computetest.Run(t, b.suite)
}
