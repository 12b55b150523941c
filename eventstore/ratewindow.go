package eventstore

import (
	"context"
	"fmt"
	"time"

	"hostpanel/domain"
)

// takeOne decides about one call in one statement: the row of the key is
// locked meanwhile, so no two calls take the same place.
const takeOne = `
insert into rate_windows as r (key, calls, granted) values ($1, array[statement_timestamp()], true)
on conflict (key) do update set (calls, granted) = (
	select case when count(*) < $2 then array_append(coalesce(array_agg(c order by c), '{}'), statement_timestamp()) else array_agg(c order by c) end, count(*) < $2
	from unnest(r.calls) c where c > statement_timestamp() - $3::interval)
returning granted, cardinality(calls), extract(epoch from calls[1] + $3::interval - statement_timestamp())::float8`

// Take spends one call of a key's limit: at most limit calls in any window,
// counted over all processes by the database's clock. Refused calls are not
// counted (docs/api.md, "Rate limits"). The limit is at least 1.
func (s *Store) Take(ctx context.Context, key string, limit int, window time.Duration) (domain.Quota, error) {
	q := domain.Quota{Limit: limit, Window: window}
	var taken int
	var oldest float64 // seconds until the oldest call leaves the window
	err := s.pool.QueryRow(ctx, takeOne, key, limit, window).Scan(&q.Allowed, &taken, &oldest)
	if err != nil {
		return q, fmt.Errorf("count a call: %w", Unavailable(err))
	}
	q.Remaining = max(0, limit-taken)
	q.Reset = time.Duration(oldest * float64(time.Second))
	if !q.Allowed {
		q.Wait = q.Reset
	}
	return q, nil
}

// GiveBack undoes what [Store.Take] spent last: the call never came.
func (s *Store) GiveBack(ctx context.Context, key string) error {
	_, err := s.pool.Exec(ctx, `update rate_windows set calls = trim_array(calls, 1) where key = $1 and cardinality(calls) > 0`, key)
	if err != nil {
		return fmt.Errorf("give a call back: %w", Unavailable(err))
	}
	return nil
}

// Forget lets a key begin anew, with its whole limit.
func (s *Store) Forget(ctx context.Context, key string) error {
	if _, err := s.pool.Exec(ctx, `delete from rate_windows where key = $1`, key); err != nil {
		return fmt.Errorf("forget the calls of a key: %w", Unavailable(err))
	}
	return nil
}
