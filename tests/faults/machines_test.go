//go:build system

package faults_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	resources "hostpanel/sagas/hosting"
	"hostpanel/sagas/sagastest"
)

// machineCampaigns are the hypervisors at which machines live through their orders, with how
// much happens there: services, answers that are lost beside the first one of each call,
// panels that are killed, and restarts of the hypervisor.
var machineCampaigns = []struct {
	name                         string
	rig                          func(*testing.T) *rig
	lives, lost, kills, restarts int64
	wave                         int64 // services at once
}{
	{"libvirt's test driver", func(t *testing.T) *rig { return onLibvirt(t, "test") }, 100, 20, 5, 0, 25},
	{"QEMU", func(t *testing.T) *rig { return onLibvirt(t, "qemu") }, 20, 20, 5, 3, 10},
	{"Proxmox VE", onProxmox, 100, 20, 5, 0, 25},
}

// Services with machines are ordered, used and ended. Answers are lost, panels are killed in
// the middle of calls, and the hypervisor is started anew. Each service has exactly one
// machine all the time, strangers' machines stay as they are, and in the end nothing is left.
// HOSTPANEL_FAULT_SEED chooses what happens, HOSTPANEL_MACHINE_LIVES, _LOST and _KILLS how much.
func TestEachServiceHasExactlyOneMachine(t *testing.T) {
	t.Parallel()
	seed := sagastest.FromEnvironment("HOSTPANEL_FAULT_SEED", time.Now().UnixNano())
	for _, of := range machineCampaigns {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			lives := sagastest.FromEnvironment("HOSTPANEL_MACHINE_LIVES", of.lives)
			lost := sagastest.FromEnvironment("HOSTPANEL_MACHINE_LOST", of.lost)
			kills := sagastest.FromEnvironment("HOSTPANEL_MACHINE_KILLS", of.kills)
			t.Logf("HOSTPANEL_FAULT_SEED=%d HOSTPANEL_MACHINE_LIVES=%d HOSTPANEL_MACHINE_LOST=%d HOSTPANEL_MACHINE_KILLS=%d",
				seed, lives, lost, kills)
			c := newMachineCampaign(t, of.rig(t), seed)
			if c.lacks != "" {
				t.Logf("left out: %s", c.lacks)
			}
			c.strangers()
			c.plan((lives+of.wave-1)/of.wave, lost, kills, of.restarts)
			for ; lives > 0; lives -= of.wave {
				c.wave(min(lives, of.wave))
			}
			c.finish()
		})
	}
}

// A machineCampaign is many services with machines at one hypervisor. The world takes orders
// and requests, and works on none: that do panels, one after the other.
type machineCampaign struct {
	*sagastest.World
	*rig
	accidents
	chance *rand.Rand
	seeing compute.Hypervisor
	acts   resources.Machines
	url    string
	panel  atomic.Pointer[sagastest.Instance]
	end    func() // of the panel
	lives  []*machineLife
	stage  int
	before int               // volumes
	theirs map[string]string // what was known of strangers' machines
}

// A machineLife is a service with a machine: what is to become of it, and how it is to stand.
type machineLife struct {
	id                   uuid.UUID
	deeds, steps         []string // that it does, and those that are to come
	isOn, rests, isEnded bool
}

// deeds are what owners and their banks do, in steps.
var machineDeeds = [][]string{
	{"restart"},
	{"reset"},
	{"reinstall"},
	{"shutdown", "start"},
	{"power_off", "start"},
	{"rescue", "leave_rescue"},
	{"suspend", "resume"},
	{"power_off", "suspend", "resume", "start"},
	{"suspend", "end"},
	{"end"},
	{},
}

