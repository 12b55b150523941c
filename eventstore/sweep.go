package eventstore

import (
	"context"
	"fmt"
)

// sweeps says which rows have had their time. What is used or revoked stays
// until it would have expired: that it comes again has to be recognised.
var sweeps = []struct{ table, over string }{
	{"secret_handoff", `expires_at < now()`},
	{"once_keys", `expires_at < now()`},
	{"one_time_tokens", `expires_at < now() - interval '30 days'`},
	{"refresh_tokens", `expires_at < now()`},
	{"refresh_families", `expires_at < now()`},
	{"browser_sessions", `not (` + sessionLives + `)`},
	{"rate_windows", `coalesce(calls[cardinality(calls)] < now() - interval '1 day', true)`},
}

// sweepAtOnce bounds how many rows of a table one statement deletes: what is
// left waits for the next round.
const sweepAtOnce = 10_000

// Sweep deletes rows beside the log that have expired.
func (s *Store) Sweep(ctx context.Context) error {
	for _, sweep := range sweeps {
		sql := fmt.Sprintf(`delete from %[1]s where ctid = any(array(select ctid from %[1]s where %[2]s limit %[3]d)) and %[2]s`, sweep.table, sweep.over, sweepAtOnce)
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("sweep %s: %w", sweep.table, Unavailable(err))
		}
	}
	return nil
}
