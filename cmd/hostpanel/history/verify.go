package history

import (
	"context"
	"fmt"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
)

// Verify is `hostpanel verify`.
type Verify struct {
	JSON bool `name:"json" help:"For programs."`
}

// Run checks the whole log. A chain that is broken is a failure, of which
// operators are told.
func (v Verify) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		step, end := c.Progress("verifying")
		verdict, err := p.Store.Verify(ctx, step)
		end()
		if err != nil {
			return err
		}
		if err := v.print(c, verdict); err != nil {
			return err
		}
		if !verdict.Intact {
			p.Report(ctx, operations.LogTrouble(verdict.Broken, verdict.Stream, verdict.Reason))
			return console.ErrReported
		}
		return nil
	})
}

func (v Verify) print(c console.Console, found eventstore.Verdict) error {
	i := c.Ink()
	switch {
	case v.JSON:
		return c.JSON(asReport(found))
	case found.Intact:
		fmt.Fprintf(c.Out, "%s: %s, head %d %x\n", i.Green("intact"), wording.Count(found.Checked, "event"), found.HeadPosition, found.HeadHash)
	default:
		fmt.Fprintf(c.Out, "%s at position %d%s: %s\n", i.Red("broken"), found.Broken, wording.Around(", stream ", found.Stream, ""), found.Reason)
	}
	return nil
}

// A report is a verdict as --json shows it.
type report struct {
	Status       string    `json:"status"` // ok, broken
	Checked      int64     `json:"checked"`
	HeadPosition int64     `json:"head_position"`
	HeadHash     string    `json:"head_hash"`
	FirstBroken  *int64    `json:"first_broken_position"`
	Stream       string    `json:"stream,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	VerifiedAt   time.Time `json:"verified_at"`
}

func asReport(v eventstore.Verdict) report {
	r := report{
		Status: "ok", Checked: v.Checked, HeadPosition: v.HeadPosition, HeadHash: fmt.Sprintf("%x", v.HeadHash),
		Stream: v.Stream, Reason: v.Reason, VerifiedAt: v.At,
	}
	if !v.Intact {
		r.Status, r.FirstBroken = "broken", &v.Broken
	}
	return r
}
