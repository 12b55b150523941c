//go:build system

package faults_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/adapters/compute/libvirt"
	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/domain/compute"
)

// A rig is a hypervisor of a campaign.
type rig struct {
	// open returns the hypervisor as a process of a panel has it, and the end of that.
	open func(installation string) (at compute.Hypervisor, end func())

	losing    func(loses func(call string) bool) // decides about each answer
	copies    string                             // the call that makes a disk; "": not told
	restart   func()                             // of the hypervisor; nil: see lacks
	template  string
	volumes   func() []string
	ofMachine int                      // volumes of one machine
	stranger  func(name string)        // is made as an operator does
	raw       func(name string) string // all that is known of a machine
	lacks     string                   // what cannot be done here, and why
}

// onLibvirt is a driver of a libvirt of the campaign's own. The test driver forgets everything
// with its last connection, so one is held open.
func onLibvirt(t *testing.T, driver string) *rig {
	server := libvirttest.Start(t)
	proxy := libvirttest.NewProxy(t, server.Socket())
	r := &rig{copies: procedure(libvirttest.VolumeCopy), template: "empty.qcow2", ofMachine: 2}
	pool, kind, arch := "machines", "qemu", "x86_64"
	held := func() *rpc.Libvirt { return server.Connect(t, driver) }
	if driver == "test" {
		pool, kind, arch = "default-pool", "test", "i686"
		r.lacks = "restarts of libvirtd: with them the test driver forgets everything"
		l := held()
		held = func() *rpc.Libvirt { return l }
		for _, name := range []string{"empty.qcow2", "rescue.qcow2"} {
			addVolume(t, l, pool, name)
		}
	} else {
		server.EmptyTemplate(t, "empty.qcow2")
		server.EmptyTemplate(t, "rescue.qcow2")
		r.restart = func() { server.Restart(t) }
	}
	r.open = func(installation string) (compute.Hypervisor, func()) {
		h, err := libvirt.New(libvirt.Config{
			URL: libvirttest.URL(driver, proxy.Socket), Name: "one", Installation: installation, Pool: pool, Network: "user",
			Rescue: "rescue.qcow2", Emulated: true, Grace: time.Second, Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		return h, func() { _ = h.Close() }
	}
	r.losing = func(loses func(string) bool) {
		proxy.LoseAnswersOf(func(number uint32) bool { return loses(procedure(number)) })
	}
	r.volumes = func() (names []string) {
		l := held()
		p, err := l.StoragePoolLookupByName(pool)
		if err != nil {
			t.Fatal(err)
		}
		all, _, err := l.StoragePoolListAllVolumes(p, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			names = append(names, v.Name)
		}
		slices.Sort(names)
		return names
	}
	r.stranger = func(name string) {
		text := `<domain type=%q><name>%s</name><memory unit="MiB">32</memory><os><type arch=%q>hvm</type></os></domain>`
		if _, err := held().DomainDefineXML(fmt.Sprintf(text, kind, name, arch)); err != nil {
			t.Fatal(err)
		}
	}
	r.raw = func(name string) string {
		l := held()
		d, err := l.DomainLookupByName(name)
		if err != nil {
			t.Fatal(err)
		}
		text, err := l.DomainGetXMLDesc(d, rpc.DomainXMLInactive)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(d.ID, text)
	}
	return r
}

func procedure(number uint32) string { return fmt.Sprint("procedure ", number) }

func addVolume(t *testing.T, l *rpc.Libvirt, pool, name string) {
	t.Helper()
	p, err := l.StoragePoolLookupByName(pool)
	if err != nil {
		t.Fatal(err)
	}
	text := `<volume><name>` + name + `</name><capacity unit="MiB">64</capacity></volume>`
	if _, err := l.StorageVolCreateXML(p, text, 0); err != nil {
		t.Fatal(err)
	}
}

// numbers are what differs between equal calls of Proxmox VE.
var numbers = regexp.MustCompile(`UPID[^/]*|\d+`)

// onProxmox is the double of a cluster, with the numbers of machines from 1000 on.
func onProxmox(t *testing.T) *rig {
	pve := proxmoxtest.Start()
	t.Cleanup(pve.Close)
	return &rig{
		template: "debian-13", ofMachine: 2, lacks: "restarts of the cluster's API: it has no state of its own",
		open: func(installation string) (compute.Hypervisor, func()) {
			h, err := proxmox.New(proxmox.Settings{
				URL: pve.URL(), TokenID: proxmoxtest.Token, Secret: proxmoxtest.Secret, Fingerprint: pve.Fingerprint(),
				Server: "one", Installation: installation, Storage: "local-lvm", FirstID: 1000, Rescue: "local:iso/rescue.iso",
				Grace: 30 * time.Second, Patience: time.Second,
			})
			if err != nil {
				t.Fatal(err)
			}
			return h, func() {}
		},
		losing: func(loses func(string) bool) {
			pve.Faults.LoseAnswersOf(func(method, path string) bool { return loses(method + " " + numbers.ReplaceAllString(path, "N")) })
		},
		volumes:  pve.Volumes,
		stranger: func(name string) { pve.AddStranger(120, name) },
		raw: func(name string) string {
			for _, m := range pve.Machines() {
				if m.Config["name"] == name {
					return fmt.Sprintf("%+v", m)
				}
			}
			return ""
		},
	}
}
