package backup_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/backup"
	"hostpanel/eventstore/eventstoretest"
)

// empty is a database in which nothing was ever made.
func empty(t *testing.T) *pgxpool.Pool {
	t.Helper()
	return eventstoretest.Owner(t, eventstoretest.Database(t, "", nil))
}

func load(t *testing.T, path string) (*pgxpool.Pool, error) {
	t.Helper()
	b, err := backup.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	into := empty(t)
	return into, backup.Load(t.Context(), into, b, backup.Loading{Finish: func(context.Context, pgx.Tx) error { return nil }})
}

func migrated(t *testing.T, db *pgxpool.Pool) []eventstore.MigrationRecord {
	t.Helper()
	all, err := eventstore.AllMigrated(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A backup that an earlier program has made is loaded as it was, and brought up to date in
// the same transaction.
func TestABackupOfAnEarlierSchemaIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	keys := eventstoretest.Keys(t)
	newest := migrated(t, eventstoretest.Owner(t, eventstoretest.URL(t)))
	for lacks := range 4 {
		url, level, _ := eventstoretest.Earlier(t, lacks)
		from := eventstoretest.Owner(t, url)
		if _, err := from.Exec(t.Context(), `
			insert into events (position, stream, version, id, name, schema, actor, correlation, causation, saga, data, meta, recorded_at, hash)
			select at, 'made-' || at, 1, gen_random_uuid(), 'till.opened', 1, 'system:test', gen_random_uuid(), 'request:x', '', '{}', '{}',
				timestamptz '2026-01-01', sha256(convert_to(at::text, 'UTF8')) from generate_series(1, 3) at`); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "backup")
		m, err := backup.Save(t.Context(), from, backup.Saving{Path: path, Keys: keys})
		if err != nil || m.Head.Position != 3 || !slices.Equal(m.Migrations, level) {
			t.Fatalf("without the last %d: %v, %+v", lacks, err, m)
		}
		into, err := load(t, path)
		if err != nil {
			t.Fatal(err)
		}
		var same bool
		err = into.QueryRow(t.Context(), `select array_agg(stream order by position) = '{made-1,made-2,made-3}' from events`).Scan(&same)
		if err != nil || !same {
			t.Errorf("without the last %d: the events are not those of the backup (%v)", lacks, err)
		}
		if now := migrated(t, into); !slices.Equal(now, newest) {
			t.Errorf("without the last %d: %v", lacks, now)
		}
	}
}

// A backup with migrations that this program lacks is refused, and leaves nothing.
func TestABackupOfALaterSchemaIsRefused(t *testing.T) {
	t.Parallel()
	later := eventstore.Migration{Area: "shelf", Files: fstest.MapFS{"0001_books.sql": {Data: []byte("create table books (title text)")}}}
	path := filepath.Join(t.TempDir(), "backup.zip")
	from := eventstoretest.Owner(t, eventstoretest.URL(t, later))
	if _, err := backup.Save(t.Context(), from, backup.Saving{Path: path, Keys: eventstoretest.Keys(t), Schema: backup.Schema{Migrations: []eventstore.Migration{later}}}); err != nil {
		t.Fatal(err)
	}
	into, err := load(t, path)
	if err == nil || !strings.Contains(err.Error(), "use a newer hostpanel") {
		t.Errorf("it is answered with %v", err)
	}
	var tables int
	if err := into.QueryRow(t.Context(), `select count(*) from pg_tables where schemaname = 'public'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables are left (%v)", tables, err)
	}
}
