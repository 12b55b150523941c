// Package backup has the commands `hostpanel backup`, `hostpanel restore` and `hostpanel
// recovery` (docs/backup.md).
package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/wording"
	"hostpanel/eventstore/backup"
	"hostpanel/projections"
	"hostpanel/sagas/audit"
)

// Command is `hostpanel backup`.
type Command struct {
	Out  string `required:"" placeholder:"FOLDER|FILE.zip" help:"Where the backup is written. What exists is not replaced."`
	JSON bool   `name:"json" help:"For programs."`
}

// Run writes a backup, beside whatever runs on the database.
func (b Command) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		list, err := p.KeptErasures(ctx)
		if err != nil {
			return err
		}
		step, end := c.Progress("backup")
		built := program.BuildOf()
		var m backup.Manifest
		err = p.Repeat(ctx, func(owner *pgxpool.Pool) (err error) {
			m, err = backup.Save(ctx, owner, backup.Saving{
				Path: b.Out, Schema: schema(), Keys: p.Keys,
				Program: backup.Program{Version: built.Version, Revision: built.Revision}, Progress: step, Erasures: list,
			})
			return err
		})
		end()
		if err != nil {
			return err
		}
		if b.JSON {
			return c.JSON(m)
		}
		fmt.Fprintf(c.Out, "%s holds %s in %s, up to event %s, as of %s\n", console.OneLine(b.Out), wording.Count(m.Rows(), "row"),
			wording.Count(int64(len(m.Files)), "table"), wording.Grouped(m.Head.Position), m.MadeAt.Format(time.RFC3339))
		return nil
	})
}

// schema is what the program knows of the tables in its database.
func schema() backup.Schema {
	return backup.Schema{
		Migrations: program.Migrations(), Beside: projections.Besides(),
		Derived: map[string]string{audit.IndexReader: audit.IndexReader},
	}
}