func newMachineCampaign(t *testing.T, r *rig, seed int64) *machineCampaign {
	c := &machineCampaign{
		rig: r, chance: rand.New(rand.NewPCG(uint64(seed), 1)), url: sagastest.Database(t), theirs: map[string]string{},
		accidents: accidents{known: map[string]bool{}, due: make(chan func(), 100), over: t.Context().Done()},
	}
	c.seeing, _ = r.open(sagastest.Installation)
	c.World = sagastest.WorldOn(t, c.url, c.outside(c.seeing))
	c.Longest = 4 * time.Minute // of a round on a machine that does much else
	c.acts = resources.Machines{Service: resources.New(resources.Options{
		Tables: c.Tables, Resources: c.Reconciler, Numbers: c.Store, Subjects: c.Store,
	})}
	c.Does(
		hosting.Request{Ref: hosting.Ref{Kind: hosting.NodeKind, ID: 1}, Spec: (&hosting.Node{
			Name: "node1", Cores: 1000, MemoryMB: 1 << 20, DiskGB: 10_000, Weight: 100, Templates: []string{"debian-12=" + r.template},
		}).Fields().Values()},
		hosting.Request{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: 1}, Spec: addresses("10.7.0.0/22").Fields().Values()},
	)
	c.losing(c.loses)
	c.begins()
	t.Cleanup(func() { c.losing(nil) })
	return c
}

func addresses(network string) hosting.Spec {
	p := &hosting.AddressPool{Name: "pool1", Network: network}
	hosting.Complete(p, hosting.Place{})
	return p
}

func (c *machineCampaign) outside(at compute.Hypervisor) func(*assembly.Options) {
	return func(o *assembly.Options) {
		o.Compute, o.Times.Call, o.Times.Lease, o.Times.RefundGrace = compute.Fleet{at}, 10*time.Second, time.Second, 200*time.Millisecond
	}
}

// begins starts a panel, with a hypervisor of its own.
func (c *machineCampaign) begins() {
	at, end := c.open(sagastest.Installation)
	panel := c.Node(c.url, c.outside(at))
	stop := c.Passing(panel)
	c.panel.Store(panel)
	c.end = func() { stop(); end() }
}

// dies ends the panel: from now on its workers record nothing, and its calls are cut.
func (c *machineCampaign) dies() (rest func()) {
	c.panel.Load().Fault.To(func(sagas.Point, sagas.Run) error { return sagas.ErrKilled })
	return func() {
		c.end()
		c.begins()
	}
}

// rounds are how often the services of a wave do something: as often as the longest of them
// does. A stage is such a round, and the orders before.
const rounds = 6

// plan spreads what is to go wrong over the stages.
func (c *machineCampaign) plan(waves, lost, kills, restarts int64) {
	c.coming = make([][]accident, waves*(rounds+1))
	anywhere := func(m accident) {
		m.left = 1 + c.chance.IntN(20)
		at := c.chance.IntN(len(c.coming))
		c.coming[at] = append(c.coming[at], m)
	}
	for range lost {
		anywhere(accident{what: "an answer is lost"})
	}
	for range kills {
		anywhere(accident{what: "the panel dies", does: c.dies})
	}
	for n := range restarts {
		m := accident{what: "the hypervisor is restarted", does: func() func() { return c.restart }, waits: true}
		if n == 0 {
			m.what, m.only, m.left = "the hypervisor is restarted after a copy", c.copies, 1+c.chance.IntN(3)
			c.coming[0] = append(c.coming[0], m)
			continue
		}
		anywhere(m)
	}
}

// next begins a stage.
func (c *machineCampaign) next() {
	if c.stage < len(c.coming) {
		c.bring(c.coming[c.stage])
	}
	c.stage++
}

// wave lets so many services live.
func (c *machineCampaign) wave(n int64) {
	var all []*machineLife
	c.next()
	for range n {
		l := c.orders()
		l.deeds = c.drawDeeds()
		l.steps = l.deeds
		all = append(all, l)
	}
	c.stand(all)
	for range rounds {
		c.next()
		for _, l := range all {
			if len(l.steps) > 0 {
				c.takes(l, l.steps[0])
				l.steps = l.steps[1:]
			}
		}
		c.stand(all)
	}
	for _, l := range all {
		c.Equal("steps that are left out", len(l.steps), 0)
	}
	c.nothingElseIsThere()
}

