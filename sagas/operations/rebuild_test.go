package operations_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// rebuilder rebuilds tables like the program, unless a story does something else.
type rebuilder struct {
	w       *sagastest.World
	calls   atomic.Int32
	instead func(
		call int32, rebuild func(context.Context, projections.Options) (projections.Result, error),
		ctx context.Context, o projections.Options,
	) (projections.Result, error)
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
