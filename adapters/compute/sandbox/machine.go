package sandbox

import (
	"context"
	"net/netip"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain/compute"
)

// A machine is one as the hypervisor has it.
type machine struct {
	id           int64
	uid          string // "": made before machines had one
	service      string
	name         string
	installation string
	host         string
	template     string
	state        compute.State
	address      string
	given        []string

	generation, cores, memoryMB, diskGB int64
	boot, disk                          int64
	rescue                              bool
	starts                              int64
}

const columns = `m.id, coalesce(m.uid::text, ''), m.tag, m.name, m.installation, m.host, m.os,
	case when m.stops_at <= real_now() then 'stopped' when m.boots_at <= real_now() then 'running' else 'changing' end,
	m.address, m.given, m.generation, m.cores, m.memory_mb, m.disk_gb, m.boot, m.disk, m.rescue, m.starts`

type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// machines reads those of the cluster that are there; where goes on with $2.
func (c *Cluster) machines(ctx context.Context, db querier, where string, args ...any) ([]machine, error) {
	rows, err := db.Query(ctx, `select `+columns+` from sandbox_compute.machines m
		where m.server = $1 and m.gone_at > real_now() `+where, append([]any{c.server}, args...)...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (m machine, err error) {
		return m, row.Scan(
			&m.id, &m.uid, &m.service, &m.name, &m.installation, &m.host, &m.template, &m.state, &m.address, &m.given, &m.generation,
			&m.cores, &m.memoryMB, &m.diskGB, &m.boot, &m.disk, &m.rescue, &m.starts,
		)
	})
}

// isOurs tells whether a machine carries the mark of this installation.
func (c *Cluster) isOurs(m machine) bool {
	return m.service != "" && (m.installation == "" || m.installation == c.installation)
}

// is tells whether m is the machine that is wanted. One without an id is known by its service.
func (c *Cluster) is(m machine, wanted compute.Machine) bool {
	return c.isOurs(m) && (m.uid == wanted.ID.String() || m.uid == "" && m.service == wanted.Service)
}

// seen is a machine as the hypervisor shows it. One that boots has no address of the
// hypervisor's yet, and one that is off has none.
func (c *Cluster) seen(m machine) compute.Seen {
	s := compute.Seen{
		External: strconv.FormatInt(m.id, 10), Name: m.name, Ours: c.isOurs(m), Host: m.host, State: m.state,
		Cores: m.cores, MemoryMB: m.memoryMB, DiskGB: m.diskGB, Boot: m.boot, Disk: m.disk, Rescue: m.rescue,
	}
	s.ID, _ = uuid.Parse(m.uid) // one without is zero
	if s.Ours {
		s.Service, s.Generation = m.service, m.generation
	}
	for _, text := range m.given {
		if prefix, err := netip.ParsePrefix(text); err == nil {
			s.Addresses = append(s.Addresses, prefix.Addr())
		}
	}
	if own, err := netip.ParseAddr(m.address); err == nil && len(m.given) == 0 && m.state == compute.Running {
		s.Addresses = []netip.Addr{own}
	}
	return s
}

// held reads one machine for a change, and refuses one that is not the wanted one.
func (c *Cluster) held(ctx context.Context, tx pgx.Tx, external string, wanted compute.Machine) (machine, error) {
	all, err := c.machines(ctx, tx, `and m.id::text = $2 for update of m`, external)
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
