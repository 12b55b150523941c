//go:build system

package audit

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/eventstoretest"
)

// What followed from an event is found by its name, however long the log is.
func TestWhatFollowedIsReadByTheIndex(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	url := eventstoretest.URL(t)
	owner := eventstoretest.Owner(t, url)
	eventstoretest.Filler(t, owner, 4000)
	_, err := owner.Exec(t.Context(), `
		insert into log_index (position, stream, name, actor, correlation, cause, recorded_at)
		select position, stream, name, actor, correlation, split_part(causation, ':', 2), recorded_at from events; analyze log_index`)
	if err != nil {
		t.Fatal(err)
	}
	var found []int64
	pool := eventstoretest.Pool(t, url)
	for _, table := range []string{"events", "log_index"} {
		eventstoretest.ReadsAtMost(t, pool, table, 40, func(tx pgx.Tx) error {
			rows, _ := tx.Query(t.Context(), below, 3991, mostBelow)
			found, err = pgx.CollectRows(rows, pgx.RowTo[int64])
			return err
		})
	}
	if len(found) != 9 || found[0] != 3992 || found[8] != 4000 {
		t.Errorf("what followed is %v", found)
	}
}

// The index is filled from the new events alone.
func TestTheIndexIsFilledWithoutALookAtTheLogBefore(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	url := eventstoretest.URL(t)
	owner := eventstoretest.Owner(t, url)
	eventstoretest.Filler(t, owner, 4000)
	if _, err := owner.Exec(t.Context(), `insert into readers (name, position) values ($1, 3990)`, IndexReader); err != nil {
		t.Fatal(err)
	}
	added, entered := 0, false
	eventstoretest.ReadsAtMost(t, eventstoretest.Pool(t, url), "events", 40, func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), fillIndex, IndexReader, indexBatch).Scan(&added, &entered)
	})
	if added != 10 || !entered {
		t.Errorf("%d events were added; the reader has begun: %v", added, entered)
	}
}
