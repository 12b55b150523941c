package program

import (
	"context"
	"errors"
	"log/slog"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
)

// lacksTables reports whether a question failed because the schema is empty, or older.
func lacksTables(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "42P01" || refused.Code == "42703")
}

// checkKeys refuses to work on a database with secret keys that do not fit it.
func checkKeys(ctx context.Context, db *pgxpool.Pool, keys *sealing.Keyring) error {
	err := eventstore.CheckSecretKeys(ctx, db, keys)
	if errors.Is(err, eventstore.ErrSecretKey) {
		return console.Misused(`%w. Add the key that is named to HOSTPANEL_SECRET_KEY, or put the file secret.key back; `+
			`"hostpanel secrets check" lists the keys. See "Replacing the key" and "A lost key" in docs/security.md`, err)
	}
	return err
}

// WithKeys runs a command on the database and the secret keys alone. It opens
// the database even if the keys do not fit.
func WithKeys(ctx context.Context, s config.Settings, c console.Console, do func(*Program) error) error {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	p := &Program{Config: cfg, Log: redact.NewLog(c.Err, slog.LevelWarn)}
	defer p.Close()
	if err := p.reach(ctx, Reading.need()); err != nil {
		return err
	}
	if err := p.connect(ctx, Reading); err != nil {
		return orEmpty(err)
	}
	return orEmpty(do(p))
}
