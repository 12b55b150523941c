package assembly_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
)

// Runs that have ended are not read for figures, nor at a start.
func TestEndedRunsAreNotReadForTheLiveOnes(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := newWorld(t)
	for _, sql := range []string{
		`insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing`,
		`insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation)
			select gen_random_uuid(), 'old:' || n, 'old/1', '[]', '{}', case when n > 19990 then (array['ready', 'waiting', 'running', 'parked', 'paused'])[1 + n % 5] else 'done' end,
				'local', 'test', gen_random_uuid() from generate_series(1, 20000) n`,
		`analyze saga_run`,
	} {
		_, err := w.pool.Exec(t.Context(), sql)
		w.must(err)
	}
	w.equal("live runs", w.count(`select count(*) from `+sagas.LiveRuns), 10)
	rows, err := w.pool.Query(t.Context(), `explain select status, run_at, steps from `+sagas.LiveRuns)
	w.must(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.must(err)
	if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
		t.Errorf("all runs are read:\n%s", text)
	}
	g, err := w.Gauges(t.Context())
	w.must(err)
	w.equal("parked", g.Parked, 2)
	w.equal("running", g.Running, 2)
}

// What an append to a stream does for the runs that may wait for it does not depend on how
// many wait for other streams.
func TestRunsThatWaitAreFoundByTheirStream(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := newWorld(t)
	_, err := w.pool.Exec(t.Context(), `
		with q as (insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing)
		insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation, awaits)
			select gen_random_uuid(), 'waits:' || n, 'waits/1', '[]', '{}', 'waiting', 'local', 'test', gen_random_uuid(), 'site-' || n from generate_series(1, 4000) n`)
	w.must(err)
	_, err = w.pool.Exec(t.Context(), `analyze saga_run`)
	w.must(err)
	eventstoretest.ReadsAtMost(t, w.pool, "saga_run", 20, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `select release_runs('site-17')`)
		return err
	})
}
