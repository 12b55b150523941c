//go:build system

package faults_test

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/engine/sandbox"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Customers are two tenants who ask for whatever comes to their minds, as far
// as the API would let them, and know what they have asked for.
type customers struct {
	*sagastest.Household
	sandbox *sandbox.Engine
	url     string
	chance  *rand.Rand
	things  []*thing
	calm    atomic.Bool // no worker is killed any more
	dying   sync.Mutex
	death   *rand.Rand
}

// A thing is one resource in the view of its customer.
type thing struct {
	ref     hosting.Ref
	tenant  int64
	name    string // as its customer calls it
	born    string // its name at the engine, when it was asked for
	parent  *thing // nil: it is a part of nothing
	asked   field.Values
	secrets map[string]string // the last ones
	trashed bool
	gone    bool
	halted  bool
}

func newCustomers(t *testing.T, seed int64) *customers {
	t.Helper()
	c := &customers{
		url:    sagastest.Database(t),
		chance: rand.New(rand.NewPCG(uint64(seed), 1)), death: rand.New(rand.NewPCG(uint64(seed), 2)),
	}
	w := &sagastest.World{
		T: t, Engine: sagastest.NewEngine(), Compute: sagastest.NewCompute(), Mail: sagastest.NewMail(),
		Pay: sagastest.NewPayments(), Logged: &sagastest.SyncBuffer{},
	}
	c.Household = &sagastest.Household{World: w}
	w.Instance = c.process()
	c.sandbox = sandbox.New(w.Pool)
	for range 2 {
		id := c.Draw("tenant")
		request := c.NewTenant(id)
		c.Carry(request)
		c.things = append(
			c.things,
			&thing{
				ref: request.Ref, tenant: id, name: hosting.CustomerNumber(id), born: hosting.CustomerNumber(id),
				asked: field.Values{"email": nil, "max_sites": nil},
			},
		)
	}
	return c
}

// process is one that works for the customers at the sandbox. Its workers die
// in two of a hundred moments that are worse than others. In one of 200 the process is
// stopped as a whole, for up to two leases.
func (c *customers) process() *sagastest.Instance {
	s := c.Node(c.url, func(o *assembly.Options) {
		o.Engine = sandbox.New(o.Store.Pool())
		o.Limits = map[string]int{"local": 4, "engine:sandbox": 6}
		o.Times.Lease = 700 * time.Millisecond
		o.Times.Quarantine = time.Second // longer than anything may stay out of sight, on a machine that is busy too
		o.Log = slog.New(slog.NewTextHandler(c.Logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	s.Fault.To(func(sagas.Point, sagas.Run) error {
		dies, stopped := c.mishap()
		if stopped > 0 {
			s.Stopped.Lock()
			time.Sleep(stopped)
			s.Stopped.Unlock()
		}
		if dies {
			return sagas.ErrKilled
		}
		return nil
	})
	return s
}

func (c *customers) mishap() (dies bool, stopped time.Duration) {
	c.dying.Lock()
	defer c.dying.Unlock()
	if c.calm.Load() {
		return false, 0
	}
	if c.death.IntN(200) == 0 {
		stopped = time.Duration(c.death.IntN(1400)) * time.Millisecond
	}
	return c.death.IntN(100) < 2, stopped
}

func (c *customers) worker() (stop func()) { return c.Passing(c.process()) }

// of are all things of a kind, gone or not.
func (c *customers) of(kind string) (all []*thing) {
	for _, one := range c.things {
		if one.ref.Kind == kind {
			all = append(all, one)
		}
	}
	return all
}

// here are the things of a kind that customers can see; of "" of any kind but
// the tenants themselves.
func (c *customers) here(kind string) (all []*thing) {
	for _, one := range c.things {
		if !one.gone && !one.trashed && (one.ref.Kind == kind || kind == "" && one.ref.Kind != "tenant") {
			all = append(all, one)
		}
	}
	return all
}

func (c *customers) parts(whole *thing) (all []*thing) {
	for _, one := range c.things {
		if one.parent == whole && !one.gone {
			all = append(all, one)
		}
	}
	return all
}

func pick[T any](c *customers, all []T) T { return all[c.chance.IntN(len(all))] }
