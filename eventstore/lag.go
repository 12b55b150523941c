package eventstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Lag is what a reader of the log has yet to see.
type Lag struct {
	Events int64
	Since  *time.Time // when the first of them was recorded; nil: there is none
}

// Lags returns how far each reader of the log is behind, by name.
func (r *Reader) Lags(ctx context.Context) (map[string]Lag, error) {
	rows, _ := r.pool.Query(ctx, `
		select name, greatest(head - position, 0), (select recorded_at from events e where e.position > readers.position
			order by e.position limit 1)
		from readers, (select coalesce(max(position), 0) as head from events) log`)
	lags := map[string]Lag{}
	var name string
	var lag Lag
	_, err := pgx.ForEachRow(rows, []any{&name, &lag.Events, &lag.Since}, func() error { lags[name] = lag; return nil })
	if err != nil {
		return nil, fmt.Errorf("read how far readers are: %w", Unavailable(err))
	}
	return lags, nil
}

// OldestTransaction returns how long the oldest transaction of the database is
// open, of those that the program's login may see. A long one keeps Postgres from
// cleaning up (docs/operations.md, "Metrics").
func (r *Reader) OldestTransaction(ctx context.Context) (age time.Duration, err error) {
	var seconds float64
	asked := &pgx.Batch{}
	asked.Queue("begin read only")
	asked.Queue("set local role none") // Postgres shows the sessions of one's own login
	asked.Queue(`select coalesce(extract(epoch from real_now() - min(xact_start)), 0) from pg_stat_activity
		where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`).
		QueryRow(func(row pgx.Row) error { return row.Scan(&seconds) })
	asked.Queue("rollback")
	if err := r.pool.SendBatch(ctx, asked).Close(); err != nil {
		return 0, fmt.Errorf("read how old transactions are: %w", Unavailable(err))
	}
	return time.Duration(seconds * float64(time.Second)), nil
}
