package main

import (
	"context"
	"fmt"
	"log/slog"
)

type migrateCommand struct{}

// Run brings the schema and the read tables up to date.
func (migrateCommand) Run(ctx context.Context, s Settings, c console) error {
	config, err := configure(s, false)
	if err != nil {
		return err
	}
	p := &program{config: config, log: newLog(c.err, slog.LevelWarn)}
	defer p.close()
	if err := makeDataDir(config.dataDir); err != nil {
		return err
	}
	if p.keys, err = config.keyring(); err != nil {
		return err
	}
	if err := p.database(ctx, reading); err != nil {
		return err
	}
	if err := p.migrate(ctx); err != nil {
		return err
	}
	fmt.Fprintln(c.out, "the database is up to date")
	return nil
}
