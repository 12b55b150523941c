package history

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/eventstore/tlog/tree"
)

// Log is `hostpanel log`.
type Log struct {
	Checkpoint logCheckpoint `cmd:"" help:"Write the signed checkpoint, to be kept outside of the panel."`
	BeginAnew  logAnew       `cmd:"" help:"Begin a new origin with a new key, because sealed events are lost for good."`
}

type logCheckpoint struct {
	Key bool `help:"Write the public key of the log instead."`
}

// Run writes the checkpoint.
func (l logCheckpoint) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		o, err := p.Sealer.Current(ctx)
		if err != nil {
			return err
		}
		if l.Key {
			fmt.Fprintln(c.Out, o.VKey)
			return nil
		}
		text, witnessed := o.Shown()
		fmt.Fprint(c.Out, text)
		if !witnessed {
			fmt.Fprintln(c.Err, "unwitnessed: the quorum of witnesses has not cosigned this checkpoint")
		}
		return tellWitnesses(ctx, p, o, c)
	})
}

// tellWitnesses names the witnesses that do not cosign.
func tellWitnesses(ctx context.Context, p *program.Program, o tree.Origin, c console.Console) error {
	witnesses, err := p.Sealer.Witnesses(ctx, o)
	for _, w := range witnesses {
		if w.Trouble != "" {
			fmt.Fprintf(c.Err, "witness %s: %s\n", w.Name, console.OneLine(w.Trouble))
		}
	}
	return err
}

type logAnew struct {
	Reason string `required:"" help:"Why: it is kept beside the new origin."`
	Yes    bool   `help:"Do not ask."`
}

// Run begins a new origin. The old tree, its key and its proofs stay.
func (l logAnew) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		if !l.Yes {
			if err := c.Confirm(ctx, "begin-anew"); err != nil {
				return err
			}
		}
		o, err := p.Sealer.BeginAnew(ctx, l.Reason)
		if err == nil {
			fmt.Fprintf(c.Out, "The log goes on as %s with the key %s\n", o.Name, o.VKey)
		}
		return err
	})
}
