// Package ratelimit counts calls in sliding windows, over all processes.
package ratelimit

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// Windows counts calls in Postgres.
type Windows struct{ pool *pgxpool.Pool }

// Open returns the windows in the database behind pool, which
// [eventstore.Migrate] has prepared.
func Open(pool *pgxpool.Pool) *Windows { return &Windows{pool} }

// takeIf decides about one call in one statement: the row of the key is locked
// meanwhile, so no two calls take the same place. Calls stand in the order of
// their times, so those that have left the window are found by halving.
const takeIf = `
insert into rate_windows as r (key, calls, granted) select $1, array[real_statement()], true{condition}
on conflict (key) do update set (calls, granted) = (
	select case when cardinality(c) < $2 then c || greatest(real_statement(), c[cardinality(c)]) else c end, cardinality(c) < $2
	from (select r.calls[1 + width_bucket(real_statement() - $3::interval, r.calls):]) still (c))
returning granted, cardinality(calls), extract(epoch from calls[1] + $3::interval - real_statement())::float8`

var takeOne = TakeIf("")

// TakeIf is the statement of [Windows.Take] for calls that count only if a
// condition holds: " from users where id = $4 and …". It yields no row if it
// does not. The first arguments are [TakeArgs], the row is read by [ScanQuota].
func TakeIf(condition string) string { return strings.Replace(takeIf, "{condition}", condition, 1) }

// TakeArgs are the first arguments of [TakeIf].
func TakeArgs(key string, limit int, window time.Duration) []any { return []any{key, limit, window} }

// ScanQuota reads what [TakeIf] yields into a quota that has its limit and its
// window.
func ScanQuota(row pgx.Row, q *domain.Quota) error {
	var taken int
	var oldest float64 // seconds until the oldest call leaves the window
	if err := row.Scan(&q.Allowed, &taken, &oldest); err != nil {
		return err
	}
	q.Remaining = max(0, q.Limit-taken)
	q.Reset = time.Duration(oldest * float64(time.Second))
	if !q.Allowed {
		q.Wait = q.Reset
	}
	return nil
}

// Take spends one call of a key's limit: at most limit calls in any window,
// counted over all processes by the database's clock. Refused calls are not
// counted (docs/api.md, "Rate limits"). The limit is at least 1.
func (w *Windows) Take(ctx context.Context, key string, limit int, window time.Duration) (domain.Quota, error) {
	q := domain.Quota{Limit: limit, Window: window}
	if err := ScanQuota(w.pool.QueryRow(ctx, takeOne, TakeArgs(key, limit, window)...), &q); err != nil {
		return q, fmt.Errorf("count a call: %w", eventstore.Unavailable(err))
	}
	return q, nil
}

// GiveBack undoes what [Windows.Take] spent last: the call never came.
func (w *Windows) GiveBack(ctx context.Context, key string) error {
	_, err := w.pool.Exec(ctx, `update rate_windows set calls = trim_array(calls, 1) where key = $1 and cardinality(calls) > 0`, key)
	if err != nil {
		return fmt.Errorf("give a call back: %w", eventstore.Unavailable(err))
	}
	return nil
}

// Forget lets a key begin anew, with its whole limit.
func (w *Windows) Forget(ctx context.Context, key string) error {
	if _, err := w.pool.Exec(ctx, `delete from rate_windows where key = $1`, key); err != nil {
		return fmt.Errorf("forget the calls of a key: %w", eventstore.Unavailable(err))
	}
	return nil
}

// Sweep deletes windows in which nothing was counted for a day.
func (w *Windows) Sweep(ctx context.Context) error {
	return eventstore.DeleteExpired(
		ctx, w.pool, "rate_windows", `coalesce(calls[cardinality(calls)] < real_now() - interval '1 day', true)`,
	)
}
