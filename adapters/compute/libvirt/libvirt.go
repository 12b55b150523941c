// Package libvirt is the adapter to hypervisors of libvirt with QEMU (docs/machines.md,
// "libvirt"). A machine is a domain with the machine's id as its UUID. Its disk, and the
// disk with what cloud-init reads, are volumes of one storage pool.
package libvirt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	rpc "github.com/digitalocean/go-libvirt"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// A Config says where a hypervisor is and what it has for machines.
type Config struct {
	URL          string // as virsh has it: "qemu+ssh://panel@node1/system?keyfile=…&known_hosts=…"
	Name         string // in queues and claims
	Installation string // of the panel: only machines with its mark are ours

	Pool    string // of machines' volumes and templates; "": "default"
	Network string // of libvirt, for machines without a bridge; "": "default", "user": QEMU's own
	Rescue  string // volume from which a machine's rescue system starts; "": there is none
	Filter  string // network filter for machines with a bridge; "": this package's own, "none": none
	Switch  bool   // bridges are of Open vSwitch
	Serial  string // folder of the host for logs of serial consoles; "": none

	Emulated bool          // processors are emulated although the host has KVM
	Grace    time.Duration // from asking a machine to shut down until it is switched off; 0: a minute

	Now func() time.Time
}

// A Hypervisor is a [compute.Hypervisor]. It is safe for concurrent use.
type Hypervisor struct {
	Config

	target target

	mu     sync.Mutex
	idle   []*session
	copies map[string]*diskCopy // that go on, by name of the volume
	host   string               // its name, once it is known
	ended  context.Context      // with Close
	end    func()
}

// New returns a hypervisor. It connects with the first call.
func New(c Config) (*Hypervisor, error) {
	target, err := parse(c.URL)
	if err != nil {
		return nil, fmt.Errorf("read the address of a hypervisor: %w", err)
	}
	if c.Installation == "" || c.Now == nil {
		return nil, errors.New("a hypervisor needs the id of the installation and a clock")
	}
	c.Pool, c.Network, c.Filter = cmp.Or(c.Pool, "default"), cmp.Or(c.Network, "default"), cmp.Or(c.Filter, ownFilter)
	c.Grace = cmp.Or(c.Grace, time.Minute)
	h := &Hypervisor{Config: c, target: target, copies: map[string]*diskCopy{}}
	h.ended, h.end = context.WithCancel(context.Background())
	return h, nil
}

// Close ends all connections, and copies of disks that go on.
func (h *Hypervisor) Close() error {
	h.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.idle {
		s.close()
	}
	h.idle = nil
	return nil
}

// Server names the hypervisor.
func (h *Hypervisor) Server() string { return h.Name }

// Hosts reads the one host that a libvirt has.
func (h *Hypervisor) Hosts(ctx context.Context) (hosts []compute.Host, err error) {
	err = h.read(ctx, "read the host", func(s *session) error {
		host, err := h.hostOf(s)
		hosts = []compute.Host{host}
		return err
	})
	return hosts, err
}

func (h *Hypervisor) hostOf(s *session) (host compute.Host, err error) {
	if host.Name, err = h.hostName(s); err != nil {
		return host, err
	}
	_, memory, cores, _, _, _, _, _, err := s.NodeGetInfo()
	if err != nil {
		return host, err
	}
	host.Cores, host.MemoryMB = int64(cores), int64(memory>>10)
	if host.FreeMB, err = h.freeMemory(s, host.MemoryMB); err != nil {
		return host, err
	}
	p, err := s.pool(h.Pool)
	if failure, is := errors.AsType[*domain.Failure](classify("read the pool", err)); is && failure.Code == "no_pool" {
		host.Down = failure.Err.Error()
		return host, nil
	}
	if err != nil {
		return host, err
	}
	host.DiskGB, host.FreeGB = int64(p.capacity>>30), int64(p.available>>30)
	host.Templates, err = h.templates(s, p)
	return host, err
}

// freeMemory is what the host can give: what is free, and what holds files meanwhile.
// libvirt's test driver cannot say.
func (h *Hypervisor) freeMemory(s *session, all int64) (free int64, err error) {
	const allCells = -1
	_, n, err := s.NodeGetMemoryStats(0, allCells, 0)
	if is(err, rpc.ErrNoSupport) {
		return all, nil
	}
	if err != nil {
		return 0, err
	}
	stats, _, err := s.NodeGetMemoryStats(n, allCells, 0)
	for _, stat := range stats {
		if slices.Contains([]string{"free", "buffers", "cached"}, stat.Field) {
			free += int64(stat.Value >> 10)
		}
	}
	return min(free, all), err
}

// hostName is the name of the host, which is asked for once.
func (h *Hypervisor) hostName(s *session) (string, error) {
	h.mu.Lock()
	known := h.host
	h.mu.Unlock()
	if known != "" {
		return known, nil
	}
	name, err := s.ConnectGetHostname()
	if err == nil {
		h.mu.Lock()
		h.host = name
		h.mu.Unlock()
	}
	return name, err
}

// onHost refuses a machine that is to be on another host.
func (h *Hypervisor) onHost(s *session, m compute.Machine) error {
	name, err := h.hostName(s)
	if err == nil && m.Host != "" && m.Host != name {
		err = domain.Fail(domain.Permanent, "no_host", fmt.Errorf("the hypervisor is on %q, not on %q", name, m.Host))
	}
	return err
}
