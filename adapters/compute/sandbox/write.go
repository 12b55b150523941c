package sandbox

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Create makes a machine, or finds the one that an earlier attempt has made.
func (c *Cluster) Create(ctx context.Context, m compute.Machine) (string, error) {
	if err := check(m); err != nil {
		return "", domain.Fail(domain.Permanent, "invalid", err)
	}
	var id int64
	err := c.ordered.Around(ctx, call(faults.Create, m.Name), func(f faults.Fault) (err error) {
		id, err = c.create(ctx, m, f)
		return err
	})
	if err == nil && id == 0 { // the hypervisor claims to have made it
		id, err = c.unused(ctx)
	}
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(id, 10), nil
}

func (c *Cluster) create(ctx context.Context, m compute.Machine, f faults.Fault) (id int64, err error) {
	return id, c.within(ctx, "create", func(tx pgx.Tx) error {
		earlier, err := c.admit(ctx, tx, m)
		if id = earlier.id; err != nil || id != 0 {
			return err
		}
		if m.Host, err = c.place(ctx, tx, m); err != nil {
			return err
		}
		id, err = c.insert(ctx, tx, m, f)
		return err
	})
}

// admit takes the turn of the cluster, so that of equal creations one makes the machine, and
// returns what an earlier one has made.
func (c *Cluster) admit(ctx context.Context, tx pgx.Tx, wanted compute.Machine) (earlier machine, err error) {
	turn := `select pg_advisory_xact_lock(hashtextextended('sandbox_compute/' || $1 || '/' || $2, 0))`
	of := wanted.Name
	if !c.open {
		of = "" // one at a time, so that no host has more than it has room for
	}
	if _, err := tx.Exec(ctx, turn, c.server, of); err != nil {
		return machine{}, err
	}
	all, err := c.machines(ctx, tx, `and (m.uid::text = $2 or m.name = $3)`, wanted.ID.String(), wanted.Name)
	for _, m := range all {
		switch {
		case !c.is(m, wanted):
			return machine{}, errTaken
		case m.generation > wanted.Generation:
			return machine{}, errOvertaken
		}
		earlier = m
	}
	return earlier, err
}

// place chooses the host of a machine: its own, or the first one with room.
func (c *Cluster) place(ctx context.Context, tx pgx.Tx, m compute.Machine) (host string, err error) {
	all, err := c.free(ctx, tx)
	if err != nil {
		return "", err
	}
	err = errTemplate
	for _, h := range all {
		if h.Down != "" || m.Host != "" && m.Host != h.Name || !c.hasTemplate(h.Name, m.Template) {
			continue
		}
		if h.FreeMB >= m.MemoryMB && h.FreeGB >= m.DiskGB && h.Cores >= m.Cores {
			return h.Name, nil
		}
		err = errFull
	}
	return "", err
}

// hasTemplate tells whether a host has a template; one that was given none has every one.
func (c *Cluster) hasTemplate(host, template string) bool {
	return slices.ContainsFunc(c.hosts, func(h compute.Host) bool {
		return h.Name == host && (h.Templates == nil || slices.Contains(h.Templates, template))
	})
}

const nextID = `nextval('sandbox_compute.machines_id_seq')`

func (c *Cluster) insert(ctx context.Context, tx pgx.Tx, m compute.Machine, f faults.Fault) (id int64, err error) {
	if err := tx.QueryRow(ctx, `select `+nextID).Scan(&id); err != nil {
		return 0, err
	}
	seen, gone := f.Fate()
	_, err = tx.Exec(ctx, `
		with made as (
			insert into sandbox_compute.machines (id, name, tag, uid, installation, server, host, generation, cores, memory_mb,
				disk_gb, traffic_tb, os, hostname, keys, address, given, boot, disk, rescue, starts, boots_at, stops_at, visible_at,
				gone_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $14, $15, $16, $17, $18, $19, $20::boolean::int,
				real_now() + $21::interval, case when $20 then 'infinity' else real_now() end,
				real_now() + coalesce($22::interval, '0'), coalesce(real_now() + $23::interval, 'infinity')))
		insert into sandbox_compute.creations (name, tag, id) values ($2, $3, $1)`,
		id, m.Name, m.Service, m.ID.String(), c.installation, c.server, m.Host, m.Generation, m.Cores, m.MemoryMB, m.DiskGB,
		m.Template, m.Hostname, keys(m), address(id), given(m), m.Boot, m.Disk, m.Rescue, m.On, c.boot, seen, gone)
	return id, err
}

// given are the addresses that a machine is given.
func given(m compute.Machine) []string {
	all := []string{}
	for _, one := range m.Network.Addresses {
		all = append(all, one.String())
	}
	return all
}

// keys are those of a machine's system.
func keys(m compute.Machine) []string { return append([]string{}, m.Keys...) }

