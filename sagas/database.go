package sagas

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// SQLError says what was attempted when the database refused or gave no
// answer. That it is away, full or read-only is no failure of a step.
func SQLError(err error, what string, args ...any) error {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(what, args...), eventstore.Unavailable(err))
}

// DatabaseAway tells whether an error, from whatever part of the program, says
// only that our own database does not answer.
func DatabaseAway(err error) bool {
	var f *domain.Failure
	if errors.As(err, &f) {
		return false // the outside has failed, whatever it is made of
	}
	return errors.Is(eventstore.Unavailable(err), eventstore.ErrUnavailable)
}

// Exec carries out one statement and tells how many rows it touched.
func (s *Runner) Exec(ctx context.Context, what, sql string, args ...any) (int64, error) {
	return exec(ctx, s.pool, what, sql, args...)
}

func exec(ctx context.Context, pool *pgxpool.Pool, what, sql string, args ...any) (int64, error) {
	tag, err := pool.Exec(ctx, sql, args...)
	return tag.RowsAffected(), SQLError(err, "%s", what)
}
