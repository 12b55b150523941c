package eventstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// Codes of Postgres for a transaction that did not get a lock.
const (
	lockTimeout = "55P03"
	deadlock    = "40P01"
)

// ddlTries bounds how often a change of the schema is repeated after a deadlock.
const ddlTries = 15

// LockLost tells whether a transaction ended because it did not get a lock, in
// time or because of a deadlock. It left nothing behind and can be repeated.
func LockLost(err error) bool { return hasCode(err, lockTimeout) || hasCode(err, deadlock) }

func hasCode(err error, code string) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && pg.Code == code
}

// repeatDeadlocked repeats a transaction that changes the schema. Processes that
// are serving lock tables in an order of their own, so a deadlock can happen.
func repeatDeadlocked(ctx context.Context, work func() error) error {
	for try := 1; ; try++ {
		if err := work(); !hasCode(err, deadlock) || try == ddlTries || ctx.Err() != nil {
			return err
		}
	}
}
