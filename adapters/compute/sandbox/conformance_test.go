package sandbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/conformance"
	"hostpanel/adapters/faults"
	"hostpanel/domain/compute"
)

func TestTheSandboxIsAHypervisor(t *testing.T) { computetest.Run(t, hypervisorOf(pool(t))) }

func TestTheSandboxEnduresCampaigns(t *testing.T) { computetest.RunCampaigns(t, hypervisorOf(pool(t))) }

// losses are the calls of the suite as faults name them.
var losses = map[string]faults.Fault{
	"create": {Call: faults.Create, Kind: "vm"}, "change": {Call: faults.Change, Kind: "vm"}, "remove": {Call: faults.Remove, Kind: "vm"},
	"snapshot": {Call: faults.Change, Kind: "snapshot"}, "drop": {Call: faults.Remove, Kind: "snapshot"},
}

// Each of its calls is one transaction: an answer is lost after it, or none.
func hypervisorOf(p *pgxpool.Pool) func(t *testing.T) computetest.Hypervisor {
	hosts := sandbox.Hosts(
		compute.Host{Name: "one", Cores: 16, MemoryMB: 32 << 10, DiskGB: 500, Templates: []string{"debian-13"}},
		compute.Host{Name: "two", Cores: 16, MemoryMB: 32 << 10, DiskGB: 500, Templates: []string{"debian-13", "ubuntu-24"}},
	)
	return func(t *testing.T) computetest.Hypervisor {
		c := sandbox.New(p, hosts, sandbox.OfInstallation("ours"), sandbox.ShuttingDown(20*time.Millisecond))
		return computetest.Hypervisor{
			Hypervisor: c, Like: compute.Machine{Host: "two", Template: "ubuntu-24"},
			Other: sandbox.New(p, hosts, sandbox.OfInstallation("theirs")),
			Lose: func(_ conformance.T, call string) {
				f := losses[call]
				f.What = faults.ResetAfter
				order(t, c, f)
			},
			Left:   func(ctx context.Context) ([]string, error) { return left(ctx, p) },
			Starts: func(_ conformance.T, m compute.Machine) int { return ask[int](t, p, `starts`, m) },
			Mark: func(_ conformance.T, m compute.Machine) {
				_, err := p.Exec(t.Context(), `update sandbox_compute.machines set written = 'mark' where uid::text = $1`, m.ID.String())
				if err != nil {
					t.Fatal(err)
				}
			},
			Marked:   func(_ conformance.T, m compute.Machine) bool { return ask[bool](t, p, `written = 'mark'`, m) },
			Hostname: func(_ conformance.T, m compute.Machine) string { return ask[string](t, p, `hostname`, m) },
			Stranger: func(_ conformance.T, name string) func() { return foreign(t, p, name) },
		}
	}
}

// left are all machines and snapshots.
func left(ctx context.Context, p *pgxpool.Pool) ([]string, error) {
	rows, err := p.Query(ctx, `select name from sandbox_compute.machines
		union all select machine || ' ' || name from sandbox_compute.machine_snapshots`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func ask[V any](t *testing.T, p *pgxpool.Pool, what string, m compute.Machine) (v V) {
	t.Helper()
	row := p.QueryRow(t.Context(), `select `+what+` from sandbox_compute.machines where uid::text = $1`, m.ID.String())
	if err := row.Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// foreign makes a machine without the panel.
func foreign(t *testing.T, p *pgxpool.Pool, name string) (remove func()) {
	t.Helper()
	var id int64
	if err := p.QueryRow(t.Context(), `
		insert into sandbox_compute.machines (name, tag, cores, memory_mb, disk_gb, traffic_tb, os, boots_at, visible_at)
		values ($1, '', 1, 256, 1, 0, 'debian-13', real_now(), real_now()) returning id`, name).Scan(&id); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := p.Exec(context.WithoutCancel(t.Context()), `delete from sandbox_compute.machines where id = $1`, id); err != nil {
			t.Error(err)
		}
	}
}
