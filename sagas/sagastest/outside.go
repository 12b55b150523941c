package sagastest

import (
	"context"
	"fmt"
	"maps"
	netmail "net/mail"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
)

// The outside: it keeps what it is told, counts every creation by name, and
// lies when a test tells it to, before or after it has done what was asked.

// Lies are told by tests, per call. A nil lie is the truth.
type Lies struct {
	mu            sync.Mutex
	before, after func(call, name string) error
}

// Tell sets what is asked before and after each call. Nil says the truth.
func (l *Lies) Tell(before, after func(call, name string) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.after = before, after
}

func (l *Lies) ask(after bool, call, name string) error {
	l.mu.Lock()
	lie := l.before
	if after {
		lie = l.after
	}
	l.mu.Unlock()
	if lie == nil {
		return nil
	}
	return lie(call, name)
}

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
func (c *Compute) FindVM(_ context.Context, tag, name string) (hosting.VM, bool, error) {
	if err := c.ask(false, "find", tag); err != nil {
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
func (c *Compute) CreateVM(_ context.Context, vm hosting.VM) (string, error) {
	if err := c.ask(false, "create", vm.Tag); err != nil {
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
	return vm.External, c.ask(true, "create", vm.Tag)
}

// SwitchVM switches a machine on or off.
func (c *Compute) SwitchVM(_ context.Context, external string, on bool) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(false, "switch", name); err != nil {
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
	return c.ask(true, "switch", name)
}

// RemoveVM removes a machine.
func (c *Compute) RemoveVM(_ context.Context, external string) error {
	name := strings.TrimPrefix(external, "ext-")
	if err := c.ask(false, "remove", name); err != nil {
		return err
	}
	c.mu.Lock()
	delete(c.vms, name)
	c.mu.Unlock()
	return c.ask(true, "remove", name)
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

// A Mail is a mail server, with all that it has sent.
type Mail struct {
	Lies
	Mu   sync.Mutex
	Sent []notice.Mail
}

// NewMail has sent nothing.
func NewMail() *Mail { return &Mail{} }

// Send takes a mail.
func (m *Mail) Send(_ context.Context, mail notice.Mail) error {
	to, err := netmail.ParseAddress(mail.To)
	if err != nil {
		return domain.Fail(domain.Permanent, "malformed", err)
	}
	call := callOf(mail)
	if err := m.ask(false, call, to.Address); err != nil {
		return err
	}
	m.Mu.Lock()
	m.Sent = append(m.Sent, mail)
	m.Mu.Unlock()
	return m.ask(true, call, to.Address)
}

// callOf tells letters from notifications, and from the question which tenant an unpaid
// order joins. Whether that is asked depends on how fast the customer pays.
func callOf(mail notice.Mail) string {
	_, isNews := mail.Headers["List-Unsubscribe"]
	switch {
	case isNews:
		return "notify"
	case strings.Contains(mail.Text, order.JoinPath):
		return "offer"
	}
	return "send"
}

// To are the letters that an address has got.
func (m *Mail) To(address string) []notice.Mail { return m.got(address, "send") }

// News are the notifications to an address.
func (m *Mail) News(address string) []notice.Mail { return m.got(address, "notify") }

// Offers are the offers to join a tenant.
func (m *Mail) Offers(address string) []notice.Mail { return m.got(address, "offer") }

func (m *Mail) got(address, call string) (mails []notice.Mail) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	for _, mail := range m.Sent {
		to, err := netmail.ParseAddress(mail.To)
		if err == nil && to.Address == address && callOf(mail) == call {
			mails = append(mails, mail)
		}
	}
	return mails
}
