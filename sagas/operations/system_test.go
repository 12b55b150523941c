//go:build system

package operations_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// A worker that is killed while it rebuilds leaves what it has built to the next one. One
// that is killed after the swap has told before what the check found.
func TestARebuildSurvivesTheDeathOfItsWorkers(t *testing.T) {
	t.Parallel()
	w, r := rebuildingWorld(t)
	var from, swaps atomic.Int64
	r.instead = func(
		call int32, rebuild func(context.Context, projections.Options) (projections.Result, error),
		ctx context.Context, o projections.Options,
	) (projections.Result, error) {
		if call == 1 {
			killed, kill := context.WithCancel(ctx)
			o.PerSec = 4 // a window for each event
			o.Progress = func(done, all int64) {
				if done == all { // the windows before are stored
					kill()
				}
			}
			_, err := rebuild(killed, o)
			return projections.Result{}, errors.Join(sagas.ErrKilled, err)
		}
		result, err := rebuild(ctx, o)
		from.Store(result.From)
		swaps.Add(1)
		return result, err
	}
	var deaths atomic.Int32
	w.Fault.To(func(p sagas.Point, run sagas.Run) error {
		if strings.HasPrefix(run.Key, "rebuild:") && p == sagas.BeforeComplete && deaths.Add(1) == 1 {
			return sagas.ErrKilled
		}
		return nil
	})
	_, err := w.Owner().Exec(t.Context(), `update users set language = 'es' where id = 2; delete from users where id = 3`)
	w.Must(err)
	w.Goes()
	o := w.Over(rebuilds(w, "users"))
	w.Equal("status", o.Status+o.Error, "succeeded")
	w.Equal("the second worker went on where the first had stopped", from.Load() > 0, true)
	w.Equal("the third worker did not rebuild what was in use", swaps.Load(), 1)
	w.Equal("deaths", deaths.Load() >= 2, true)
	w.Equal("table", string(o.Result["projection"]), `"users"`)
	w.Equal("rows that differed", string(o.Result["different"]), "2")
	var differences []projections.Difference
	w.Must(json.Unmarshal(o.Result["differences"], &differences))
	w.Equal("differences", differences, []projections.Difference{
		{Table: "users", Key: "2", What: projections.Changed, Columns: []string{"language"}},
		{Table: "users", Key: "3", What: projections.Missing},
	})
	w.Equal("what the log says", w.Count(`select count(*) from users where id in (2, 3) and language = 'en'`), 2)
	after, err := w.Tables.For(sagastest.Superuser).Operations().States(t.Context())
	w.Must(err)
	for _, table := range after {
		w.Equal(table.Name, table.Status, "live")
	}
}
