package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// with runs a short command on the panel's data, beside whatever else
// runs on it.
func with(ctx context.Context, s Settings, c console, do func(*program) error) error {
	config, err := configure(s, false)
	if err != nil {
		return err
	}
	config.joined = true
	p, err := open(ctx, config, newLog(c.err, slog.LevelWarn), reading)
	if err != nil {
		return err
	}
	defer p.close()
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
