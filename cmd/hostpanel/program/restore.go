package program

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore"
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

// restoreEnded refuses a database whose restore was cut off. What would be served is
// neither checked nor free of what was erased.
func restoreEnded(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return eventstore.Unavailable(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `select set_config('`+eventstore.ForUser+`', '`+eventstore.Everybody+`', false)`); err != nil {
		return eventstore.Unavailable(err)
	}
	var isThere bool
	if err := conn.QueryRow(ctx, `select to_regclass('public.recovery') is not null`).Scan(&isThere); err != nil || !isThere {
		return eventstore.Unavailable(err) // an older program's, or none
	}
	mode, err := recovery.Read(ctx, conn)
	if err == nil && mode.On() && !mode.IsReady {
		err = console.Misused("%w", recovery.ErrUnfinished)
	}
	return err
}
