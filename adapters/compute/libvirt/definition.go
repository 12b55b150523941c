package libvirt

import (
	"crypto/rand"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

const (
	diskTarget   = "vda"
	seedTarget   = "vdb"
	rescueTarget = "vdr"
)

// plain is a new machine before it has a size, disks and a network. Its screen is locked
// until a password is set.
const plain = `<domain type="qemu">
  <os><type arch="x86_64">hvm</type></os>
  <features><acpi/><apic/></features>
  <clock offset="utc"/>
  <on_poweroff>destroy</on_poweroff><on_reboot>restart</on_reboot><on_crash>destroy</on_crash>
  <devices>
    <channel type="unix"><target type="virtio" name="org.qemu.guest_agent.0"/></channel>
    <graphics type="vnc" autoport="yes" listen="127.0.0.1" passwd="%s" passwdValidTo="2000-01-01T00:00:00"/>
    <video><model type="vga"/></video>
    <rng model="virtio"><backend model="random">/dev/urandom</backend></rng>
  </devices>
</domain>`

// forTests is a new machine of libvirt's test driver.
const forTests = `<domain type="test"><os><type arch="i686">hvm</type></os><devices/></domain>`

// newDefinition is the definition of a machine that there is not yet.
func (h *Hypervisor) newDefinition(s *session, m compute.Machine) (*libvirtxml.Domain, error) {
	text := fmt.Sprintf(plain, rand.Text()[:8])
	if h.target.hollow {
		text = forTests
	}
	d := new(libvirtxml.Domain)
	if err := d.Unmarshal(text); err != nil {
		return nil, err
	}
	d.Name, d.UUID = m.Name, m.ID.String()
	if !h.target.hollow {
		h.accelerate(s, d)
		d.Devices.Serials = []libvirtxml.DomainSerial{{Source: serial(h.Config, m)}}
	}
	return d, nil
}

// accelerate lets the host's processors run the machine, if they can.
func (h *Hypervisor) accelerate(s *session, d *libvirtxml.Domain) {
	text, err := s.ConnectGetCapabilities()
	if err == nil && !h.Emulated && strings.Contains(text, "<domain type='kvm'") {
		d.Type, d.CPU = "kvm", &libvirtxml.DomainCPU{Mode: "host-passthrough"}
	}
}

func serial(c Config, m compute.Machine) *libvirtxml.DomainChardevSource {
	if c.Serial == "" {
		return &libvirtxml.DomainChardevSource{Pty: &libvirtxml.DomainChardevSourcePty{}}
	}
	log := &libvirtxml.DomainChardevSourceFile{Path: c.Serial + "/" + m.Name + ".log", Append: "on"}
	return &libvirtxml.DomainChardevSource{File: log}
}

// disks are the paths of a machine's volumes.
type disks struct{ disk, seed, rescue string }

// shape brings a definition to what is wanted of the machine. What else it has stays: the
// places of its devices, and what an operator has changed.
func shape(c Config, d *libvirtxml.Domain, m compute.Machine, paths disks) error {
	d.Memory, d.CurrentMemory = &libvirtxml.DomainMemory{Value: uint(m.MemoryMB), Unit: "MiB"}, nil
	d.VCPU = &libvirtxml.DomainVCPU{Value: uint(m.Cores)}
	if d.Devices == nil {
		d.Devices = new(libvirtxml.DomainDeviceList)
	}
	setDisk(d, diskTarget, paths.disk, "qcow2", 2)
	setDisk(d, seedTarget, paths.seed, "raw", 0)
	setDisk(d, rescueTarget, paths.rescue, "qcow2", 1)
	setCard(c, d, m)
	return markOf(c, m).put(d)
}

// setDisk sets, adds or, without a path, removes the disk of a target.
func setDisk(d *libvirtxml.Domain, target, path, format string, boot uint) {
	all := d.Devices.Disks
	i := slices.IndexFunc(all, func(one libvirtxml.DomainDisk) bool { return one.Target != nil && one.Target.Dev == target })
	switch {
	case path == "" && i >= 0:
		d.Devices.Disks = slices.Delete(all, i, i+1)
		return
	case path == "":
		return
	case i < 0:
		i = len(all)
		to := &libvirtxml.DomainDiskTarget{Dev: target, Bus: "virtio"}
		d.Devices.Disks = append(all, libvirtxml.DomainDisk{Device: "disk", Target: to})
	}
	disk := &d.Devices.Disks[i]
	disk.Driver = &libvirtxml.DomainDiskDriver{Name: "qemu", Type: format}
	if format == "qcow2" {
		disk.Driver.Discard = "unmap"
	} else {
		disk.ReadOnly = &libvirtxml.DomainDiskReadOnly{}
	}
	disk.Source = &libvirtxml.DomainDiskSource{File: &libvirtxml.DomainDiskSourceFile{File: path}}
	disk.BackingStore, disk.Boot = nil, nil
	if boot > 0 {
		disk.Boot = &libvirtxml.DomainDeviceBoot{Order: boot}
	}
}

// diskPath is where the disk of a machine is.
func diskPath(d *libvirtxml.Domain) string { return pathAt(d, diskTarget) }

func pathAt(d *libvirtxml.Domain, target string) string {
	if d.Devices == nil {
		return ""
	}
	for _, disk := range d.Devices.Disks {
		if disk.Target != nil && disk.Target.Dev == target && disk.Source != nil && disk.Source.File != nil {
			return disk.Source.File.File
		}
	}
	return ""
}

// setCard sets the machine's network card, which its MAC names.
func setCard(c Config, d *libvirtxml.Domain, m compute.Machine) {
	mac := compute.MAC(m.ID)
	i := slices.IndexFunc(d.Devices.Interfaces, func(one libvirtxml.DomainInterface) bool {
		return one.MAC != nil && one.MAC.Address == mac
	})
	if i < 0 {
		i = len(d.Devices.Interfaces)
		d.Devices.Interfaces = append(d.Devices.Interfaces, libvirtxml.DomainInterface{
			MAC: &libvirtxml.DomainInterfaceMAC{Address: mac}, Model: &libvirtxml.DomainInterfaceModel{Type: "virtio"},
		})
	}
	card := &d.Devices.Interfaces[i]
	card.Source, card.VLan, card.VirtualPort, card.FilterRef, card.Bandwidth = source(c, m.Network), nil, nil, nil, nil
	if m.Network.Bridge != "" {
		bridged(c, card, m.Network)
	}
	if card.Source.User == nil && m.Network.RateMbit > 0 {
		card.Bandwidth = bandwidth(m.Network.RateMbit)
	}
}

func source(c Config, n compute.Network) *libvirtxml.DomainInterfaceSource {
	switch {
	case n.Bridge != "":
		return &libvirtxml.DomainInterfaceSource{Bridge: &libvirtxml.DomainInterfaceSourceBridge{Bridge: n.Bridge}}
	case c.Network == "user":
		return &libvirtxml.DomainInterfaceSource{User: &libvirtxml.DomainInterfaceSourceUser{}}
	}
	return &libvirtxml.DomainInterfaceSource{Network: &libvirtxml.DomainInterfaceSourceNetwork{Network: c.Network}}
}

func bridged(c Config, card *libvirtxml.DomainInterface, n compute.Network) {
	if n.VLAN != 0 {
		card.VLan = &libvirtxml.DomainInterfaceVLan{Tags: []libvirtxml.DomainInterfaceVLanTag{{ID: uint(n.VLAN)}}}
	}
	if c.Switch {
		card.VirtualPort = &libvirtxml.DomainInterfaceVirtualPort{Params: &libvirtxml.DomainInterfaceVirtualPortParams{
			OpenVSwitch: &libvirtxml.DomainInterfaceVirtualPortParamsOpenVSwitch{},
		}}
	}
	if isFiltered(c, n) {
		card.FilterRef = &libvirtxml.DomainInterfaceFilterRef{Filter: c.Filter, Parameters: allowed(n)}
	}
}

// bandwidth limits both directions; libvirt counts in kilobytes.
func bandwidth(mbit int64) *libvirtxml.DomainInterfaceBandwidth {
	rate := int(mbit * 125)
	limit := &libvirtxml.DomainInterfaceBandwidthParams{Average: &rate}
	return &libvirtxml.DomainInterfaceBandwidth{Inbound: limit, Outbound: limit}
}

// define writes the definition of a machine.
func (s *session) define(d *libvirtxml.Domain) error {
	d.XMLName, d.ID = xml.Name{}, nil
	text, err := d.Marshal()
	if err != nil {
		return fmt.Errorf("write the description of a machine: %w", err)
	}
	_, err = s.DomainDefineXML(text)
	return err
}
