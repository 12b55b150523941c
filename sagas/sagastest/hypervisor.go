package sagastest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// A Compute is a hypervisor, which makes every machine at once.
type Compute struct {
	Lies
	mu        sync.Mutex
	vms       map[string]compute.Seen // by name
	made      map[string]int          // by service
	restarted map[string]int          // by name
	passwords map[string]string       // hashes, with which disks were made, by name
}

// NewCompute has no machines.
func NewCompute() *Compute {
	return &Compute{vms: map[string]compute.Seen{}, made: map[string]int{}, restarted: map[string]int{}, passwords: map[string]string{}}
}

func (*Compute) Server() string { return "one" }

// Find finds a machine.
func (c *Compute) Find(ctx context.Context, m compute.Machine) (compute.Seen, bool, error) {
	if err := c.ask(ctx, false, "find", m.Service); err != nil {
		return compute.Seen{}, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, vm := range c.vms {
		if vm.ID == m.ID {
			return vm, true, nil
		}
	}
	vm, ok := c.vms[m.Name]
	return vm, ok, nil
}

// List lists all machines.
func (c *Compute) List(ctx context.Context) ([]compute.Seen, error) {
	if err := c.ask(ctx, false, "list", ""); err != nil {
		return nil, err
	}
	all := slices.SortedFunc(maps.Values(c.All()), func(a, b compute.Seen) int { return strings.Compare(a.Name, b.Name) })
	return all, c.ask(ctx, true, "list", "")
}

// Hosts is one host that is never full.
func (*Compute) Hosts(context.Context) ([]compute.Host, error) {
	return []compute.Host{{Cores: 1 << 20, MemoryMB: 1 << 40, FreeMB: 1 << 40, DiskGB: 1 << 40, FreeGB: 1 << 40}}, nil
}

// Create makes a machine.
func (c *Compute) Create(ctx context.Context, m compute.Machine) (string, error) {
	if err := c.ask(ctx, false, "create", m.Service); err != nil {
		return "", err
	}
	c.mu.Lock()
	if _, taken := c.vms[m.Name]; taken {
		c.mu.Unlock()
		return "", domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", m.Name))
	}
	c.vms[m.Name], c.passwords[m.Name] = seenAs(m), m.Password
	c.made[m.Service]++
	c.mu.Unlock()
	return external(m), c.ask(ctx, true, "create", m.Service)
}

func external(m compute.Machine) string { return "ext-" + m.Name }

// seenAs is a machine as it is once it was brought to what is wanted.
func seenAs(m compute.Machine) compute.Seen {
	seen := compute.Seen{
		External: external(m), ID: m.ID, Name: m.Name, Ours: true, Service: m.Service, Host: m.Host, Generation: m.Generation,
		Cores: m.Cores, MemoryMB: m.MemoryMB, DiskGB: m.DiskGB, State: compute.Stopped, Boot: m.Boot, Disk: m.Disk, Rescue: m.Rescue,
	}
	if m.On {
		seen.State, seen.Addresses = compute.Running, []netip.Addr{netip.MustParseAddr("192.0.2.7")}
	}
	return seen
}

// Change brings a machine to what is wanted.
func (c *Compute) Change(ctx context.Context, _ string, m compute.Machine) error {
	call := "switch"
	if err := c.ask(ctx, false, call, m.Name); err != nil {
		return err
	}
	c.mu.Lock()
	before, there := c.vms[m.Name]
	switch {
	case !there, before.ID != m.ID:
		there = false
	case before.Generation > m.Generation:
		c.mu.Unlock()
		return domain.Fail(domain.Permanent, "overtaken", errors.New("a later request was carried out"))
	case before.State == compute.Running && m.On && before.Boot < m.Boot:
		c.restarted[m.Name]++
		fallthrough
	default:
		if before.Disk < m.Disk {
			c.passwords[m.Name] = m.Password
		}
		c.vms[m.Name] = seenAs(m)
	}
	c.mu.Unlock()
	if !there {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s is not there", m.Name))
	}
	return c.ask(ctx, true, call, m.Name)
}

// Remove removes a machine.
func (c *Compute) Remove(ctx context.Context, _ string, m compute.Machine) error {
	if err := c.ask(ctx, false, "remove", m.Name); err != nil {
		return err
	}
	c.mu.Lock()
	another := c.vms[m.Name].ID != m.ID
	if !another {
		delete(c.vms, m.Name)
	}
	_, there := c.vms[m.Name]
	c.mu.Unlock()
	if another && there {
		return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s is a stranger's", m.Name))
	}
	return c.ask(ctx, true, "remove", m.Name)
}

// Snapshots: there are none.
func (*Compute) Snapshots(context.Context, string, compute.Machine) ([]compute.Snapshot, error) {
	return nil, nil
}

// TakeSnapshot is not supported.
func (*Compute) TakeSnapshot(context.Context, string, compute.Machine, string) error {
	return errNotSupported
}

// DropSnapshot is not supported.
func (*Compute) DropSnapshot(context.Context, string, compute.Machine, string) error {
	return errNotSupported
}

// Usage is not supported.
func (*Compute) Usage(context.Context, string, compute.Machine) (compute.Usage, error) {
	return compute.Usage{}, errNotSupported
}

// Screen is not supported.
func (*Compute) Screen(context.Context, string, compute.Machine) (io.ReadWriteCloser, string, error) {
	return nil, "", errNotSupported
}

var errNotSupported = domain.Fail(domain.Permanent, "not_supported", errors.New("this hypervisor cannot do that"))

// Forget loses all machines.
func (c *Compute) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.vms)
}

// Put sets what the hypervisor has under a name.
func (c *Compute) Put(vm compute.Seen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vms[vm.Name] = vm
}

// state is how a machine stands; "": there is none.
func (c *Compute) state(name string) compute.State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vms[name].State
}

// All are the machines by name.
func (c *Compute) All() map[string]compute.Seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.vms)
}

// Creations is how many machines an order made.
func (c *Compute) Creations(service string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made[service]
}

// Restarts is how often a machine was started anew.
func (c *Compute) Restarts(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.restarted[name]
}

// Password is the hash of root's password with which the disk of a machine was made.
func (c *Compute) Password(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.passwords[name]
}
