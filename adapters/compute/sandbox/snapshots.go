package sandbox

import (
	"context"

	"github.com/jackc/pgx/v5"

	"hostpanel/adapters/faults"
	"hostpanel/domain/compute"
)

func ofSnapshot(what, name string) faults.Call {
	return faults.Call{Call: what, Kind: "snapshot", Name: name}
}

// Snapshots are those of a machine, oldest first.
func (c *Cluster) Snapshots(ctx context.Context, external string, m compute.Machine) (all []compute.Snapshot, err error) {
	err = c.ordered.Around(ctx, ofSnapshot(faults.List, m.Name), func(faults.Fault) error {
		has, err := c.one(ctx, external, m)
		if err != nil {
			return unanswered("list the snapshots", err)
		}
		rows, err := c.pool.Query(ctx, `
			select name, at from sandbox_compute.machine_snapshots where machine = $1 order by at, name`, has.id)
		if err == nil {
			all, err = pgx.CollectRows(rows, pgx.RowToStructByPos[compute.Snapshot])
		}
		return unanswered("list the snapshots", err)
	})
	return all, err
}

// TakeSnapshot keeps what is on the disk.
func (c *Cluster) TakeSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return c.onSnapshot(ctx, faults.Change, external, m, `
		insert into sandbox_compute.machine_snapshots (machine, name, written)
		select id, $2, written from sandbox_compute.machines where id = $1 on conflict do nothing`, name)
}

// DropSnapshot deletes one.
func (c *Cluster) DropSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return c.onSnapshot(ctx, faults.Remove, external, m, `
		delete from sandbox_compute.machine_snapshots where machine = $1 and name = $2`, name)
}

func (c *Cluster) onSnapshot(ctx context.Context, call, external string, m compute.Machine, sql, name string) error {
	return c.ordered.Around(ctx, ofSnapshot(call, m.Name), func(faults.Fault) error {
		return c.within(ctx, "snapshot", func(tx pgx.Tx) error {
			has, err := c.held(ctx, tx, external, m)
			if err == nil {
				_, err = tx.Exec(ctx, sql, has.id, name)
			}
			return err
		})
	})
}
