package sandbox

import (
	"context"
	"slices"
	"strings"
	"time"

	"hostpanel/adapters/faults"
	"hostpanel/domain/compute"
)

// Find looks a machine up by its id, else by its name. One that was made before machines had
// ids is found by its service.
func (c *Cluster) Find(ctx context.Context, m compute.Machine) (seen compute.Seen, is bool, err error) {
	err = c.ordered.Around(ctx, call(faults.Find, m.Name), func(faults.Fault) error {
		seen, is, err = c.find(ctx, m)
		return unanswered("find", err)
	})
	if err != nil {
		return compute.Seen{}, false, err
	}
	return seen, is, nil
}

func (c *Cluster) find(ctx context.Context, wanted compute.Machine) (seen compute.Seen, is bool, err error) {
	all, err := c.machines(ctx, c.pool, `and m.visible_at <= real_now()
		and (m.uid::text = $2 or m.uid is null and m.tag = $3 and $3 <> '' or m.name = $4 and $4 <> '') order by m.id`,
		wanted.ID.String(), wanted.Service, wanted.Name)
	if err != nil || len(all) == 0 {
		return seen, false, err
	}
	ours := slices.DeleteFunc(slices.Clone(all), func(m machine) bool { return !c.is(m, wanted) })
	switch len(ours) {
	case 0:
		return c.seen(all[0]), true, nil
	case 1:
		seen = c.seen(ours[0])
		seen.ID = wanted.ID // also where only the service tells
		return seen, true, nil
	}
	return seen, false, errAmbiguous
}

// List reads all machines, by name.
func (c *Cluster) List(ctx context.Context) (seen []compute.Seen, err error) {
	err = c.ordered.Around(ctx, call(faults.List, ""), func(faults.Fault) error {
		all, err := c.machines(ctx, c.pool, `and m.visible_at <= real_now() order by m.name collate "C", m.id`)
		for _, m := range all {
			seen = append(seen, c.seen(m))
		}
		return unanswered("list", err)
	})
	return seen, err
}

// Hosts reads the hosts, by name.
func (c *Cluster) Hosts(ctx context.Context) (all []compute.Host, err error) {
	err = c.ordered.Around(ctx, faults.Call{Call: faults.List, Kind: "host"}, func(faults.Fault) error {
		all, err = c.free(ctx, c.pool)
		return unanswered("read the hosts", err)
	})
	return all, err
}

// free reads the hosts with what is free on each.
func (c *Cluster) free(ctx context.Context, db querier) ([]compute.Host, error) {
	machines, err := c.machines(ctx, db, "")
	if err != nil {
		return nil, err
	}
	all := slices.Clone(c.hosts)
	for i := range all {
		h := &all[i]
		h.FreeMB, h.FreeGB = h.MemoryMB, h.DiskGB
		for _, m := range machines {
			if m.host == h.Name {
				h.FreeMB, h.FreeGB = h.FreeMB-m.memoryMB, h.FreeGB-m.diskGB
			}
		}
		if h.Templates == nil {
			h.Templates = templates
		}
	}
	slices.SortFunc(all, func(a, b compute.Host) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Usage is that of a machine which is a little busy.
func (c *Cluster) Usage(ctx context.Context, external string, m compute.Machine) (u compute.Usage, err error) {
	err = c.ordered.Around(ctx, faults.Call{Call: faults.List, Kind: "usage", Name: m.Name}, func(faults.Fault) error {
		u, err = c.usage(ctx, external, m)
		return unanswered("read the usage", err)
	})
	return u, err
}

// load is what part of its time each core of a machine works.
const load = 0.02

func (c *Cluster) usage(ctx context.Context, external string, wanted compute.Machine) (u compute.Usage, err error) {
	m, err := c.one(ctx, external, wanted)
	if err != nil {
		return u, err
	}
	var runs time.Duration
	err = c.pool.QueryRow(ctx, `
		select real_now(), greatest(least(real_now(), stops_at) - boots_at, '0'), received, sent, starts::text
		from sandbox_compute.machines where id = $1`, m.id).Scan(&u.At, &runs, &u.Received, &u.Sent, &u.Epoch)
	u.CPU = time.Duration(load * float64(runs) * float64(m.cores))
	u.MemoryMB, u.DiskMB = m.memoryMB/2, m.diskGB<<10/4
	return u, err
}

// one reads a machine that has to be the wanted one.
func (c *Cluster) one(ctx context.Context, external string, wanted compute.Machine) (machine, error) {
	all, err := c.machines(ctx, c.pool, `and m.id::text = $2`, external)
	switch {
	case err != nil:
		return machine{}, err
	case len(all) == 0:
		return machine{}, errAbsent
	case !c.is(all[0], wanted):
		return machine{}, errDrift
	}
	return all[0], nil
}
