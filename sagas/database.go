package sagas

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"hostpanel/domain"
	"hostpanel/eventstore"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sqlError says what was attempted when the database refused or gave no
// answer. That it is away, full or read-only is no failure of a step.
func sqlError(err error, what string, args ...any) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	what = fmt.Sprintf(what, args...)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && !away(pg) {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %w", what, eventstore.ErrUnavailable, err)
}

// away tells whether an error of Postgres is about itself, not about a statement.
func away(err *pgconn.PgError) bool {
	for _, class := range []string{"08", "53", "57P", "58", "25006"} {
		if strings.HasPrefix(err.Code, class) {
			return true
		}
	}
	return false
}

// databaseAway tells whether an error, from whatever part of the program, says
// only that our own database does not answer.
func databaseAway(err error) bool {
	var f *domain.Failure
	var pg *pgconn.PgError
	var dial *pgconn.ConnectError
	switch {
	case errors.Is(err, eventstore.ErrUnavailable):
		return true
	case errors.As(err, &f):
		return false // the outside has failed, whatever it is made of
	case errors.As(err, &pg):
		return away(pg)
	}
	return errors.As(err, &dial) || pgconn.SafeToRetry(err) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// exec carries out one statement and tells how many rows it touched.
func (s *Sagas) exec(ctx context.Context, what, sql string, args ...any) (int64, error) {
	tag, err := s.pool.Exec(ctx, sql, args...)
	return tag.RowsAffected(), sqlError(err, "%s", what)
}
