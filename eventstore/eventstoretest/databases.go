package eventstoretest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// URL is a private database with the log's schema and the given ones.
func URL(t testing.TB, more ...eventstore.Migration) string {
	t.Helper()
	return Tables(t, nil, nil, more...)
}

// Tables is [URL] with read tables: their fingerprints, and what makes them. The test binaries
// share its template, so prepare may depend on nothing else.
func Tables(t testing.TB, fingerprints []string, prepare func(context.Context, *pgxpool.Pool) error, more ...eventstore.Migration) string {
	t.Helper()
	statements, err := eventstore.Statements(more...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range more {
		statements = append(statements, m.Area)
	}
	return Prepared(t, key, append(statements, fingerprints...), func(ctx context.Context, url string) error {
		owner, err := eventstore.ConnectOwner(ctx, url)
		if err != nil {
			return err
		}
		defer owner.Close()
		if err := eventstore.Migrate(ctx, owner, more...); err != nil || prepare == nil {
			return err
		}
		return prepare(ctx, owner)
	})
}

// The connections of a process in tests. Each is a process of Postgres, which prepares
// and plans every statement for itself. That costs more than the statements of a test do,
// so a test has few.
const (
	conns   = 4
	reading = 1
)

// Pool connects to a database as the program does, with fewer connections.
func Pool(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	return handedOn(t, url, func(c eventstore.Change) (*pgxpool.Pool, error) {
		return eventstore.Connect(t.Context(), url, conns, c)
	})
}

// Readers connects to a database as readers of the read tables do. Their
// connections see no rows until they set a tenant, user or owner.
func Readers(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	return handedOn(t, url, func(c eventstore.Change) (*pgxpool.Pool, error) {
		return eventstore.ConnectReaders(t.Context(), url, reading, c)
	})
}

// Owner connects to a database as the owner of its tables.
func Owner(t testing.TB, url string) *pgxpool.Pool {
	t.Helper()
	return handedOn(t, url, func(c eventstore.Change) (*pgxpool.Pool, error) { return eventstore.ConnectOwner(t.Context(), url, c) })
}

// Database returns the URL of a private database for this test, with what prepare has put
// into a template once per test binary and key (prepare may be nil). It takes milliseconds.
// After the test the database is emptied for a later one, or dropped. It stands on the
// server of TEST_DATABASE_URL, or else on the server that all test binaries share.
func Database(t testing.TB, key string, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	return borrow(t, func(s *server) (*template, error) { return s.template(key, prepare) })
}

// Prepared is [Database] with a template that the test binaries share. It is known by the
// digest of what makes it: its name, and every text that prepare depends on.
func Prepared(t testing.TB, name string, of []string, prepare func(ctx context.Context, url string) error) string {
	t.Helper()
	return borrow(t, func(s *server) (*template, error) { return s.prepared(digest(name, of), prepare) })
}

func borrow(t testing.TB, of func(*server) (*template, error)) string {
	t.Helper()
	s, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	template, err := of(s)
	if err != nil {
		t.Fatalf("prepare a template: %v", err)
	}
	_, unused := measuring.Load(t)
	d, err := s.take(template, unused)
	if err != nil {
		t.Fatal(err)
	}
	d.lendTo(t.Context().Done())
	t.Cleanup(func() {
		if err := s.release(d, t.Failed()); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return s.url(d.name)
}
