//go:build system

package faults_test

import (
	"context"
	"testing"

	"hostpanel/adapters/faults"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/sagastest"
)

// databaseWith creates a database with the tables of a simulated outside system.
func databaseWith(t *testing.T, books eventstore.Migration) string {
	t.Helper()
	return eventstoretest.Database(t, "sagas and "+books.Area, func(ctx context.Context, url string) error {
		return sagastest.Prepare(ctx, t, url, books, eventstore.Migration{Area: "faults", Files: faults.Migrations})
	})
}