// unused draws a number that no machine will ever have.
func (c *Cluster) unused(ctx context.Context) (id int64, err error) {
	err = c.pool.QueryRow(ctx, `select `+nextID).Scan(&id)
	return id, unanswered("create", err)
}

// Change brings a machine to what is wanted.
func (c *Cluster) Change(ctx context.Context, external string, m compute.Machine) error {
	return c.ordered.Around(ctx, call(faults.Change, m.Name), func(f faults.Fault) error {
		var waits bool
		err := c.within(ctx, "change", func(tx pgx.Tx) error {
			has, err := c.held(ctx, tx, external, m)
			if err != nil {
				return err
			}
			if err := c.mayBecome(ctx, tx, has, m); err != nil {
				return err
			}
			if m.Disk > has.disk {
				if err := c.renewDisk(ctx, tx, has, m); err != nil {
					return err
				}
			}
			waits, err = c.bring(ctx, tx, has, m, f.Lateness())
			return err
		})
		if err == nil && waits {
			err = compute.OnItsWay(c.shutdown)
		}
		return err
	})
}

// mayBecome refuses what the hypervisor cannot do.
func (c *Cluster) mayBecome(ctx context.Context, tx pgx.Tx, has machine, m compute.Machine) error {
	switch {
	case has.generation > m.Generation:
		return errOvertaken
	case m.DiskGB < has.diskGB:
		return errShrinks
	case m.MemoryMB <= has.memoryMB && m.DiskGB == has.diskGB:
		return nil
	}
	all, err := c.free(ctx, tx)
	for _, h := range all {
		if h.Name == has.host && (h.FreeMB < m.MemoryMB-has.memoryMB || h.FreeGB < m.DiskGB-has.diskGB) {
			return errFull
		}
	}
	return err
}

// renewDisk makes the disk a copy of a snapshot or of the template, whose name stays with it.
func (c *Cluster) renewDisk(ctx context.Context, tx pgx.Tx, has machine, m compute.Machine) error {
	switch {
	case m.Snapshot != "":
		tag, err := tx.Exec(ctx, `update sandbox_compute.machines m set written = s.written
			from sandbox_compute.machine_snapshots s where m.id = $1 and s.machine = m.id and s.name = $2`, has.id, m.Snapshot)
		if err == nil && tag.RowsAffected() == 0 {
			err = errSnapshot
		}
		return err
	case !c.hasTemplate(has.host, m.Template):
		return errTemplate
	}
	_, err := tx.Exec(ctx, `
		update sandbox_compute.machines set written = '', os = $2, hostname = $3, keys = $4 where id = $1`,
		has.id, m.Template, m.Hostname, keys(m))
	return err
}

// bring writes what a machine is to be. It starts if it is to run and does not, or is to be
// started anew. One that is asked to shut down takes its time, and the caller waits.
func (c *Cluster) bring(ctx context.Context, tx pgx.Tx, has machine, m compute.Machine, late time.Duration) (waits bool, err error) {
	runs := has.state != compute.Stopped
	starts := m.On && (!runs || m.Boot > has.boot || m.Disk > has.disk)
	if starts || !m.On {
		has.rescue = m.Rescue
	}
	if _, err := tx.Exec(ctx, `
		update sandbox_compute.machines set uid = $2, installation = $3, generation = $4, cores = $5, memory_mb = $6, disk_gb = $7,
			boot = greatest(boot, $8), disk = greatest(disk, $9), rescue = $10, given = $11 where id = $1`,
		has.id, m.ID.String(), c.installation, m.Generation, m.Cores, m.MemoryMB, m.DiskGB, m.Boot, m.Disk, has.rescue, given(m),
	); err != nil {
		return false, err
	}
	switch {
	case starts:
		_, err = tx.Exec(ctx, `
			update sandbox_compute.machines set starts = starts + 1, received = 0, sent = 0, stops_at = 'infinity',
				boots_at = real_now() + $2::interval where id = $1`, has.id, c.boot+late)
	case !m.On && runs:
		takes := late
		if m.Soft {
			takes += c.shutdown
		}
		err = tx.QueryRow(ctx, `
			update sandbox_compute.machines set stops_at = least(stops_at, real_now() + $2::interval) where id = $1
			returning stops_at > real_now() and $3`, has.id, takes, m.Soft && c.shutdown > 0).Scan(&waits)
	}
	return waits, err
}

// Remove deletes a machine with its snapshots. One that is gone is a success.
func (c *Cluster) Remove(ctx context.Context, external string, m compute.Machine) error {
	return c.ordered.Around(ctx, call(faults.Remove, m.Name), func(faults.Fault) error {
		return c.within(ctx, "remove", func(tx pgx.Tx) error {
			has, err := c.held(ctx, tx, external, m)
			if errors.Is(err, errAbsent) {
				return nil
			}
			if err == nil {
				_, err = tx.Exec(ctx, `delete from sandbox_compute.machines where id = $1`, has.id)
			}
			return err
		})
	})
}
