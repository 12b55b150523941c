package program

import (
	"context"
	"errors"
	"log/slog"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore/recovery"
)

// OpenEmpty finds or makes the database of these settings, for a restore. No other
// process of the panel may serve it. It never makes a secret key. Close it in any case
// but an error.
func OpenEmpty(ctx context.Context, c *config.Config, log *slog.Logger) (p *Program, err error) {
	p = &Program{Config: c, Log: log}
	defer func() {
		if err != nil {
			p.Close()
			p = nil
		}
	}()
	p.SetPublicURL(c.PublicURL)
	if p.Keys, err = c.Keyring(false); err != nil {
		return p, err
	}
	if err := config.MakeDataDir(c.DataDir); err != nil {
		return p, err
	}
	return p, p.database(ctx, need{create: true, serve: true})
}

// Fill builds the read tables of a database that was restored, and puts the panel
// together on it. Nothing is served, and no work is done.
func (p *Program) Fill(ctx context.Context) error {
	if err := p.migrate(ctx); err != nil {
		return err
	}
	if err := p.connect(ctx, Reading); err != nil {
		return err
	}
	if err := checkKeys(ctx, p.Pool, p.Keys); err != nil {
		return err
	}
	return p.assemble(ctx)
}

// restoreEnded refuses a database whose restore was cut off.
func restoreEnded(ctx context.Context, url string) error {
	err := recovery.CheckFinished(ctx, url)
	if errors.Is(err, recovery.ErrUnfinished) {
		return console.Misused("%w", err)
	}
	return err
}
