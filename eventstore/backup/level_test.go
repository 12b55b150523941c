package backup_test

import (
	"context"
	"path/filepath"
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

// A backup with migrations that this program lacks is refused, and leaves nothing.
func TestABackupOfALaterSchemaIsRefused(t *testing.T) {
	t.Parallel()
	later := eventstore.Migration{Area: "shelf", Files: fstest.MapFS{"0001_books.sql": {Data: []byte("create table books (title text)")}}}
	path := filepath.Join(t.TempDir(), "backup.zip")
	from := eventstoretest.Owner(t, eventstoretest.URL(t, later))
	if _, err := backup.Save(
		t.Context(), from,
		backup.Saving{Path: path, Keys: eventstoretest.Keys(t), Schema: backup.Schema{Migrations: []eventstore.Migration{later}}},
	); err != nil {
		t.Fatal(err)
	}
	into, err := load(t, path)
	if err == nil || !strings.Contains(err.Error(), "use a newer hostpanel") {
		t.Errorf("it is answered with %v", err)
	}
	var tables int
	if err := into.QueryRow(t.Context(), `select count(*) from pg_tables where schemaname = 'public'`).Scan(&tables); err != nil ||
		tables != 0 {
		t.Errorf("%d tables are left (%v)", tables, err)
	}
}
