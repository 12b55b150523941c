// Package zone has the command that writes a DNS zone as a zone file
// (docs/hosting.md, "Zone file").
package zone

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/projections"
)

// Command is `hostpanel zone`.
type Command struct {
	ID int64 `arg:"" help:"Number of the zone."`
}

// Run writes a zone as a master file, such as BIND reads, with the records that
// are switched on (docs/hosting.md, "Zone file").
func (z Command) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		zone, err := p.Tables.For(projections.System).Hosting().Zone(ctx, z.ID, p.Config.NameServers)
		var refusal *domain.Error
		if errors.As(err, &refusal) && refusal.Code == domain.NotFound {
			return fmt.Errorf("there is no zone %d", z.ID)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.Out, zone.File())
		return err
	})
}
