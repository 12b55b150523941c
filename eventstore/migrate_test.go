package eventstore_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// area is a schema of the test's own, with files of these names.
func area(names ...string) eventstore.Migration {
	files := fstest.MapFS{}
	for _, name := range names {
		files["migrations/"+name] = &fstest.MapFile{Data: []byte("select 1")}
	}
	return eventstore.Migration{Area: "shelf", Files: files}
}

func TestADatabaseThatWasBegunByAnOlderProgramIsRefused(t *testing.T) {
	owner := eventstoretest.Owner(t, eventstoretest.URL(t, area("0001_books.sql", "0002_authors.sql")))
	for _, c := range []struct {
		now  eventstore.Migration
		says []string
	}{
		{area("0001_books.sql", "0002_authors.sql"), nil},
		{area("0001_books.sql", "0002_authors.sql", "0003_loans.sql"), nil},
		{area("0001_books.sql"), []string{"newer than this program (1)"}},
		{
			area("0001_books.sql", "0002_authors.sql", "0003_loans.sql", "0003_fines.sql"),
			[]string{"0003_fines.sql and 0003_loans.sql have one number"},
		},
		{
			area("0001_shelf.sql"),
			[]string{
				"made by an older hostpanel", "shelf schema has the migration 0001_books.sql", "has 0001_shelf.sql",
				"use an empty database", "HOSTPANEL_DATA_DIR",
			},
		},
		{
			area("0001_books.sql", "0002_readers.sql", "0003_loans.sql"),
			[]string{"has the migration 0002_authors.sql", "has 0002_readers.sql"},
		},
	} {
		err := eventstore.Migrate(t.Context(), owner, c.now)
		if c.says == nil && err != nil || c.says != nil && err == nil {
			t.Fatalf("the answer is %v, wanted is %q", err, c.says)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%v lacks %q", err, text)
			}
		}
	}
}

func TestTheLogOfTheFirstMigrationsIsRefusedAndStaysAsItIs(t *testing.T) {
	url := eventstoretest.Database(t, "older log", func(ctx context.Context, url string) error {
		owner, err := eventstore.ConnectOwner(ctx, url)
		if err != nil {
			return err
		}
		defer owner.Close()
		_, err = owner.Exec(ctx, `
			create table schema_migrations (area text, number int, name text not null, applied_at timestamptz not null,
				primary key (area, number));
			insert into schema_migrations values ('log', 1, '0001_log.sql', now()), ('log', 2, '0002_beside_the_log.sql', now());
			create table events (position bigint primary key)`)
		return err
	})
	owner := eventstoretest.Owner(t, url)
	err := eventstore.Migrate(t.Context(), owner)
	if err == nil || !strings.Contains(
		err.Error(), "its log schema has the migration 0001_log.sql, and this program has 0001_eventstore.sql",
	) {
		t.Errorf("the answer is %v", err)
	}
	var tables string
	err = owner.QueryRow(
		t.Context(), `select string_agg(tablename, ' ' order by tablename) from pg_tables where schemaname = 'public'`,
	).Scan(&tables)
	if err != nil || tables != "events schema_migrations" {
		t.Errorf("the database has %s: %v", tables, err)
	}
}

// Processes that serve lock tables in an order of their own. A migration that ends
// in a deadlock with one of them is repeated.
func TestAMigrationOutlivesADeadlockWithAProcessThatServes(t *testing.T) {
	made := eventstore.Migration{Area: "loans", Files: fstest.MapFS{"0001_books.sql": {Data: []byte(
		`create table books (id int); create table loans (id int); grant select on books, loans to hostpanel_app`)}}}
	url := eventstoretest.URL(t, made)
	owner := eventstoretest.Owner(t, url)
	reader, err := eventstoretest.Superuser(t, owner).Begin(t.Context()) // who alone may set the time of a deadlock
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), `set local deadlock_timeout = '1min'; select from loans`); err != nil {
		t.Fatal(err)
	}
	made.Files.(fstest.MapFS)["0002_notes.sql"] = &fstest.MapFile{Data: []byte(
		`alter table books add note text; alter table loans add note text`)}
	migrated := make(chan error, 1)
	go func() { migrated <- eventstore.Migrate(t.Context(), owner, made) }()
	for waits := false; !waits; {
		select {
		case err := <-migrated:
			t.Fatalf("the migration did not wait: %v", err)
		default:
		}
		err := owner.QueryRow(t.Context(), `
			select exists (select from pg_locks where relation = 'loans'::regclass and not granted
				and database = (select oid from pg_database where datname = current_database()))`).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := reader.Exec(t.Context(), `select from books`); err != nil {
		t.Errorf("the reader failed: %v", err)
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}
