//go:build system

package faults_test

import (
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

// hasOneMachine checks the machine of a service, or that it is gone.
func (c *machineCampaign) hasOneMachine(l *machineLife) {
	c.T.Helper()
	row := c.machine(l)
	var m hosting.Machine
	c.Must(row.Load(&m))
	wanted := m.Wanted(sagastest.Installation, row.Wish, row.Active, "")
	seen, is, err := c.seeing.Find(c.T.Context(), wanted)
	c.Must(err)
	switch {
	case l.isEnded && !is:
	case l.isEnded, !is, !seen.Ours, !wanted.IsSo(seen),
		seen.ID != wanted.ID, wanted.On != (l.isOn && !l.rests), wanted.Rescue != seen.Rescue:
		c.T.Errorf("order %s, %s: %+v is wanted, and there is (%t) %+v", l.id, strings.Join(l.deeds, ", "), wanted, is, seen)
	}
}

// nothingElseIsThere compares all that the hypervisor has and all that is reserved with the
// services that there are.
func (c *machineCampaign) nothingElseIsThere() {
	c.T.Helper()
	wanted := map[string]bool{}
	for _, l := range c.lives {
		if !l.isEnded {
			wanted[hosting.MachineName(c.machine(l).ID)] = true
		}
	}
	c.Equal("places", c.Count(`select count(*) from machine_places`), len(wanted))
	c.Equal("addresses", c.Count(`select count(distinct block) from machine_addresses where free_since is null`), len(wanted))
	c.Equal("addresses that are given twice", c.Count(`select count(*) - count(distinct block) from machine_addresses
		where free_since is null`), 0)
	c.calmly(func() {
		if all := c.volumes(); len(all) != c.before+c.ofMachine*len(wanted) {
			c.T.Errorf("%d machines have, with %d others: %v", len(wanted), c.before, all)
		}
		all, err := c.seeing.List(c.T.Context())
		c.Must(err)
		for _, seen := range all {
			if raw, theirs := c.theirs[seen.Name]; theirs {
				c.Equal("the stranger's "+seen.Name, c.raw(seen.Name), raw)
			} else if !wanted[seen.Name] {
				c.T.Errorf("there is a machine of no service: %+v", seen)
			}
			delete(wanted, seen.Name)
		}
		if len(all) != len(c.lives)-c.ended()+len(c.theirs) || len(wanted) != 0 {
			c.T.Errorf("%d machines are there; missing: %v", len(all), wanted)
		}
	})
}

func (c *machineCampaign) ended() (n int) {
	for _, l := range c.lives {
		if l.isEnded {
			n++
		}
	}
	return n
}

// strangers makes two machines with names that orders are about to want: one of an operator,
// and one of another installation. The orders park, and are given up.
func (c *machineCampaign) strangers() {
	c.T.Helper()
	last := c.Draw("vm")
	another, end := c.open("another")
	defer end()
	operators, foreign := hosting.MachineName(last+1), hosting.MachineName(last+2)
	c.calmly(func() {
		c.stranger(operators)
		service := uuid.NewString()
		_, err := another.Create(c.T.Context(), compute.Machine{
			ID: compute.ID("another", service), Name: foreign, Service: service, Generation: 1, Cores: 1, MemoryMB: 64, DiskGB: 4,
			On: true, Boot: 1, Disk: 1, Template: c.template,
		})
		c.Must(err)
		all, err := c.seeing.List(c.T.Context())
		c.Must(err)
		for _, seen := range all { // the test driver has one from the beginning
			c.theirs[seen.Name] = c.raw(seen.Name)
		}
		c.before = len(c.volumes())
	})
	for n := range 2 {
		id := c.orders().id
		c.lives = c.lives[:0]
		c.Becomes(id, order.StatusFailed)
		run := c.Provision(id)
		c.Equal("the machine", run.Job.VM, last+1+int64(n))
		c.Equal("why its order waits", c.Text(`select string_agg(data ->> 'step' || ' ' || (data ->> 'code'), ', ') from events
			where stream = $1 and name = 'order.provisioning_parked'`, order.Stream(id).String()), "vm name_taken")
		c.Must(c.Orders.Cancel(c.T.Context(), sagastest.Operator, id, "asked for"))
		c.Refunded(id)
	}
	c.nothingElseIsThere()
}

// finish ends all services. Nothing is left, and all that was to go wrong has.
func (c *machineCampaign) finish() {
	c.T.Helper()
	for _, l := range c.lives {
		if !l.isEnded {
			c.takes(l, "end")
		}
	}
	c.stand(c.lives)
	c.nothingElseIsThere()
	c.Equal("effects left", c.Count(`select count(*) from effect where step = 'vm' and state not in ('undone', 'absent')`), 0)
	c.Equal("claims left", c.Count(`select count(*) from external_claim`), 0)
	c.Equal("machines left", c.Count(`select count(*) from resources where kind = 'vm' and status <> 'gone'`), 0)
	c.came(c.T)
}
