//go:build unix

package postgres

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// pingLimit bounds one attempt to connect.
const pingLimit = 5 * time.Second

// What the server answers, by SQLSTATE.
const (
	noSuchDatabase    = "3D000"
	duplicateDatabase = "42P04"
	wrongPassword     = "28P01"
	notAllowed        = "28000"
)

func (c *Cluster) url(at address, database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, c.password), Path: "/" + database}
	query := url.Values{"sslmode": {"disable"}}
	if at.tcp() {
		u.Host = at.String()
	} else {
		query.Set("host", at.host)
		query.Set("port", strconv.Itoa(at.port))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// ping connects to the panel's database, and makes it where it is missing yet.
func (c *Cluster) ping(ctx context.Context, at address) error {
	err := c.run(ctx, at, database, "")
	if sqlState(err) != noSuchDatabase {
		return err
	}
	if err := c.run(ctx, at, "postgres", "create database "+database); err != nil && sqlState(err) != duplicateDatabase {
		return err
	}
	return c.run(ctx, at, database, "")
}

func (c *Cluster) run(ctx context.Context, at address, database, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url(at, database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

// hopeless says that trying again will not help.
func hopeless(err error) bool {
	state := sqlState(err)
	return state == wrongPassword || state == notAllowed
}

func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}
