package assembly_test

import (
	"testing"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// heard makes a process note what it asks the database.
func heard(t *testing.T, by *eventstoretest.Tracer) func(*assembly.Options) {
	t.Helper()
	return func(o *assembly.Options) {
		pool := o.Store.Pool()
		again := eventstoretest.Traced(t, pool, pool.Config().MaxConns, by)
		o.Store = eventstore.Open(again, facts, eventstoretest.Keys(t), eventstore.WithProjector(projections.Projector()), eventstoretest.Caused())
		assembly.Serve(o.Store)
	}
}

// small are tables that do not grow with what has happened: settings, and rows that are
// removed once they are over.
var small = []string{"business_clock_ahead", "readers", "projections", "saga_queue", "log_origins", "browser_sessions", "rate_windows", "second_factors"}
