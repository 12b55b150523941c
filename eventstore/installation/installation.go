// Package installation keeps what tells this installation of the panel from all others, and
// from a copy of its database (docs/engine-ispconfig.md, "One panel for each engine").
package installation

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// An Installation is the panel with its database.
type Installation struct {
	ID      string // ten hexadecimal digits, random
	IsOlder bool   // what it made elsewhere at first carries no id
}

// Read reads which installation a database is.
func Read(ctx context.Context, db *pgxpool.Pool) (Installation, error) {
	rows, err := db.Query(ctx, `select id, is_older from installation`)
	if err != nil {
		return Installation{}, fmt.Errorf("read the installation: %w", eventstore.Unavailable(err))
	}
	i, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[Installation])
	if err != nil {
		return i, fmt.Errorf("read the installation: %w", eventstore.Unavailable(err))
	}
	return i, nil
}

// Starts are those at the hosting engine, as the database remembers them.
type Starts struct{ DB *pgxpool.Pool }

// Last is the last one. A database that was restored takes over from what it was before.
func (s Starts) Last(ctx context.Context) (last hosting.EngineStart, takesOver bool, err error) {
	err = s.DB.QueryRow(ctx, `select starts, mark, takes_over from installation`).Scan(&last.N, &last.Mark, &takesOver)
	if err != nil {
		return last, false, fmt.Errorf("read the last start: %w", eventstore.Unavailable(err))
	}
	return last, takesOver, nil
}

// Next remembers one more, with a number above all that are known.
func (s Starts) Next(ctx context.Context, above int64, mark string) (n int64, err error) {
	err = s.DB.QueryRow(
		ctx, `update installation set starts = greatest(starts, $1) + 1, mark = $2, takes_over = false returning starts`, above, mark,
	).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("remember a start: %w", eventstore.Unavailable(err))
	}
	return n, nil
}
