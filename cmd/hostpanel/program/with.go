package program

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/redact"
)

// With runs a short command on the panel's data, beside whatever else runs on it. It
// refuses a database that has not erased everybody in the lists of erasures.
func With(ctx context.Context, s config.Settings, c console.Console, do func(*Program) error) error {
	return with(ctx, s, c, Reading, do)
}

// WithoutPeople is [With] for a command that shows no person whom the log knows: it has to
// work on such a database too.
func WithoutPeople(ctx context.Context, s config.Settings, c console.Console, do func(*Program) error) error {
	return with(ctx, s, c, Keeping, do)
}

func with(ctx context.Context, s config.Settings, c console.Console, as Part, do func(*Program) error) error {
	cfg, err := config.New(s, false)
	if err != nil {
		return err
	}
	cfg.Joined = true
	end := Looking(cfg, c)
	p, err := Open(ctx, cfg, redact.NewLog(c.Err, slog.LevelWarn), as)
	end()
	if err != nil {
		return err
	}
	defer p.Close()
	return do(p)
}

// orEmpty recognises a database in which nothing was ever made.
func orEmpty(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		noTable := refused.Code == "42P01"
		noRole := refused.Code == "22023" && strings.Contains(refused.Message, "role")
		if noTable || noRole {
			return errEmpty
		}
	}
	return err
}
