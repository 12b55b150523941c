package eventstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore/tlog/tree"
)

// expiredAtOnce bounds how many rows of a table one statement deletes; the
// next sweep deletes more.
const expiredAtOnce = 10_000

// DeleteExpired deletes rows of a table that satisfy a condition in SQL.
func DeleteExpired(ctx context.Context, pool *pgxpool.Pool, table, condition string) error {
	sql := fmt.Sprintf(
		`delete from %[1]s where ctid = any(array(select ctid from %[1]s where %[2]s limit %[3]d)) and %[2]s`, table,
		condition, expiredAtOnce,
	)
	if _, err := pool.Exec(ctx, sql); err != nil {
		return fmt.Errorf("delete expired rows of %s: %w", table, Unavailable(err))
	}
	return nil
}

// RewrapAtOnce bounds how many keys or secrets one sweep seals anew after a
// rotation of the secret key.
const RewrapAtOnce = 1000

// Sweep wraps keys of subjects, and seals keys of the transparency log, with the first
// secret key that are still under a retired one, so that the retired key can be removed.
func (s *Store) Sweep(ctx context.Context) error {
	return errors.Join(s.reader.subjects.rewrap(ctx), Unavailable(tree.Reseal(ctx, s.pool, s.Keys())))
}

func (c *subjectKeys) rewrap(ctx context.Context) error {
	retired := c.keys.Retired()
	if len(retired) == 0 {
		return nil
	}
	rows, _ := c.pool.Query(ctx, `
		select subject, purpose, key_id, wrapped from subject_keys where key_id = any($1) limit $2`, retired, RewrapAtOnce)
	var k subjectKey
	var keyID string
	var wrapped []byte
	b := &pgx.Batch{}
	_, err := pgx.ForEachRow(rows, []any{&k.subject, &k.purpose, &keyID, &wrapped}, func() error {
		key, err := c.unwrap(k, keyID, wrapped)
		if err == nil {
			id, box := c.wrap(k, key)
			b.Queue(`update subject_keys set key_id = $4, wrapped = $5 where subject = $1 and purpose = $2 and wrapped = $3`,
				k.subject, string(k.purpose), wrapped, id, box)
		}
		return err
	})
	if err == nil {
		err = c.pool.SendBatch(ctx, b).Close()
	}
	if err != nil {
		return fmt.Errorf("wrap keys of subjects anew: %w", Unavailable(err))
	}
	return nil
}
