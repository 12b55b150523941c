// Package database has the commands that build tables: `hostpanel migrate` and
// `hostpanel projections` (docs/read-tables.md).
package database

import (
	"context"
	"fmt"
	"log/slog"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/redact"
)

// Migrate is `hostpanel migrate`.
type Migrate struct{}

// Run brings the schema and the read tables up to date.
func (Migrate) Run(ctx context.Context, s config.Settings, c console.Console) error {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	if err := program.Migrate(ctx, cfg, redact.NewLog(c.Err, slog.LevelWarn)); err != nil {
		return err
	}
	fmt.Fprintln(c.Out, "the database is up to date")
	return nil
}
