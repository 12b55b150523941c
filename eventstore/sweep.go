package eventstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
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
	{"endpoint_secrets", `expires_at < now()`},
	{"rate_windows", `coalesce(calls[cardinality(calls)] < now() - interval '1 day', true)`},
}

// sweepAtOnce bounds how many rows of a table one statement deletes: what is
// left waits for the next round.
const sweepAtOnce = 10_000

// Sweep deletes rows beside the log that have expired, and takes the keys of
// subjects and the secrets of endpoints along when the secret key has been
// rotated.
func (s *Store) Sweep(ctx context.Context) error {
	for _, sweep := range sweeps {
		sql := fmt.Sprintf(`delete from %[1]s where ctid = any(array(select ctid from %[1]s where %[2]s limit %[3]d)) and %[2]s`, sweep.table, sweep.over, sweepAtOnce)
		if _, err := s.pool.Exec(ctx, sql); err != nil {
			return fmt.Errorf("sweep %s: %w", sweep.table, Unavailable(err))
		}
	}
	others := s.keys.others()
	if len(others) == 0 {
		return nil
	}
	return errors.Join(s.rewrap(ctx, others), s.reseal(ctx, others))
}

// rewrapAtOnce bounds how many keys, or secrets, one round takes along.
const rewrapAtOnce = 1000

// rewrap wraps keys of subjects by the first secret key that another one
// wraps, so that the other one can be removed some day.
func (s *Store) rewrap(ctx context.Context, others []string) error {
	rows, _ := s.pool.Query(ctx, `
		select subject, purpose, key_id, wrapped from subject_keys where key_id = any($1) limit $2`, others, rewrapAtOnce)
	var k subjectKey
	var keyID string
	var wrapped []byte
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&k.subject, &k.purpose, &keyID, &wrapped}, func() error {
		key, err := s.unwrap(k, keyID, wrapped)
		if err == nil {
			id, box := s.wrap(k, key)
			b.Queue(`update subject_keys set key_id = $4, wrapped = $5 where subject = $1 and purpose = $2 and wrapped = $3`,
				k.subject, string(k.purpose), wrapped, id, box)
		}
		return err
	})
	if err == nil {
		err = s.pool.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return fmt.Errorf("wrap keys of subjects anew: %w", Unavailable(err))
	}
	return nil
}
