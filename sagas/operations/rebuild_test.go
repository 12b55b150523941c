package operations_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// rebuilder rebuilds tables like the program, unless a story does something else.
type rebuilder struct {
	w       *sagastest.World
	calls   atomic.Int32
	instead func(call int32, rebuild func(context.Context, projections.Options) (projections.Result, error), ctx context.Context, o projections.Options) (projections.Result, error)
}

func (r *rebuilder) rebuild(ctx context.Context, names []string, o projections.Options) (projections.Result, error) {
	truly := func(ctx context.Context, o projections.Options) (projections.Result, error) {
		owner := r.w.Owner()
		return projections.Rebuild(ctx, owner, eventstore.Open(owner, sagastest.Catalogue, eventstoretest.Keys(r.w.T)).Reader(), names, o)
	}
	if call := r.calls.Add(1); r.instead != nil {
		return r.instead(call, truly, ctx, o)
	}
	return truly(ctx, o)
}

// rebuildingWorld is a world with some events, of which tables can be rebuilt.
func rebuildingWorld(t *testing.T) (*sagastest.World, *rebuilder) {
	t.Helper()
	r := &rebuilder{}
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Rebuild = r.rebuild })
	r.w = w
	for user, email := range map[int64]string{1: "ana@example.com", 2: "bob@example.com", 3: "eva@example.com"} {
		w.Opens(user, email, "en")
	}
	return w, r
}

// rebuilds asks for a rebuild, as an operator does.
func rebuilds(w *sagastest.World, name string) uuid.UUID {
	w.T.Helper()
	o, err := w.Operations.QueueRebuild(w.T.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"}, 1, name)
	w.Must(err)
	return o.ID
}

// A worker that is killed while it rebuilds leaves what it has built to the next one. One
// that is killed after the swap has told before what the check found.
func TestARebuildSurvivesTheDeathOfItsWorkers(t *testing.T) {
	t.Parallel()
	w, r := rebuildingWorld(t)
	var from, swaps atomic.Int64
	r.instead = func(call int32, rebuild func(context.Context, projections.Options) (projections.Result, error), ctx context.Context, o projections.Options) (projections.Result, error) {
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
		{Table: "users", Key: "2", What: projections.Changed, Columns: []string{"language"}}, {Table: "users", Key: "3", What: projections.Missing},
	})
	w.Equal("what the log says", w.Count(`select count(*) from users where id in (2, 3) and language = 'en'`), 2)
	after, err := w.Tables.For(sagastest.Superuser).Operations().States(t.Context())
	w.Must(err)
	for _, table := range after {
		w.Equal(table.Name, table.Status, "live")
	}
}

// Two requests at once for the same table are one operation. When it is over there is
// another one.
func TestTwoRequestsForARebuildAreOne(t *testing.T) {
	t.Parallel()
	w, r := rebuildingWorld(t)
	var asked [8]uuid.UUID
	var all sync.WaitGroup
	for i := range asked {
		all.Go(func() { asked[i] = rebuilds(w, "orders") })
	}
	all.Wait()
	for _, id := range asked {
		w.Equal("operation", id, asked[0])
	}
	w.Equal("operations", w.Count(`select count(*) from operations where kind = $1`, hosting.ProjectionRebuild), 1)
	other := rebuilds(w, "plans")
	w.Equal("of another table", other == asked[0], false)
	w.Goes()
	w.Equal("status", w.Over(asked[0]).Status, hosting.OperationDone)
	w.Equal("status of the other", w.Over(other).Status, hosting.OperationDone)
	w.Equal("rebuilds", r.calls.Load(), 2)
	again := rebuilds(w, "orders")
	w.Equal("a later request is another operation", again == asked[0], false)
	w.Equal("status", w.Over(again).Status, hosting.OperationDone)
	latest, err := w.Tables.For(sagastest.Superuser).Operations().LatestRebuilds(t.Context())
	w.Must(err)
	w.Equal("the latest ones", []uuid.UUID{latest[0].ID, latest[1].ID}, []uuid.UUID{again, other})
	_, err = w.Operations.QueueRebuild(t.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"}, 1, "nothing")
	w.Equal("a table that there is not", domain.CodeOf(err), domain.NotFound)
}

// While the command rebuilds the table, the run waits. A rebuild that fails ends the
// operation, and the old table stays.
func TestARebuildWaitsForAnotherAndFailsOnce(t *testing.T) {
	t.Parallel()
	w, r := rebuildingWorld(t)
	r.instead = func(call int32, rebuild func(context.Context, projections.Options) (projections.Result, error), ctx context.Context, o projections.Options) (projections.Result, error) {
		if call > 1 {
			return projections.Result{}, errors.New("event 3 breaks a rule")
		}
		result, err := projections.Result{}, error(nil)
		_, outer := rebuild(ctx, projections.Options{KeepOld: true, Progress: func(int64, int64) {
			result, err = rebuild(ctx, o)
		}})
		w.Must(outer)
		return result, err
	}
	w.Goes()
	id := rebuilds(w, "users")
	o := w.Over(id)
	w.Equal("status", o.Status+" "+o.Error, "failed rebuild_failed")
	w.Equal("attempts", r.calls.Load(), 2)
	w.Equal("waits", w.Count(`select count(*) from saga_attempt where saga_id = $1 and outcome = 'wait' and error like '%too early%'`, sagas.RunID("rebuild:"+id.String())), 1)
	w.Equal("users", w.Count(`select count(*) from users`), 3)
	w.Equal("run", w.RunOf("rebuild:"+id.String()).Status, sagas.StatusDone)
}
