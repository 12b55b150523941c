package sandbox

import (
	"context"
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
)

// FindVM looks a machine up by its tag and, when none has it, by its name; an
// empty one does not count. Two machines with the tag are a permanent failure.
func (c *Cluster) FindVM(ctx context.Context, tag, name string) (found hosting.VM, ok bool, err error) {
	err = c.ordered.Around(ctx, call(faults.Find, name), func(faults.Fault) error {
		found, ok, err = c.findVM(ctx, tag, name)
		return err
	})
	if err != nil {
		return hosting.VM{}, false, err
	}
	return found, ok, nil
}

func (c *Cluster) findVM(ctx context.Context, tag, name string) (hosting.VM, bool, error) {
	all, err := c.query(ctx, `
		where (tag = $1 and $1 <> '' or name = $2 and $2 <> '') and visible_at <= real_now() and gone_at > real_now()
		order by tag = $1 and $1 <> '' desc, id limit 2`, tag, name)
	switch {
	case err != nil || len(all) == 0:
		return hosting.VM{}, false, err
	case len(all) == 2 && tag != "" && all[1].Tag == tag:
		return hosting.VM{}, false, domain.Fail(domain.Permanent, "ambiguous", errors.New("two machines have the tag"))
	}
	return all[0], true, nil
}

// query reads machines; where begins with "where". A machine that boots has
// no address yet, and one that is off has none.
func (c *Cluster) query(ctx context.Context, where string, args ...any) ([]hosting.VM, error) {
	rows, err := c.pool.Query(ctx, `
		select id::text, name, tag, cores, memory_mb, disk_gb, traffic_tb, os,
		       case when stops_at <= real_now() then 'stopped' when boots_at <= real_now() then 'running' else 'booting' end,
		       case when boots_at <= real_now() and stops_at > real_now() then address else '' end
		from sandbox_compute.machines `+where, args...)
	if err != nil {
		return nil, unanswered("read", err)
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (vm hosting.VM, err error) {
		return vm, row.Scan(
			&vm.External, &vm.Name, &vm.Tag, &vm.Cores, &vm.MemoryMB, &vm.DiskGB, &vm.TrafficTB, &vm.OS, &vm.State,
			&vm.Address,
		)
	})
	return all, unanswered("read", err)
}

// HasRoom tells whether a machine of this size could be made now.
func (c *Cluster) HasRoom(ctx context.Context, vm hosting.VM) (has bool, err error) {
	err = c.ordered.Around(ctx, call(faults.Find, vm.Name), func(faults.Fault) error {
		has, err = c.hasRoom(ctx, c.pool, vm)
		return unanswered("read", err)
	})
	return has && err == nil, err
}

type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func (c *Cluster) hasRoom(ctx context.Context, db rower, vm hosting.VM) (has bool, err error) {
	if c.open {
		return true, nil
	}
	err = db.QueryRow(ctx, `
		select coalesce(sum(memory_mb), 0) + $1 <= $2 and coalesce(sum(disk_gb), 0) + $3 <= $4
		from sandbox_compute.machines where gone_at > real_now()`, vm.MemoryMB, c.hosts[0].MemoryMB,
		vm.DiskGB, c.hosts[0].DiskGB).Scan(&has)
	return has, err
}

