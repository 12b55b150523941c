// Package sandbox is a hypervisor whose machines exist on paper only. They
// have an id, a name, a number, a time until they have booted and then an
// address of a range kept for documentation; what is ordered to go wrong goes
// wrong (docs/adapters.md, "Sandboxes").
package sandbox

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// Migrations make the hypervisor's tables. They need those of package faults.
//
//go:embed migrations/*.sql
var Migrations embed.FS

// A Cluster is the sandbox hypervisor.
type Cluster struct {
	pool         *pgxpool.Pool
	ordered      *faults.Ordered
	server       string
	installation string
	boot         time.Duration
	shutdown     time.Duration
	hosts        []compute.Host
	open         bool // the hosts have room for everything, and every template
}

// An Option changes how the hypervisor behaves.
type Option func(*Cluster)

// Booting lets every machine take that long to boot; without it, no time.
func Booting(takes time.Duration) Option { return func(c *Cluster) { c.boot = takes } }

// ShuttingDown lets every machine take that long to shut down on request; without it, no time.
func ShuttingDown(takes time.Duration) Option { return func(c *Cluster) { c.shutdown = takes } }

// Sized lets the hypervisor have memory and disk for so many machines and no more.
func Sized(memoryMB, diskGB int64) Option {
	return Hosts(compute.Host{Name: Name, Cores: 64, MemoryMB: memoryMB, DiskGB: diskGB})
}

// Hosts are what the cluster consists of, instead of one that is never full. One without
// templates has every template.
func Hosts(hosts ...compute.Host) Option {
	return func(c *Cluster) { c.hosts, c.open = hosts, false }
}

// Named gives the cluster another name, so that several stand in one database.
func Named(server string) Option { return func(c *Cluster) { c.server = server } }

// OfInstallation marks machines with an installation of the panel; those with another mark
// are strangers'.
func OfInstallation(id string) Option { return func(c *Cluster) { c.installation = id } }

// Name is what the cluster and its host are called, if nothing else is said.
const Name = "sandbox"

// endless is the size of a cluster that is never full.
const endless = 1 << 40

// New returns the hypervisor whose machines stand in the schema sandbox_compute.
func New(pool *pgxpool.Pool, options ...Option) *Cluster {
	c := &Cluster{
		pool: pool, ordered: faults.For(pool, "compute"), server: Name, open: true,
		hosts: []compute.Host{{Name: Name, Cores: 256, MemoryMB: endless, DiskGB: endless}},
	}
	for _, o := range options {
		o(c)
	}
	return c
}

// Server names the cluster.
func (c *Cluster) Server() string { return c.server }

// Faults are what has been ordered to go wrong. The kind of their calls is "vm", "snapshot",
// "host" or "screen".
func (c *Cluster) Faults() *faults.Ordered { return c.ordered }

func call(what, name string) faults.Call { return faults.Call{Call: what, Kind: "vm", Name: name} }

// Created tells how often a machine of a service has really been created, no
// matter what the caller was told and whether it is still there.
func (c *Cluster) Created(ctx context.Context, service string) (times int, err error) {
	err = c.pool.QueryRow(ctx, `select count(*) from sandbox_compute.creations where tag = $1`, service).Scan(&times)
	if err != nil {
		return 0, fmt.Errorf("count the creations of a machine: %w", err)
	}
	return times, nil
}

// Transfer lets a machine receive and send so many bytes more.
func (c *Cluster) Transfer(ctx context.Context, external string, received, sent int64) error {
	_, err := c.pool.Exec(ctx, `
		update sandbox_compute.machines set received = received + $2, sent = sent + $3 where id::text = $1`, external, received, sent)
	if err != nil {
		return fmt.Errorf("let a machine use the network: %w", err)
	}
	return nil
}

// within is a transaction at the hypervisor.
func (c *Cluster) within(ctx context.Context, what string, do func(pgx.Tx) error) error {
	return unanswered(what, pgx.BeginFunc(ctx, c.pool, do))
}

// unanswered makes an error of the database what it would be with a real
// hypervisor: no answer. Failures pass.
func unanswered(call string, err error) error {
	if _, classed := errors.AsType[*domain.Failure](err); classed || err == nil {
		return err
	}
	return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("sandbox hypervisor, %s: %w", call, err))
}
