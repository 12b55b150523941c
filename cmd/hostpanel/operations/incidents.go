package operations

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/field"
	"hostpanel/domain/operations"
	"hostpanel/projections"
)

// Incidents is `hostpanel incidents`: problems that belong to no order, run or record.
type Incidents struct {
	List    incidentsList    `cmd:"" help:"List problems that need an operator, newest first."`
	Requeue incidentsRequeue `cmd:"" help:"Handle again what an incident is about."`
	Settle  incidentsSettle  `cmd:"" help:"Settle an incident that you have seen to."`
	Adopt   incidentsAdopt   `cmd:"" help:"The engine is right: let the panel take over what it has."`
	Remake  incidentsRemake  `cmd:"" help:"The panel is right: let the engine get the object again."`
	Remove  incidentsRemove  `cmd:"" help:"Remove a machine that no record is about, with its data."`
	Ignore  incidentsIgnore  `cmd:"" help:"Leave a difference to the engine as it is, and do not report it again while it lasts."`
}

type incidentsList struct {
	All   bool `help:"Those that are settled, too."`
	Limit int  `default:"100" help:"At most so many."`
	JSON  bool `name:"json" help:"For programs."`
}

var incidentColumns = field.ColumnsOf[projections.Incident]("id", "kind", "about", "times", "reported_at", "offers", "reason")

// Run lists incidents.
func (l incidentsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		asked := projections.Listing{Limit: int64(l.Limit)}
		if !l.All {
			asked.Filters = []projections.Filter{{Field: "is_settled", Op: "=", Value: false}}
		}
		found, err := p.Tables.For(projections.System).Operations().Incidents(ctx, asked)
		if err != nil {
			return err
		}
		return console.List(c, l.JSON, found.Rows, incidentColumns)
	})
}

// An incidentChoice says which incident is acted on, and why.
type incidentChoice struct {
	ID     uuid.UUID `arg:"" name:"incident" help:"Id, as the list shows it."`
	Reason string    `required:"" help:"Why; it stands in the log."`
}

type incidentsRequeue struct{ incidentChoice }

// Run handles again what an incident is about.
func (r incidentsRequeue) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		if err := p.Sagas.Operations.HandleAgain(ctx, program.AtConsole, r.ID, r.Reason); err != nil {
			return fmt.Errorf("requeue incident %s: %w", r.ID, err)
		}
		fmt.Fprintln(c.Out, "it is handled again, and settled")
		return nil
	})
}

type incidentsSettle struct{ incidentChoice }

// Run settles an incident.
func (r incidentsSettle) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		if _, err := p.Tables.For(projections.System).Operations().Incident(ctx, r.ID); err != nil {
			return err
		}
		settle := operations.Settle{ID: r.ID, Reason: r.Reason, At: p.Store.Clock().Now()}
		if _, err := p.Store.Execute(ctx, program.AtConsole, settle); err != nil {
			return fmt.Errorf("settle incident %s: %w", r.ID, err)
		}
		fmt.Fprintln(c.Out, "it is settled")
		return nil
	})
}

type (
	incidentsAdopt  struct{ incidentChoice }
	incidentsRemake struct{ incidentChoice }
	incidentsRemove struct{ incidentChoice }
	incidentsIgnore struct{ incidentChoice }
)

// Run lets the panel take over what the engine has.
func (a incidentsAdopt) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return a.answer(ctx, s, c, operations.Adopt, "it is taken over")
}

// Run lets the engine get an object again.
func (r incidentsRemake) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return r.answer(ctx, s, c, operations.Remake, "the engine gets it again")
}

// Run removes a machine.
func (r incidentsRemove) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return r.answer(ctx, s, c, operations.Remove, "it is removed")
}

// Run leaves a difference as it is.
func (i incidentsIgnore) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return i.answer(ctx, s, c, operations.Ignore, "it is left as it is")
}

func (i incidentChoice) answer(ctx context.Context, s config.Settings, c console.Console, answer, said string) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		if err := p.Sagas.Operations.Answer(ctx, program.AtConsole, i.ID, answer, i.Reason); err != nil {
			return fmt.Errorf("%s incident %s: %w", answer, i.ID, err)
		}
		fmt.Fprintln(c.Out, said)
		return nil
	})
}
