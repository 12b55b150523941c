package offers

import (
	"context"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	records "hostpanel/sagas/hosting"
)

var vms, _ = hosting.KindNamed(hosting.MachineKind)

// Machines is `hostpanel machines`.
type Machines struct {
	List machinesList `cmd:"" help:"List them."`
	Act  machinesAct  `cmd:"" default:"withargs" help:"Do with one what its owner may do: restart vm77."`
}

type machinesList struct {
	JSON bool `name:"json" help:"For programs."`
}

// A machineRecord is one of the list.
type machineRecord struct {
	projections.Resource
	spec hosting.Machine
}

var machineColumns = strings.Fields("name hostname os cores memory_mb disk_gb address is_on rescue boots disks")

// Fields are the number, what the owner wants, and how far the hypervisor is with it.
func (r *machineRecord) Fields() field.Set {
	set := append(field.Set{field.Int("id", &r.ID), field.Int("tenant", &r.Tenant)}, r.spec.Fields().Only(machineColumns...)...)
	return append(set, field.Text("sync_status", &r.SyncStatus), field.Text("sync_error", &r.SyncError))
}

// Run lists all virtual servers.
func (l machinesList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Hosting().OfKind(ctx, vms, projections.Listing{Limit: all})
		if err != nil {
			return err
		}
		rows := make([]machineRecord, len(found.Rows))
		for i, row := range found.Rows {
			rows[i].Resource = row
			if err := row.Load(&rows[i].spec); err != nil {
				return err
			}
		}
		return console.List(c, l.JSON, rows, field.Columns{"name", "tenant", "hostname", "os", "address", "is_on", "sync_status"})
	})
}

type machinesAct struct {
	Act     string `arg:"" help:"What is done."`
	Name    string `arg:"" help:"As the list shows it."`
	Confirm string `placeholder:"NAME" help:"The name once more, where data are lost."`
}

// Help lists the acts.
func (machinesAct) Help() string {
	var b strings.Builder
	for _, act := range hosting.MachineActs {
		fmt.Fprintf(&b, "%s: %s. %s\n\n", act.Name, act.Title, act.About)
	}
	return b.String() + "docs/machines.md describes them."
}

// Run does something with a virtual server, as the API does.
func (cmd machinesAct) Run(ctx context.Context, s config.Settings, c console.Console) error {
	act, known := hosting.MachineActNamed(cmd.Act)
	if !known {
		return fmt.Errorf("nothing is called %q: see hostpanel machines act --help", cmd.Act)
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Hosting().OfKind(ctx, vms, projections.Listing{
			Limit: 1, Filters: []projections.Filter{{Field: "name", Op: "=", Value: cmd.Name}},
		})
		if err == nil && found.Count == 0 {
			err = fmt.Errorf("there is no virtual server %q", cmd.Name)
		}
		if err != nil {
			return err
		}
		d, err := found.Rows[0].Draft()
		if err != nil {
			return err
		}
		f := act.FormOf()
		f.Confirm = cmd.Confirm
		if _, err := (records.Machines{Service: recordsOf(p)}).Act(ctx, atConsole, projections.System, d, f); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "asked for: %s of %s\n", act.Name, cmd.Name)
		return nil
	})
}
