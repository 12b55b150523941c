package eventstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Lags returns the number of unread events of each reader of the log, by name.
func (r *Reader) Lags(ctx context.Context) (map[string]int64, error) {
	rows, _ := r.pool.Query(ctx, `select name, (select coalesce(max(position), 0) from events) - position from readers`)
	lags := map[string]int64{}
	var name string
	var behind int64
	_, err := pgx.ForEachRow(rows, []any{&name, &behind}, func() error { lags[name] = max(behind, 0); return nil })
	if err != nil {
		return nil, fmt.Errorf("read how far readers are: %w", Unavailable(err))
	}
	return lags, nil
}
