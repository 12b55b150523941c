package main

import (
	"context"
	"errors"
	"fmt"

	"hostpanel/domain"
	"hostpanel/projections"
)

type zoneCommand struct {
	ID int64 `arg:"" help:"Number of the zone."`
}

// Run writes a zone as a master file, such as BIND reads, with the records that
// are switched on (docs/hosting.md, "Zone file").
func (z zoneCommand) Run(ctx context.Context, s Settings, c console) error {
	return with(ctx, s, c, func(p *program) error {
		zone, err := p.tables.For(projections.System).Zone(ctx, z.ID, p.config.nameServers)
		var refusal *domain.Error
		if errors.As(err, &refusal) && refusal.Code == domain.NotFound {
			return fmt.Errorf("there is no zone %d", z.ID)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprint(c.out, zone.File())
		return err
	})
}
