package assembly_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// logOn is the log of a process, with its deciders and read tables.
func logOn(pool *pgxpool.Pool, keys *sealing.Keyring, options ...eventstore.Option) *eventstore.Store {
	options = append(options, eventstore.WithProjector(projections.Projector()), eventstoretest.Caused())
	store := eventstore.Open(pool, facts, keys, options...)
	assembly.Serve(store)
	return store
}

// heard makes a process note what it asks the database.
func heard(t *testing.T, by *eventstoretest.Tracer) func(*assembly.Options) {
	t.Helper()
	return func(o *assembly.Options) {
		pool := o.Store.Pool()
		again := eventstoretest.Traced(t, pool, pool.Config().MaxConns, by)
		o.Store = logOn(again, eventstoretest.Keys(t), eventstore.WithLog(o.Log))
	}
}

// small are tables that do not grow with what has happened: settings, rows that are removed
// once they are over, and one row per user with a second factor, which the janitor reads.
var small = []string{"business_clock_ahead", "readers", "projections", "saga_queue", "log_origins", "browser_sessions", "rate_windows", "second_factors"}
