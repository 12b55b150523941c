package recovery_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/recovery"
)

// Each claim of work asks whether the run was restored, for as long as the panel lives.
func TestWhatWasRestoredIsToldByTheIndex(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	url := eventstoretest.URL(t)
	eventstoretest.Filler(t, eventstoretest.Owner(t, url), 4000)
	pool := eventstoretest.Pool(t, url)
	if err := recovery.Begin(t.Context(), pool, 100, "a test"); err != nil {
		t.Fatal(err)
	}
	eventstoretest.ReadsAtMost(t, pool, "events", 3, func(tx pgx.Tx) error {
		var restored bool
		err := tx.QueryRow(t.Context(), `select was_restored(run.id, run.id) from events e,
			lateral (select md5(e.stream)::uuid as id) run where e.position = 1`).Scan(&restored)
		if restored {
			t.Error("a run of which the log knows nothing was restored")
		}
		return err
	})
}
