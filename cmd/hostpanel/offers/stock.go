package offers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	records "hostpanel/sagas/hosting"
)

// A Stock is `hostpanel nodes` and `hostpanel address-pools`: records that operators keep, by
// the rules and with the words of the API (docs/machines-stock.md). The name of the command is
// that of the collection.
type Stock struct {
	List   stockList   `cmd:"" help:"List them."`
	Create stockCreate `cmd:"" help:"Add one."`
	Change stockChange `cmd:"" help:"Change fields of one."`
	Remove stockRemove `cmd:"" help:"Remove one that nothing uses."`
}

// kindOf is the kind of records that a command is about.
func kindOf(k *kong.Context) hosting.Kind {
	is := func(kind hosting.Kind) bool { return kind.Collection == k.Selected().Parent.Name }
	return hosting.Kinds[slices.IndexFunc(hosting.Kinds, is)]
}

type stockList struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists all records of the kind.
func (l stockList) Run(ctx context.Context, s config.Settings, c console.Console, k *kong.Context) error {
	kind := kindOf(k)
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Tables.For(projections.System).Hosting().OfKind(ctx, kind, projections.Listing{Limit: all})
		if err != nil {
			return err
		}
		columns := append([]string{"id"}, names(kind.New().Fields())...)
		table, records := console.Table{Head: columns}, []field.Values{}
		for _, row := range found.Rows {
			row.Spec["id"] = []byte(fmt.Sprint(row.ID))
			records = append(records, row.Spec)
			table.Add(console.Each(columns, func(name string) console.Cell { return cellOf(row.Spec[name]) })...)
		}
		if l.JSON {
			return c.JSON(records)
		}
		table.Print(c)
		return nil
	})
}

// cellOf shows a value of a record: a text without its quotes.
func cellOf(value []byte) console.Cell { return console.Plain(strings.Trim(string(value), `"`)) }

const fieldsOfStock = `Fields are those of the API, such as: name=node1 cores=8 memory_mb=32000 disk_gb=500. ` +
	`A list is JSON: templates='["debian-12=debian-12.qcow2"]'. docs/machines-stock.md and /api/schema/ describe them.`

type stockCreate struct {
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"At least those that the API requires."`
}

// Help tells how fields are written.
func (stockCreate) Help() string { return fieldsOfStock }

// Run adds a record.
func (cmd stockCreate) Run(ctx context.Context, s config.Settings, c console.Console, k *kong.Context) error {
	d := hosting.NewDraft(kindOf(k))
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

type stockChange struct {
	ID     int64    `arg:"" help:"As the list shows it."`
	Fields []string `arg:"" placeholder:"FIELD=VALUE" help:"What changes."`
}

// Help tells how fields are written.
func (stockChange) Help() string { return fieldsOfStock }

// Run changes a record.
func (cmd stockChange) Run(ctx context.Context, s config.Settings, c console.Console, k *kong.Context) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		d, err := stockOf(ctx, p, kindOf(k), cmd.ID)
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

type stockRemove struct {
	ID int64 `arg:"" help:"As the list shows it."`
}

// Run removes a record.
func (cmd stockRemove) Run(ctx context.Context, s config.Settings, c console.Console, k *kong.Context) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		d, err := stockOf(ctx, p, kindOf(k), cmd.ID)
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
