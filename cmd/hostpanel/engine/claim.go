package engine

import (
	"context"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
)

// Claim is `hostpanel engine claim`.
type Claim struct {
	Yes bool `help:"Do not ask."`
}

// Run takes the engine for this installation, from the one that works there.
func (c Claim) Run(ctx context.Context, s config.Settings, out console.Console) error {
	return program.WithoutPeople(ctx, s, out, func(p *program.Program) error {
		if !c.Yes {
			fmt.Fprintln(out.Out, "Another installation that works at this engine keeps from it from now on.")
			fmt.Fprintln(out.Out, "Its clients stay, and are strangers here.")
			if err := out.Confirm(ctx, "claim"); err != nil {
				return err
			}
		}
		before, now, err := p.ClaimEngine(ctx)
		if err != nil {
			return err
		}
		switch before {
		case "":
			fmt.Fprintf(out.Out, "The engine was nobody's, and is held by this installation, %s.\n", now)
		case now:
			fmt.Fprintf(out.Out, "The engine is held by this installation, %s; a copy of its database keeps from it.\n", now)
		default:
			fmt.Fprintf(out.Out, "The engine was held by installation %s, and is held by this one, %s.\n", before, now)
		}
		return nil
	})
}
