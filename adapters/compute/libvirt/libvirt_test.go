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
