// Package eventstoretest gives every test a private log in a real Postgres within
// milliseconds.
package eventstoretest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/sealing"
)

const key = "dGVzdC1rZXktdGVzdC1rZXktdGVzdC1rZXktMDEyMzQ="

// Cause is the cause of what a test does by itself.
var Cause = domain.OperatorCause(uuid.MustParse("7e577e57-7e57-4e57-8e57-7e577e577e57"))

// Caused gives it to all commands that have no other cause.
func Caused() eventstore.Option { return eventstore.WithCause(Cause) }

// Keys is a keyring for tests.
func Keys(t testing.TB) *sealing.Keyring { return keyring(t, key) }

// RotatedKeys is the same keyring after a rotation: a new first key.
func RotatedKeys(t testing.TB) *sealing.Keyring {
	return keyring(t, sealing.NewSecretKey()+","+key)
}

func keyring(t testing.TB, list string) *sealing.Keyring {
	t.Helper()
	keys, err := sealing.ParseKeyring(list)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Hashing is the cost of passwords in tests: next to nothing.
var Hashing = credentials.Cost{Memory: 8, Time: 1, Threads: 1}

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

// Earlier is a private database of an earlier schema: it lacks the last migrations of the
// log, so many. Its level is what it has.
func Earlier(t testing.TB, lacks int, more ...eventstore.Migration) (url string, level, lacking []eventstore.MigrationRecord) {
	t.Helper()
	level, err := eventstore.AllMigrated(t.Context(), Owner(t, URL(t, more...)))
	if err != nil {
		t.Fatal(err)
	}
	for i := len(level) - 1; len(lacking) < lacks; i-- {
		if level[i].Area == "log" {
			lacking = append(lacking, level[i])
			level = slices.Delete(level, i, i+1)
		}
	}
	url = Database(t, "", nil)
	err = pgx.BeginFunc(t.Context(), Owner(t, url), func(tx pgx.Tx) error { return eventstore.MigrateTo(t.Context(), tx, level, more...) })
	if err != nil {
		t.Fatal(err)
	}
	return url, level, lacking
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

// Store is a log in a private database. Deciders are added with
// [eventstore.Serve].
func Store(t testing.TB, c domain.Catalogue, options ...eventstore.Option) *eventstore.Store {
	t.Helper()
	return eventstore.Open(Pool(t, URL(t)), c, Keys(t), append(options, Caused())...)
}
