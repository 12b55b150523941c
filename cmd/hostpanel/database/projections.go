package database

import (
	"context"
	"fmt"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// Projections is `hostpanel projections`: the read tables.
type Projections struct {
	List    projectionsList    `cmd:"" help:"List the read tables and how far behind the log they are."`
	Rebuild projectionsRebuild `cmd:"" help:"Build a read table anew from the log; the old one serves until then."`
}

type projectionsList struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists the read tables.
func (l projectionsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		states, err := p.Tables.For(projections.System).States(ctx)
		if err != nil {
			return err
		}
		if l.JSON {
			return c.JSON(console.Each(states, asProjection))
		}
		i := c.Ink()
		t := console.Table{Head: []string{"name", "status", "position", "behind", "updated (UTC)"}}
		for _, state := range states {
			t.Add(console.Plain(state.Name), console.Painted(state.Status, i.Status), console.Number(state.Position), console.Number(state.Head-state.Position), console.Moment(state.UpdatedAt))
		}
		t.Print(c)
		return nil
	})
}

// A projectionLine is a read table as --json shows it.
type projectionLine struct {
	Name      string    `json:"name"`
	Status    string    `json:"status"` // live, rebuilding, failed
	Position  int64     `json:"position"`
	Head      int64     `json:"head"`
	LagEvents int64     `json:"lag_events"`
	UpdatedAt time.Time `json:"updated_at"`
}

func asProjection(s projections.State) projectionLine {
	return projectionLine{s.Name, s.Status, s.Position, s.Head, s.Head - s.Position, s.UpdatedAt}
}

type projectionsRebuild struct {
	Name string `arg:"" help:"As the list shows it."`
}

// Run builds one read table anew, beside whatever serves (docs/read-tables.md,
// "Rebuilding"). Nothing that was ever done is done again: what follows from an
// event is named after it.
func (r projectionsRebuild) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		owner, err := eventstore.ConnectOwner(ctx, p.URL)
		if err != nil {
			return err
		}
		defer owner.Close()
		step, end := c.Progress("rebuilding")
		err = projections.Rebuild(ctx, owner, eventstore.Open(owner, assembly.Catalogue(), p.Keys, eventstore.WithLog(p.Log)), r.Name, step)
		end()
		if err != nil {
			p.ReportFailedTables(context.WithoutCancel(ctx))
			return err
		}
		fmt.Fprintf(c.Out, "%s is built anew\n", r.Name)
		return nil
	})
}
