package main

import (
	"context"
	"fmt"
	"time"

	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

type projectionsCommand struct {
	List    projectionsList    `cmd:"" help:"List the read tables and how far behind the log they are."`
	Rebuild projectionsRebuild `cmd:"" help:"Build a read table anew from the log; the old one serves until then."`
}

type projectionsList struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists the read tables.
func (l projectionsList) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		states, err := p.tables.For(projections.System).States(ctx)
		if err != nil {
			return err
		}
		if l.JSON {
			return c.json(each(states, asProjection))
		}
		i := c.ink()
		t := table{head: []string{"name", "status", "position", "behind", "updated (UTC)"}}
		for _, state := range states {
			t.add(plain(state.Name), painted(state.Status, i.status), number(state.Position), number(state.Head-state.Position), moment(state.UpdatedAt))
		}
		t.print(c)
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
// "Rebuilding"). Nothing that was ever done is done again: what follows from a
// event is named after it.
func (r projectionsRebuild) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		owner, err := eventstore.ConnectOwner(ctx, p.url)
		if err != nil {
			return err
		}
		defer owner.Close()
		step, end := c.progress("rebuilding")
		err = projections.Rebuild(ctx, owner, eventstore.Open(owner, assembly.Catalogue(), p.keys, eventstore.WithLog(p.log)), r.Name, step)
		end()
		if err != nil {
			p.reportFailedTables(context.WithoutCancel(ctx))
			return err
		}
		fmt.Fprintf(c.out, "%s is built anew\n", r.Name)
		return nil
	})
}
