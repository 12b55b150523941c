// Package connection waits for the database of DATABASE_URL, and says what to do where it
// cannot be reached (docs/operations.md).
package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// How long a start waits for a database that recovers from a crash, and how
// often it asks.
const (
	recoveryLimit = 5 * time.Minute
	recoveryPause = 250 * time.Millisecond
)

// Await waits while the database of DATABASE_URL starts up, and connects again where a
// connection broke. Any other failure to connect ends the wait, with what to do about it.
func Await(ctx context.Context, url string, log *slog.Logger) error {
	bounded, cancel := context.WithTimeout(ctx, recoveryLimit)
	defer cancel()
	began := clock.Now()
	var answer error // the last one that said so
	for {
		err := ping(bounded, url)
		switch {
		case err == nil:
			return nil
		case bounded.Err() != nil && answer != nil: // the end of the wait has cut an attempt
			return orMend(answer, url)
		case broke(err) && clock.Since(began) < brokenLimit:
			pause(bounded)
			continue
		case sqlState(err) != startingUp:
			return orMend(err, url)
		case answer == nil:
			log.WarnContext(ctx, "the database is starting up: waiting for it", "at_most", recoveryLimit)
		}
		answer = err
		pause(bounded)
	}
}

// brokenLimit is how long a start connects again to a server whose connections break.
const brokenLimit = 10 * time.Second

// broke reports whether a server was reached, and its connection broke before it answered.
func broke(err error) bool {
	var network *net.OpError
	dialled := !errors.As(err, &network) || network.Op != "dial"
	var unknown *net.DNSError
	return sqlState(err) == "" && dialled && !errors.As(err, &unknown) && isLost(err)
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(recoveryPause):
	}
}

// lostLimit is how long something is repeated after the first connection that was lost.
const lostLimit = time.Minute

// Repeat does something again while connections to the database of the URL are lost on the
// way. It ends with the last failure once the first one is too long ago. What is done must
// bear repetition, also after a commit whose answer was lost. The URL may be blank: then it
// is done once, because the panel runs that database itself.
func Repeat(ctx context.Context, url string, log *slog.Logger, do func() error) error {
	var until time.Time
	for {
		err := do()
		switch {
		case url == "" || !isLost(err) || ctx.Err() != nil:
			return err
		case until.IsZero():
			until = clock.Now().Add(lostLimit)
		}
		log.WarnContext(ctx, "a connection to the database was lost: trying again", "error", err)
		if !answers(ctx, url, until) {
			return err
		}
	}
}

// isLost reports whether a connection broke, or could not be made.
func isLost(err error) bool {
	if state := sqlState(err); state != "" {
		return strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P")
	}
	return errors.Is(eventstore.Unavailable(err), eventstore.ErrUnavailable)
}

// answers waits until the database takes connections; false: it did not in time.
func answers(ctx context.Context, url string, until time.Time) bool {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	for ping(ctx, url) != nil {
		if pause(ctx); ctx.Err() != nil {
			return false
		}
	}
	return true
}

// pingLimit bounds one attempt to connect.
const pingLimit = 10 * time.Second

func ping(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, pingLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// Answers of Postgres to a connection, by SQLSTATE.
const (
	startingUp     = "57P03"
	noSuchDatabase = "3D000"
	wrongPassword  = "28P01"
	notAllowed     = "28000"
	tooMany        = "53300"
)

func sqlState(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

// orMend puts a failure to connect in words that say what to do. A mistake in
// DATABASE_URL ends with the exit code of wrong configuration, because trying
// again does not help. No text of it has a password.
func orMend(err error, url string) error {
	if err == nil {
		return nil
	}
	at, parseErr := pgx.ParseConfig(url)
	if parseErr != nil {
		return console.Misused("DATABASE_URL is not a Postgres URL such as postgres://user:password@host/database")
	}
	server := at.Host
	if !filepath.IsAbs(at.Host) {
		server = net.JoinHostPort(at.Host, fmt.Sprint(at.Port))
	}
	var unknown *net.DNSError
	switch state := sqlState(err); {
	case state == wrongPassword, state == notAllowed:
		return console.Misused(
			"DATABASE_URL: the server at %s refuses the user %s: correct the user name or the password, or allow it in pg_hba.conf",
			server, at.User,
		)
	case state == noSuchDatabase:
		return console.Misused(
			"DATABASE_URL: the server at %s has no database %s: make it (createdb %s), or correct the name", server,
			at.Database, at.Database,
		)
	case state == tooMany:
		return fmt.Errorf("the database at %s has no connection left: raise its max_connections, or end other programs on it", server)
	case state == startingUp:
		return fmt.Errorf("the database at %s is still starting up: read its log", server)
	case errors.As(err, &unknown):
		return fmt.Errorf("the host %s of DATABASE_URL has no address: correct the name, or mend name resolution", at.Host)
	case state == "":
		return fmt.Errorf("the database at %s does not answer: start Postgres there, or correct DATABASE_URL", server)
	}
	return fmt.Errorf("connect to the database at %s: %w", server, err)
}
