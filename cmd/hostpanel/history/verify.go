package history

import (
	"context"
	"fmt"
	"os"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/wording"
	"hostpanel/eventstore"
)

// Verify is `hostpanel verify`.
type Verify struct {
	Checkpoint string `placeholder:"FILE"`
	New        bool   `help:"Only events since the last verification, or since the checkpoint."`
	Stream     string `placeholder:"NAME" help:"Only this stream, such as site-12."`
	JSON       bool   `name:"json" help:"For programs."`
}

// Abouts are the longer texts of its flags and arguments, by name.
func (Verify) Abouts() map[string]string {
	return map[string]string{
		"checkpoint": "A signed checkpoint that was kept outside of the database: the log has to be the one " +
			"that it covers.",
	}
}

// Run checks the whole log. A chain that is broken is a failure, of which
// operators are told.
func (v Verify) Run(ctx context.Context, s config.Settings, c console.Console) error {
	check, err := v.check()
	if err != nil {
		return err
	}
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		step, end := c.Progress("verifying")
		check.Progress = step
		verdict, err := p.Store.Reader().VerifyBy(ctx, check)
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

func (v Verify) check() (check eventstore.Check, err error) {
	check.OnlyNew = v.New
	if v.Stream != "" {
		if check.Stream = domain.StreamNamed(v.Stream); check.Stream.ID == "" || v.New {
			return check, console.Misused("--stream is the name of a stream, such as site-12, and has no --new")
		}
	}
	if v.Checkpoint == "" {
		return check, nil
	}
	text, err := os.ReadFile(v.Checkpoint)
	if err != nil {
		return check, console.Misused("--checkpoint: %v", err)
	}
	check.Checkpoint = string(text)
	return check, nil
}

func (v Verify) print(c console.Console, found eventstore.Verdict) error {
	i := c.Ink()
	switch {
	case v.JSON:
		return c.JSON(asReport(found))
	case found.Intact:
		fmt.Fprintf(
			c.Out, "%s: %s, head %d %x\n", i.Green("intact"), wording.Count(found.Checked, "event"),
			found.HeadPosition, found.HeadHash,
		)
	default:
		at := "position " + wording.Grouped(found.Broken)
		if found.Through > found.Broken {
			at = "one of the positions " + wording.Grouped(found.Broken) + " to " + wording.Grouped(found.Through)
		}
		fmt.Fprintf(c.Out, "%s at %s%s: %s\n", i.Red("broken"), at, wording.Around(", stream ", found.Stream, ""), found.Reason)
	}
	for _, what := range found.Uncovered {
		fmt.Fprintf(c.Out, "not covered: %s\n", what)
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
	Through      *int64    `json:"broken_through,omitempty"` // the last event that it may be instead
	Stream       string    `json:"stream,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Sealed       int64     `json:"sealed"`
	Uncovered    []string  `json:"not_covered"`
	VerifiedAt   time.Time `json:"verified_at"`
}

func asReport(v eventstore.Verdict) report {
	r := report{
		Status: "ok", Checked: v.Checked, HeadPosition: v.HeadPosition, HeadHash: fmt.Sprintf("%x", v.HeadHash),
		Stream: v.Stream, Reason: v.Reason, Sealed: v.Sealed, Uncovered: append([]string{}, v.Uncovered...), VerifiedAt: v.At,
	}
	if !v.Intact {
		r.Status, r.FirstBroken = "broken", &v.Broken
		if v.Through > v.Broken {
			r.Through = &v.Through
		}
	}
	return r
}