// admitSize refuses a machine for which there is no room. Creations on a hypervisor with a
// size take turns.
func (c *Cluster) admitSize(ctx context.Context, tx pgx.Tx, vm hosting.VM) error {
	if c.open {
		return nil
	}
	if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock(hashtextextended('sandbox_compute', 0))`); err != nil {
		return err
	}
	has, err := c.hasRoom(ctx, tx, vm)
	if err == nil && !has {
		err = domain.Fail(domain.Permanent, "node_full", errors.New("no host has room for the machine"))
	}
	return err
}

// CreateVM makes and starts a machine and returns its number. Names are
// unique; sizes that no host has are refused.
func (c *Cluster) CreateVM(ctx context.Context, vm hosting.VM) (string, error) {
	var id int64
	err := c.ordered.Around(ctx, call(faults.Create, vm.Name), func(f faults.Fault) (err error) {
		id, err = c.createVM(ctx, vm, f)
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

func (c *Cluster) createVM(ctx context.Context, vm hosting.VM, f faults.Fault) (id int64, err error) {
	if err := checkVM(vm); err != nil {
		return 0, domain.Fail(domain.Permanent, "invalid", err)
	}
	err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		if id, err = admitVM(ctx, tx, vm.Name); err != nil {
			return err
		}
		if err := c.admitSize(ctx, tx, vm); err != nil {
			return err
		}
		return c.insertVM(ctx, tx, id, vm, f)
	})
	return id, unanswered("create", err)
}

// admit takes the turn of the name, so that of two equal creations one is
// refused, and gives the machine a number.
func admitVM(ctx context.Context, tx pgx.Tx, name string) (id int64, err error) {
	var taken bool
	questions := &pgx.Batch{}
	questions.Queue(`select pg_advisory_xact_lock(hashtextextended('sandbox_compute/' || $1, 0))`, name)
	questions.Queue(`select exists (select from sandbox_compute.machines where name = $1 and gone_at > real_now()), `+nextID, name).
		QueryRow(func(row pgx.Row) error { return row.Scan(&taken, &id) })
	if err := tx.SendBatch(ctx, questions).Close(); err != nil {
		return 0, err
	}
	if taken {
		return 0, domain.Fail(domain.Permanent, "name_taken", errors.New("there is a machine with this name already"))
	}
	return id, nil
}

func (c *Cluster) insertVM(ctx context.Context, tx pgx.Tx, id int64, vm hosting.VM, f faults.Fault) error {
	seen, gone := f.Fate()
	_, err := tx.Exec(ctx, `
		with made as (
			insert into sandbox_compute.machines (id, name, tag, cores, memory_mb, disk_gb, traffic_tb, os, address,
				boots_at, visible_at, gone_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, real_now() + $10::interval, real_now() + coalesce($11::interval,
				'0'), coalesce(real_now() + $12::interval, 'infinity')))
		insert into sandbox_compute.creations (name, tag, id) values ($2, $3, $1)`,
		id, vm.Name, vm.Tag, vm.Cores, vm.MemoryMB, vm.DiskGB, vm.TrafficTB, vm.OS, address(id), c.boot, seen, gone)
	return err
}

// SwitchVM switches a machine off, or on so that it boots. One that is as
// wanted stays as it is; one that is not there is a permanent failure,
// "absent".
func (c *Cluster) SwitchVM(ctx context.Context, external string, on bool) error {
	return c.ordered.Around(ctx, call(faults.Change, ""), func(f faults.Fault) error {
		late, _ := f.Fate()
		tag, err := c.pool.Exec(ctx, `
			update sandbox_compute.machines set
				boots_at = case when $2 and stops_at < 'infinity' then real_now() + coalesce($3::interval,
					'0') + $4::interval else boots_at end,
				stops_at = case when $2 then 'infinity' else least(stops_at, real_now() + coalesce($3::interval, '0')) end
			where id::text = $1 and gone_at > real_now()`, external, on, late, c.boot)
		if err == nil && tag.RowsAffected() == 0 {
			err = domain.Fail(domain.Permanent, "absent", errors.New("there is no such machine"))
		}
		return unanswered("switch", err)
	})
}

// RemoveVM stops and deletes a machine. One that is gone is a success.
func (c *Cluster) RemoveVM(ctx context.Context, external string) error {
	return c.ordered.Around(ctx, call(faults.Remove, ""), func(faults.Fault) error {
		_, err := c.pool.Exec(ctx, `delete from sandbox_compute.machines where id::text = $1`, external)
		return unanswered("remove", err)
	})
}

// Machines lists what the hypervisor really has, by number, seen by look-ups
// or not.
func (c *Cluster) Machines(ctx context.Context) ([]hosting.VM, error) {
	return c.query(ctx, `where gone_at > real_now() order by id`)
}

// checkVM is what the hypervisor refuses by itself.
func checkVM(vm hosting.VM) error {
	if vm.TrafficTB < 0 {
		return errors.New("traffic is not negative")
	}
	return check(compute.Machine{Name: vm.Name, Template: vm.OS, Cores: vm.Cores, MemoryMB: vm.MemoryMB, DiskGB: vm.DiskGB})
}
