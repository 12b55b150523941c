package eventstoretest

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ReadsAtMost fails the test if what is done reads more rows of a table than there are to
// be found by its indexes. Below the policies of its rows Postgres compares an index with
// values and with columns, but not with every expression. The table has to be long, and
// analyzed.
func ReadsAtMost(t testing.TB, pool *pgxpool.Pool, table string, most int, do func(tx pgx.Tx) error) {
	t.Helper()
	if _, is := measuring.Load(t); !is {
		t.Fatal("the test has not called Measures")
	}
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		before, err := rowsRead(t, tx, table)
		if err != nil {
			return err
		}
		if err := do(tx); err != nil {
			return err
		}
		rows, err := rowsRead(t, tx, table)
		if rows -= before; rows > most {
			t.Errorf("%d rows of %s are read, and %d are enough", rows, table, most)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rowsRead counts rows of a table that a connection has read and not reported yet. It reports
// between transactions, and only now and then.
func rowsRead(t testing.TB, tx pgx.Tx, table string) (rows int, err error) {
	t.Helper()
	err = tx.QueryRow(
		t.Context(), `select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relid = to_regclass($1)`, table,
	).Scan(&rows)
	return rows, err
}

// Filler adds events to an empty log that say nothing. The first is that of site-1; each
// follows from the one before.
func Filler(t testing.TB, owner *pgxpool.Pool, events int) {
	t.Helper()
	_, err := owner.Exec(t.Context(), `
		insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data, meta, recorded_at, hash)
		select n, 'site-' || n, 1, gen_random_uuid(), 'x', 1, 'x', gen_random_uuid(), 'event:site-' || n - 1 || '/1', '',
			'{}', '{}', now(), ''
		from generate_series(1, $1::int) n`, events)
	if err == nil {
		_, err = owner.Exec(t.Context(), `analyze events`)
	}
	if err != nil {
		t.Fatal(err)
	}
}
