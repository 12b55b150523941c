package backup

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain/operations"
	"hostpanel/eventstore/recovery"
	"hostpanel/sagas"
)

// Recovery is `hostpanel recovery` (docs/backup.md, "Recovery mode").
type Recovery struct {
	Status statusCommand `cmd:"" help:"Tell whether the panel is in recovery mode."`
	Begin  beginCommand  `cmd:"" help:"Keep a panel that was restored by other means from reaching outside."`
	End    endCommand    `cmd:"" help:"Let a restored panel reach outside again."`
}

type statusCommand struct {
	JSON bool `name:"json" help:"For programs."`
}

// A state is the recovery mode as --json shows it.
type state struct {
	On       bool       `json:"on"`
	BeganAt  *time.Time `json:"began_at"` // null: the panel was never restored
	EndedAt  *time.Time `json:"ended_at"`
	Head     int64      `json:"restored_up_to"`
	Reason   string     `json:"reason"`
	Incident string     `json:"incident"`
}

// Run tells whether the mode is on.
func (s statusCommand) Run(ctx context.Context, settings config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, settings, c, func(p *program.Program) error {
		mode, err := recovery.Read(ctx, p.Pool)
		if err != nil {
			return err
		}
		now := state{On: mode.On(), EndedAt: mode.EndedAt, Head: mode.Head, Reason: mode.Reason}
		if mode.Number > 0 {
			now.BeganAt, now.Incident = &mode.BeganAt, operations.RecoveryTrouble(mode.Number).ID().String()
		}
		switch {
		case s.JSON:
			return c.JSON(now)
		case now.On:
			fmt.Fprintf(
				c.Out, "on since %s: %s. Incident %s\n", console.Moment(mode.BeganAt).Text,
				console.OneLine(mode.Reason), now.Incident,
			)
		default:
			fmt.Fprintln(c.Out, "off")
		}
		return nil
	})
}

type beginCommand struct {
	Reason string `required:"" help:"Why: it is kept with the mode."`
}

// Run begins the mode. Processes that run keep to it at once: what they have claimed is
// taken away from them.
func (b beginCommand) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		mode, err := recovery.Read(ctx, p.Pool)
		if err == nil && mode.On() {
			err = recovery.ErrOn
		}
		if err != nil {
			return err
		}
		head, _, err := p.Store.Reader().Head(ctx)
		if err != nil {
			return err
		}
		err = pgx.BeginFunc(ctx, p.Pool, func(tx pgx.Tx) error {
			if err := sagas.BeginRecovery(ctx, tx, head, b.Reason); err != nil {
				return err
			}
			return recovery.Ready(ctx, tx)
		})
		if err != nil {
			return err
		}
		if mode, err = recovery.Read(ctx, p.Pool); err != nil {
			return err
		}
		fmt.Fprintln(c.Out, `The panel is in recovery mode: it reaches nothing outside until "hostpanel recovery end".`)
		return p.Sagas.Runner.ReportIncident(ctx, operations.RecoveryTrouble(mode.Number))
	})
}

type endCommand struct {
	Reason string `required:"" help:"Why: it is kept with the incident."`
	Yes    bool   `help:"Do not ask."`
}

// Run ends the mode. Processes that run go on at once.
func (e endCommand) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		mode, err := recovery.Read(ctx, p.Pool)
		if err == nil && !mode.On() {
			err = recovery.ErrOff
		}
		if err != nil {
			return err
		}
		if !e.Yes {
			if err := c.Confirm(ctx, "end"); err != nil {
				return err
			}
		}
		trouble := operations.RecoveryTrouble(mode.Number)
		if err := p.Sagas.Runner.ReportIncident(ctx, trouble); err != nil { // it is there already, unless the log was edited
			return err
		}
		cause := sagas.ByOperator(program.AtConsole, uuid.Nil)
		if _, err := p.Store.ExecuteWith(ctx, cause, sagas.Released(), trouble.Settle(e.Reason, p.Store.Clock().Now())); err != nil {
			return err
		}
		fmt.Fprintln(c.Out, "The recovery mode has ended: everything outside is looked at, and work goes on.")
		return nil
	})
}
