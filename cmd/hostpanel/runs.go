package main

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/sagas"
)

type runsCommand struct {
	List  runsList  `cmd:"" help:"List runs, the latest first."`
	Show  runsShow  `cmd:"" help:"Show one run and what became of each try."`
	Retry runsRetry `cmd:"" help:"Let a parked run go on at the step where it stopped."`
}

type runsList struct {
	Status string `placeholder:"STATUS" help:"Only these: parked, paused, ready, running, waiting, done, undone."`
	About  string `placeholder:"STREAM" help:"Only those that work for this hosting resource: site-42."`
	Limit  int    `default:"100" help:"At most so many."`
	JSON   bool   `name:"json" help:"For programs."`
}

// Run lists runs.
func (l runsList) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		found, err := p.sagas.Runs(ctx, sagas.RunFilter{Status: sagas.Status(l.Status), About: l.About, Limit: l.Limit})
		if err != nil {
			return err
		}
		if l.JSON {
			return c.json(each(found, asRun))
		}
		i := c.ink()
		t := table{head: []string{"run", "status", "step", "tries", "next (UTC)", "last error"}}
		for _, r := range found {
			at := min(r.Step, len(r.Steps)-1)
			line := lineOf(r, at, r.Steps[at])
			t.add(plain(r.Key), painted(r.Status, i.status), plain(line.Step), number(line.Attempts), moment(r.RunAt), painted(line.LastError, i.red))
		}
		t.print(c)
		return nil
	})
}

type runsShow struct {
	Key  string `arg:"" name:"run" help:"Key, such as engine:site-42/3."`
	JSON bool   `name:"json" help:"For programs."`
}

// Run shows a run.
func (cmd runsShow) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		r, err := p.runNamed(ctx, cmd.Key)
		if err != nil {
			return err
		}
		if cmd.JSON {
			return c.json(asRun(r))
		}
		c.run(r)
		return nil
	})
}

type runsRetry struct {
	Key    string `arg:"" name:"run" help:"Key, such as engine:site-42/3."`
	Reason string `required:"" help:"Why; it stands in the log."`
}

// Run lets a run go on.
func (cmd runsRetry) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		r, err := p.runNamed(ctx, cmd.Key)
		if err != nil {
			return err
		}
		if err := p.sagas.RetryRun(ctx, atConsole, r.ID, cmd.Reason); err != nil {
			return fmt.Errorf("retry %s: %w", r.Key, err)
		}
		fmt.Fprintf(c.out, "%s goes on\n", r.Key)
		return nil
	})
}

func (p *program) runNamed(ctx context.Context, key string) (sagas.RunView, error) {
	found, err := p.sagas.Runs(ctx, sagas.RunFilter{Key: key})
	switch {
	case err != nil:
		return sagas.RunView{}, err
	case len(found) == 0:
		return sagas.RunView{}, domain.Refuse(domain.NotFound, "There is no run %s.", key)
	}
	return found[0], nil
}
