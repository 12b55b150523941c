package database

import (
	"context"
	"fmt"
	"strings"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/projections"
)

// Projections is `hostpanel projections`: the read tables.
type Projections struct {
	List    projectionsList    `cmd:"" help:"List the read tables and how far behind the log they are."`
	Rebuild projectionsRebuild `cmd:"" help:"Build read tables anew from the log; the old ones serve until then."`
	Check   projectionsCheck   `cmd:"" help:"Compare read tables with what the log says, row by row, and change nothing."`
}

type projectionsList struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run lists the read tables.
func (l projectionsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		states, err := p.Tables.For(projections.System).Operations().States(ctx)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, states, tableColumns)
	})
}

var tableColumns = field.ColumnsOf[projections.State]("name", "status", "position", "lag_events", "updated_at")

// aboutProjections are what both commands take.
type aboutProjections struct {
	Names []string `arg:"" optional:"" name:"name" help:"As the list shows them; all without one."`
	Rate  int      `placeholder:"N" help:"At most so many events per second, to leave the machine to others."`
	JSON  bool     `name:"json" help:"For programs."`
}

type projectionsRebuild struct {
	aboutProjections
	Check bool `help:"Compare the tables row by row before the new ones take over, and report what differs."`
}

// Run builds read tables anew in one pass over the log, beside whatever serves
// (docs/read-tables.md, "Rebuilding"). Nothing that was ever done is done again: what
// follows from an event is named after it.
func (r projectionsRebuild) Run(ctx context.Context, s config.Settings, c console.Console) error {
	result, err := r.rebuild(ctx, s, c, "rebuilding", projections.Options{Check: r.Check})
	if err != nil || r.JSON {
		return err
	}
	printDifferences(c, result)
	for _, name := range result.Names {
		fmt.Fprintf(c.Out, "%s is built anew\n", name)
	}
	return nil
}

type projectionsCheck struct{ aboutProjections }

// Run compares read tables with what the log says, and fails if a row differs.
func (k projectionsCheck) Run(ctx context.Context, s config.Settings, c console.Console) error {
	result, err := k.rebuild(ctx, s, c, "comparing", projections.Options{KeepOld: true})
	if err != nil {
		return err
	}
	if !k.JSON {
		printDifferences(c, result)
	}
	if result.Different > 0 {
		return fmt.Errorf("%d rows are not what the log says; `hostpanel projections rebuild` makes them so", result.Different)
	}
	if !k.JSON {
		fmt.Fprintf(c.Out, "%s: every row is what the log says, up to event %d\n", strings.Join(result.Names, ", "), result.Position)
	}
	return nil
}

func (a aboutProjections) rebuild(
	ctx context.Context, s config.Settings, c console.Console, doing string, o projections.Options,
) (result projections.Result, err error) {
	err = program.WithoutPeople(ctx, s, c, func(p *program.Program) (err error) {
		names := a.Names
		if len(names) == 0 {
			names = projections.Names()
		}
		var end func()
		o.PerSec = a.Rate
		o.Progress, end = c.Progress(doing)
		result, err = p.Rebuild(ctx, names, o)
		end()
		if err != nil {
			return err
		}
		if a.JSON {
			return c.JSON(asRebuilt(result))
		}
		return nil
	})
	return result, err
}

func printDifferences(c console.Console, r projections.Result) {
	if r.Different == 0 {
		return
	}
	t := console.Table{Head: []string{"table", "key", "what", "columns"}}
	for _, d := range r.Differences {
		t.Add(
			console.Plain(d.Table), console.Plain(d.Key), console.Plain(strings.ReplaceAll(d.What, "_", " ")),
			console.Plain(strings.Join(d.Columns, ", ")),
		)
	}
	t.Print(c)
	if more := r.Different - int64(len(r.Differences)); more > 0 {
		fmt.Fprintf(c.Out, "and %d more\n", more)
	}
}

// A rebuiltLine is what came of a rebuild or a check, as --json shows it.
type rebuiltLine struct {
	Names       []string                 `json:"names"`
	From        int64                    `json:"from"` // position after which it began
	Position    int64                    `json:"position"`
	Seconds     float64                  `json:"seconds"`
	Different   int64                    `json:"different"` // rows
	Differences []projections.Difference `json:"differences"`
}

func asRebuilt(r projections.Result) rebuiltLine {
	return rebuiltLine{r.Names, r.From, r.Position, r.Took.Seconds(), r.Different, r.Differences}
}
