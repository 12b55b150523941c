package sandbox

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
)

type sandboxClock struct {
	Forward string `arg:"" help:"How far, such as 36h or 24d. A clock never goes back."`
}

// Run moves the business clock of a demo (docs/clocks.md).
func (k sandboxClock) Run(ctx context.Context, s config.Settings, c console.Console) error {
	by, err := parseSpan(k.Forward)
	if err != nil {
		return err
	}
	return program.WithoutPeople(ctx, s, c, func(p *program.Program) error {
		clock := p.Store.Clock()
		if err := clock.Advance(ctx, by); err != nil {
			return err
		}
		fmt.Fprintf(c.Out, "the panel's clock is at %s\n", clock.Now().UTC().Format("2006-01-02 15:04 UTC"))
		return nil
	})
}

// parseSpan reads a time such as 36h, or a number of days such as 24d.
func parseSpan(text string) (time.Duration, error) {
	if days, is := strings.CutSuffix(text, "d"); is {
		n, err := strconv.Atoi(days)
		if err == nil && n >= 0 && n <= 3660 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, console.Misused("%q is no time such as 36h or 24d", text)
	}
	return d, nil
}