// drawDeeds draws what a service does. Its payment is disputed once at most.
func (c *machineCampaign) drawDeeds() []string {
	first, second := anyOf(c.chance, machineDeeds), anyOf(c.chance, machineDeeds)
	switch {
	case slices.Contains(first, "end"):
		return first
	case slices.Contains(first, "suspend") && slices.Contains(second, "suspend"):
		return append(slices.Clone(first), "end")
	}
	return append(slices.Clone(first), second...)
}

func (c *machineCampaign) orders() *machineLife {
	c.T.Helper()
	l := &machineLife{isOn: true}
	size := &order.VPS{Cores: 1, MemoryMB: 64, DiskGB: 4, TrafficTB: 1, DefaultOS: "debian-12"}
	var wanted order.Machine
	if len(c.lives)%10 != 0 { // the others are given a password, whose hash is dear
		wanted.SSHKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqJCJkLWjXWrdq2xzNWPGQwy4cqzkXLrqIUwMDqQ7Gy"
	}
	l.id = c.Buy(sagastest.OrderForm{Kind: "vps", Size: size, Machine: wanted})
	c.lives = append(c.lives, l)
	return l
}

func (c *machineCampaign) takes(l *machineLife, step string) {
	c.T.Helper()
	switch step {
	case "suspend", "resume":
		l.rests = step == "suspend"
		c.Pay.Dispute(l.id, map[bool]order.DisputeState{true: order.DisputeOpen, false: order.DisputeWon}[l.rests])
		c.Must(c.Payments.Hint(c.T.Context(), l.id, "dispute"))
	case "end":
		l.isEnded = true
		c.Must(c.Orders.Cancel(c.T.Context(), sagastest.Operator, l.id, "asked for"))
	default:
		l.isOn = step != "shutdown" && step != "power_off"
		c.act(l, step)
	}
}

// act does with a machine what its owner asks for.
func (c *machineCampaign) act(l *machineLife, name string) {
	c.T.Helper()
	row := c.machine(l)
	draft, err := row.Draft()
	c.Must(err)
	act, _ := hosting.MachineActNamed(name)
	form := act.FormOf()
	form.Confirm = hosting.MachineName(row.ID)
	cause := func(found domain.Versions) domain.Metadata {
		return domain.Metadata{Actor: "user:1", ExpectedVersions: found}
	}
	_, err = c.acts.Act(c.T.Context(), cause, sagastest.Superuser, draft, form)
	c.Must(err)
}

func (c *machineCampaign) machine(l *machineLife) projections.Resource {
	c.T.Helper()
	return c.Resource(hosting.Ref{Kind: "vm", ID: c.Provision(l.id).Job.VM})
}

// stand waits until services stand as they are to, and looks at their machines. What has gone
// wrong meanwhile is done.
func (c *machineCampaign) stand(all []*machineLife) {
	c.T.Helper()
	open := slices.Clone(all)
	defer func() {
		if c.T.Failed() {
			for _, l := range open {
				c.T.Logf("order %s, %s: it is %s, its machine %+v", l.id, strings.Join(l.deeds, ", "), c.Order(l.id).Status, c.machine(l))
			}
		}
	}()
	c.Eventually("all services stand as they are to", func() bool {
		c.do()
		open = slices.DeleteFunc(open, func(l *machineLife) bool { return c.stands(l) })
		return len(open) == 0
	})
	c.calmly(func() {
		for _, l := range all {
			c.hasOneMachine(l)
		}
	})
}

func (c *machineCampaign) stands(l *machineLife) bool {
	if l.isEnded {
		return c.RunOf("deprovision:"+l.id.String()).Status == sagas.StatusDone
	}
	run := c.Provision(l.id)
	if run.Status != sagas.StatusDone {
		return false
	}
	row := c.machine(l)
	var m hosting.Machine
	c.Must(row.Load(&m))
	return row.SyncStatus == "synced" && row.Active == !l.rests && m.IsOn == l.isOn &&
		c.Count(`select count(*) from saga_run where about = $1 and status <> 'done'`, row.Ref().Stream().String()) == 0
}
