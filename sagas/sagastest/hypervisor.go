package sagastest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// A Compute is a hypervisor.
type Compute struct {
	Lies
	mu   sync.Mutex
	vms  map[string]hosting.VM // by name
	made map[string]int        // by tag
}

// NewCompute has no machines.
func NewCompute() *Compute {
	return &Compute{vms: map[string]hosting.VM{}, made: map[string]int{}}
}

func (*Compute) Server() string { return "one" }

// FindVM finds a machine.
func (c *Compute) FindVM(ctx context.Context, tag, name string) (hosting.VM, bool, error) {
	if err := c.ask(ctx, false, "find", tag); err != nil {
		return hosting.VM{}, false, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, vm := range c.vms {
		if vm.Tag == tag {
			return vm, true, nil
		}
	}
	vm, ok := c.vms[name]
	return vm, ok, nil
}

// CreateVM makes a machine.
func (c *Compute) CreateVM(ctx context.Context, vm hosting.VM) (string, error) {
	if err := c.ask(ctx, false, "create", vm.Tag); err != nil {
		return "", err
	}
	c.mu.Lock()
	if _, taken := c.vms[vm.Name]; taken {
		c.mu.Unlock()
		return "", domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", vm.Name))
	}
	vm.External, vm.State, vm.Address = "ext-"+vm.Name, "running", "192.0.2.7"
	c.vms[vm.Name] = vm
	c.made[vm.Tag]++
	c.mu.Unlock()
	return vm.External, c.ask(ctx, true, "create", vm.Tag)
}

// SwitchVM switches a machine on or off.
func (c *Compute) SwitchVM(ctx context.Context, external string, on bool) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(ctx, false, "switch", name); err != nil {
		return err
	}
	c.mu.Lock()
	vm, there := c.vms[name]
	if there {
		vm.State = map[bool]string{true: "running", false: "stopped"}[on]
		c.vms[name] = vm
	}
	c.mu.Unlock()
	if !there {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s is not there", name))
	}
	return c.ask(ctx, true, "switch", name)
}

// RemoveVM removes a machine.
func (c *Compute) RemoveVM(ctx context.Context, external string) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(ctx, false, "remove", name); err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.vms, name)
	c.mu.Unlock()
	return c.ask(ctx, true, "remove", name)
}

// Forget loses all machines.
func (c *Compute) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.vms)
}

// state is how a machine stands; "": there is none.
func (c *Compute) state(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.vms[name].State
}

// All are the machines by name.
func (c *Compute) All() map[string]hosting.VM {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.vms)
}

// Creations is how many machines an order made.
func (c *Compute) Creations(tag string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.made[tag]
}
