package offers

import (
	"context"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	records "hostpanel/sagas/hosting"
)

// What machines are made of: nodes and address pools, by the rules and with the words of the
// API (docs/machines-stock.md).
type (
	// Nodes is `hostpanel nodes`.
	Nodes = stock[nodes]
	// Pools is `hostpanel pools`.
	Pools = stock[pools]
)

// A kept type names a kind of records that operators keep.
type kept interface {
	kind() hosting.Kind
	columns() field.Columns
}

type nodes struct{}

func (nodes) kind() hosting.Kind { return named(hosting.NodeKind) }

func (nodes) columns() field.Columns {
	return field.Columns{"id", "name", "server", "host", "cores", "memory_mb", "disk_gb", "weight", "is_drained"}
}

type pools struct{}

func (pools) kind() hosting.Kind { return named(hosting.AddressPoolKind) }

func (pools) columns() field.Columns {
	return field.Columns{"id", "name", "network", "gateway", "bridge", "vlan", "prefix_length"}
}

func named(name string) hosting.Kind {
	kind, _ := hosting.KindNamed(name)
	return kind
}

type stock[K kept] struct {
	List   stockList[K]   `cmd:"" help:"List them."`
	Create stockCreate[K] `cmd:"" help:"Add one."`
	Change stockChange[K] `cmd:"" help:"Change fields of one."`
	Remove stockRemove[K] `cmd:"" help:"Remove one that nothing uses."`
}

// A stockRecord is one of them.
type stockRecord[K kept] struct {
	id   int64
	spec hosting.Spec // nil: an empty one
}

// Fields are the number and the fields of the API.
func (r *stockRecord[K]) Fields() field.Set {
	if r.spec == nil {
		r.spec = (*new(K)).kind().New()
	}
	return append(field.Set{field.Int("id", &r.id).ReadOnly()}, r.spec.Fields()...)
}

type stockList[K kept] struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists all records of the kind.
func (l stockList[K]) Run(ctx context.Context, s config.Settings, c console.Console) error {
	var of K
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Hosting().OfKind(ctx, of.kind(), projections.Listing{Limit: all})
		if err != nil {
			return err
		}
		rows := make([]stockRecord[K], len(found.Rows))
		for i, row := range found.Rows {
			rows[i] = stockRecord[K]{id: row.ID, spec: of.kind().New()}
			if err := row.Load(rows[i].spec); err != nil {
				return err
			}
		}
		return console.List(c, l.JSON, rows, of.columns())
	})
}

// aboutFields tells how fields of a kind are written.
func aboutFields(of kept) string {
	return "Fields are those of the API: " + strings.Join(names(of.kind().New().Fields()), ", ") +
		`. A list is JSON: templates='["debian-12=debian-12.qcow2"]'. docs/machines-stock.md describes them.`
}

type stockCreate[K kept] struct {
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"At least those that the API requires."`
}

// Help tells how fields are written.
func (stockCreate[K]) Help() string { return aboutFields(*new(K)) }

// Run adds a record.
func (cmd stockCreate[K]) Run(ctx context.Context, s config.Settings, c console.Console) error {
	d := hosting.NewDraft((*new(K)).kind())
	sent, err := fieldsFrom(d.Spec.Fields(), cmd.Fields, field.Create)
	if err != nil {
		return err
	}
	return program.With(ctx, s, c, func(p *program.Program) error {
		return stocked(ctx, p, c, d, sent, func(by *records.Service) error {
			_, _, err := by.Create(ctx, atConsole, projections.System, d)
			return err
		})
	})
}

type stockChange[K kept] struct {
	ID     int64    `arg:"" help:"As the list shows it."`
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"What changes."`
}

// Help tells how fields are written.
func (stockChange[K]) Help() string { return aboutFields(*new(K)) }

// Run changes a record.
func (cmd stockChange[K]) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		d, err := stockOf(ctx, p, (*new(K)).kind(), cmd.ID)
		if err != nil {
			return err
		}
		sent, err := fieldsFrom(d.Spec.Fields(), cmd.Fields, field.Patch)
		if err != nil {
			return err
		}
		return stocked(ctx, p, c, d, sent, func(by *records.Service) error {
			_, err := by.Change(ctx, atConsole, projections.System, d)
			return err
		})
	})
}

type stockRemove[K kept] struct {
	ID int64 `arg:"" help:"As the list shows it."`
}

// Run removes a record.
func (cmd stockRemove[K]) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		d, err := stockOf(ctx, p, (*new(K)).kind(), cmd.ID)
		if err != nil {
			return err
		}
		if _, err := recordsOf(p).Remove(ctx, atConsole, projections.System, d, false); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "%s %d is removed\n", d.Kind.Nouns["en"], d.ID)
		return nil
	})
}

func stockOf(ctx context.Context, p *program.Program, kind hosting.Kind, id int64) (*hosting.Draft, error) {
	row, err := p.Tables.For(projections.System).Hosting().Resource(ctx, hosting.Ref{Kind: kind.Name, ID: id})
	if domain.CodeOf(err) == domain.NotFound {
		return nil, fmt.Errorf("there is no %s %d", kind.Nouns["en"], id)
	}
	if err != nil {
		return nil, err
	}
	return row.Draft()
}

// stocked checks a draft and carries it out.
func stocked(
	ctx context.Context, p *program.Program, c console.Console, d *hosting.Draft, sent field.Set, carry func(*records.Service) error,
) error {
	var wrong field.Errors
	d.Sent = sent
	by := recordsOf(p)
	if err := by.Prepare(ctx, projections.System, d, &wrong); err != nil {
		return err
	}
	if err := wrong.Err(); err != nil {
		return err
	}
	if err := carry(by); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%s %d is in stock\n", d.Kind.Nouns["en"], d.ID)
	return nil
}

func recordsOf(p *program.Program) *records.Service {
	return records.New(records.Options{
		Tables: p.Tables, Resources: p.Sagas.Reconciler, Numbers: p.Store, Subjects: p.Store, PublicURL: p.PublicURL,
		Now: p.Store.Clock().Now,
	})
}

func atConsole(domain.Versions) domain.Metadata { return program.AtConsole }
