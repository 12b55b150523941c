package sagas_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// Runs that have ended are not read for figures, nor at a start.
func TestEndedRunsAreNotReadForTheLiveOnes(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	for _, sql := range []string{
		`insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing`,
		`insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation)
			select gen_random_uuid(), 'old:' || n, 'old/1', '[]', '{}', case when n > 19990 then (array['ready',
				'waiting', 'running', 'parked', 'paused'])[1 + n % 5] else 'done' end,
				'local', 'test', gen_random_uuid() from generate_series(1, 20000) n`,
		`analyze saga_run`,
	} {
		_, err := w.Pool.Exec(t.Context(), sql)
		w.Must(err)
	}
	w.Equal("live runs", w.Count(`select count(*) from `+sagas.LiveRuns), 10)
	rows, err := w.Pool.Query(t.Context(), `explain select status, run_at, steps from `+sagas.LiveRuns)
	w.Must(err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	w.Must(err)
	if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
		t.Errorf("all runs are read:\n%s", text)
	}
	g, err := w.Gauges(t.Context())
	w.Must(err)
	w.Equal("parked", g.Parked, 2)
	w.Equal("running", g.Running, 2)
}

// What an append to a stream does for the runs that may wait for it does not depend on how
// many wait for other streams.
func TestRunsThatWaitAreFoundByTheirStream(t *testing.T) {
	t.Parallel()
	eventstoretest.Measures(t)
	w := sagastest.NewWorld(t)
	_, err := w.Pool.Exec(t.Context(), `
		with q as (insert into saga_queue (queue, max_in_flight) values ('local', 1) on conflict do nothing)
		insert into saga_run (id, key, definition, steps, input, status, queue, cause, correlation, awaits)
			select gen_random_uuid(), 'waits:' || n, 'waits/1', '[]', '{}', 'waiting', 'local', 'test',
				gen_random_uuid(), 'site-' || n from generate_series(1, 4000) n`)
	w.Must(err)
	_, err = w.Pool.Exec(t.Context(), `analyze saga_run`)
	w.Must(err)
	eventstoretest.ReadsAtMost(t, w.Pool, "saga_run", 20, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `select release_runs('site-17')`)
		return err
	})
}
