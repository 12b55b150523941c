package operations

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/wording"
	"hostpanel/sagas"
)

// Runs is `hostpanel runs`.
type Runs struct {
	List  runsList  `cmd:"" help:"List runs, and tasks that are in work, fail or are parked, the latest first."`
	Show  runsShow  `cmd:"" help:"Show one run and what became of each try."`
	Retry runsRetry `cmd:"" help:"Let a parked run go on at the step where it stopped, or a parked task be tried again."`

	Rebuild runsRebuild `cmd:"" help:"Make the work rows of all runs what the log says."`
}

type runsList struct {
	Status string `placeholder:"STATUS" help:"Only these: parked, paused, ready, running, waiting, done, undone."`
	About  string `placeholder:"STREAM" help:"Only those that work for this hosting resource: site-42."`
	Limit  int    `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Run lists runs.
func (l runsList) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		found, err := p.Sagas.Runner.Operators.Runs(ctx, sagas.RunFilter{Status: sagas.Status(l.Status), About: l.About, Limit: l.Limit})
		if err != nil {
			return err
		}
		if l.JSON {
			return c.JSON(console.Each(found, asRun))
		}
		i := c.Ink()
		t := console.Table{Head: []string{"run", "status", "step", "tries", "next (UTC)", "last error"}}
		for _, r := range found {
			at := min(r.Step, len(r.Steps)-1)
			line := lineOf(r, at, r.Steps[at])
			t.Add(
				console.Plain(r.Key), console.Painted(r.Status, i.Status), console.Plain(line.Step),
				console.Number(line.Attempts), console.Moment(r.RunAt), console.Painted(line.LastError, i.Red),
			)
		}
		t.Print(c)
		return nil
	})
}

type runsShow struct {
	Key  string `arg:"" name:"run" help:"Key, such as engine:site-42/3."`
	JSON bool   `name:"json" help:"For programs."`
}

// Run shows a run.
func (cmd runsShow) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		r, err := runNamed(ctx, p, cmd.Key)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return c.JSON(asRun(r))
		}
		printRun(c, r)
		return nil
	})
}

type runsRetry struct {
	Key    string `arg:"" name:"run" help:"Key, such as engine:site-42/3."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run lets a run go on.
func (cmd runsRetry) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		r, err := runNamed(ctx, p, cmd.Key)
		if err != nil {
			return err
		}
		if err := p.Sagas.Runner.Operators.RetryRun(ctx, program.AtConsole, r.ID, cmd.Reason); err != nil {
			return fmt.Errorf("retry %s: %w", r.Key, err)
		}
		fmt.Fprintf(c.Out, "%s goes on\n", r.Key)
		return nil
	})
}

type runsRebuild struct {
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run rebuilds the work rows.
func (cmd runsRebuild) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		n, err := p.Sagas.Runner.Operators.RebuildRuns(ctx, program.AtConsole, cmd.Reason)
		if err != nil {
			return fmt.Errorf("rebuild runs: %w", err)
		}
		fmt.Fprintf(c.Out, "%s rebuilt\n", wording.Count(n, "run"))
		return nil
	})
}

func runNamed(ctx context.Context, p *program.Program, key string) (sagas.RunView, error) {
	found, err := p.Sagas.Runner.Operators.Runs(ctx, sagas.RunFilter{Key: key})
	switch {
	case err != nil:
		return sagas.RunView{}, err
	case len(found) == 0:
		return sagas.RunView{}, domain.Refuse(domain.NotFound, "There is no run %s.", key)
	}
	return found[0], nil
}
