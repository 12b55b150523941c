package libvirt_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/domain/compute"
)

var _ compute.Hypervisor = (*libvirt.Hypervisor)(nil)

const installation = "2f0ba4f5-3f0e-4c39-a2f0-5b3c0c5f1f10"

// open returns a hypervisor of a server's driver.
func open(t *testing.T, driver, socket string, change ...func(*libvirt.Config)) *libvirt.Hypervisor {
	t.Helper()
	c := libvirt.Config{
		URL: libvirttest.URL(driver, socket), Name: "node", Installation: installation, Pool: "machines", Network: "user",
		Emulated: true, Grace: 2 * time.Second, Now: time.Now,
	}
	if driver == "test" {
		c.Pool = "default-pool"
	}
	for _, by := range change {
		by(&c)
	}
	h, err := libvirt.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func machine(name string) compute.Machine {
	return compute.Machine{
		ID: compute.ID(installation, name), Name: name, Service: uuid.NewString(), Generation: 1, Cores: 1, MemoryMB: 64, DiskGB: 1,
		On: true, Boot: 1, Disk: 1, Template: "empty.qcow2", Hostname: name + ".example.test",
	}
}

// A host has the memory that it can give, of which the cache of files is a part.
func TestAHostTellsItsMemory(t *testing.T) {
	server := libvirttest.Start(t)
	for _, driver := range []string{"qemu", "test"} {
		hosts, err := open(t, driver, server.Socket()).Hosts(t.Context())
		if err != nil || len(hosts) != 1 {
			t.Fatalf("%+v, %v", hosts, err)
		}
		if host := hosts[0]; host.FreeMB < 1 || host.FreeMB > host.MemoryMB || host.Cores < 1 || host.Down != "" {
			t.Errorf("%s: %+v", driver, host)
		}
	}
	h := open(t, "qemu", server.Socket(), func(c *libvirt.Config) { c.Pool = "none" })
	if hosts, err := h.Hosts(t.Context()); err != nil || hosts[0].Down == "" {
		t.Errorf("%+v, %v", hosts, err)
	}
}
