// Package eventstoretest gives every test a private log in a real Postgres within
// milliseconds.
package eventstoretest

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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

// Store is a log in a private database. Deciders are added with
// [eventstore.Serve].
func Store(t testing.TB, c domain.Catalogue, options ...eventstore.Option) *eventstore.Store {
	t.Helper()
	return eventstore.Open(Pool(t, URL(t)), c, Keys(t), append(options, Caused())...)
}
