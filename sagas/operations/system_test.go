//go:build system

package operations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
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

// While the command rebuilds the table, the run waits. A rebuild that fails ends the
// operation, and the old table stays.
func TestARebuildWaitsForAnotherAndFailsOnce(t *testing.T) {
	t.Parallel()
	w, r := rebuildingWorld(t)
	r.instead = func(
		call int32, rebuild func(context.Context, projections.Options) (projections.Result, error),
		ctx context.Context, o projections.Options,
	) (projections.Result, error) {
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
	w.Equal(
		"waits",
		w.Count(
			`select count(*) from saga_attempt where saga_id = $1 and outcome = 'wait' and error like '%too early%'`,
			sagas.RunID("rebuild:"+id.String()),
		),
		1,
	)
	w.Equal("users", w.Count(`select count(*) from users`), 3)
	w.Equal("run", w.RunOf("rebuild:"+id.String()).Status, sagas.StatusDone)
}

// An incident that cannot be told must not become an incident that cannot be
// told, and so on.
func TestATellingThatFailsForGoodEndsThere(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t)
	owner := w.Owner()
	_, err := owner.Exec(t.Context(), `alter table notifications add constraint no_news check (title not like '%reac%')`)
	w.Must(err)
	w.Goes()
	activated(w)
	w.Eventually("both are out of the way", func() bool { return w.Count(`select count(*) from poisoned`) == 2 })
	last := w.Count(`select max(position) from poisoned`)
	w.Eventually("the reader is past them", func() bool {
		return w.Count(`select position from readers where name = $1`, sagas.ReactionsReader) >= last
	})
	w.Equal("incidents", w.Count(`select count(*) from events where name = 'operations.incident_reported'`), 1)
	w.Equal("events behind", w.Count(`select count(*) from events where position > $1`, last), 0)
}

// A webhook is set aside even if its incident cannot be recorded.
func TestWhatCannotBeReportedIsSetAsideAllTheSame(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond })
	owner := w.Owner()
	_, err := owner.Exec(t.Context(), `alter table incidents add constraint closed check (kind = '')`)
	w.Must(err)
	w.Goes()
	w.Must(w.Webhook("evt_lonely", sagastest.PlacedLater(w)))
	w.Eventually("it is put aside", func() bool { return sagastest.InboxState(w, "evt_lonely") == "unmatched" })
	broken := activated(w)
	w.Eventually("it is out of the way", func() bool {
		return w.Count(`select count(*) from poisoned where position = $1`, broken.Position) == 1
	})
	if !w.Warned("an incident was not reported") {
		t.Error("no operator was told")
	}
}

func TestAWebhookWhoseOrderCameAfterAllIsNoTroubleAnyMore(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_lonely", id))
	w.Eventually("it is put aside", func() bool { return sagastest.InboxState(w, "evt_lonely") == "unmatched" })
	sagastest.PlaceAs(w, id)
	w.Eventually("it found its order", func() bool { return sagastest.InboxState(w, "evt_lonely") == "done" })
	sagastest.Ends(w, operations.WebhookTrouble(operations.WebhookUnmatched, inboxID(w, "evt_lonely"), "test"), 1)
}

func TestAReactionThatFailsForGoodIsToldUntilItIsHandledAgain(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t).Goes()
	broken := activated(w)
	trouble := sagas.ReactionTrouble(broken)
	heard := func(times int) {
		t.Helper()
		w.Eventually(fmt.Sprintf("it is told %d times", times), func() bool {
			return w.Count(`select count(*) from notifications where user_id in (901, 902)
				and title in ('A reaction has failed', 'Una reacción ha fallado')`) == 2*times
		})
	}
	heard(1)
	w.Must(w.Runner.Reactions.Poison(t.Context(), broken, "again")) // another process has failed too
	if err := w.Runner.Reactions.Requeue(t.Context(), sagastest.Operator, broken.Position, "try"); err == nil {
		t.Error("there is still no such order")
	}
	reported, settled := sagastest.Reports(w, trouble)
	w.Equal("reported, settled", []int{reported, settled}, []int{1, 0})
	_, err := w.Pool.Exec(t.Context(), `delete from poisoned`) // as if it was handled elsewhere
	w.Must(err)
	sagastest.Ends(w, trouble, 1)
	w.Must(w.Runner.Reactions.Poison(t.Context(), broken, "again"))
	heard(2)
}

func TestWhatIsHandledAgainIsNoTroubleAnyMore(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t).Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	position := int64(w.Count(`select position from events where name = 'order.activated' and stream = $1`, order.Stream(id).String()))
	found, err := w.Store.Reader().After(t.Context(), position-1, 1)
	w.Must(err)
	w.Must(w.Runner.Reactions.Poison(t.Context(), found[0], "it failed"))
	w.Must(w.Runner.Reactions.Requeue(t.Context(), sagastest.Operator, position, "try"))
	reported, settled := sagastest.Reports(w, sagas.ReactionTrouble(found[0]))
	w.Equal("reported, settled", []int{reported, settled}, []int{1, 1})
	w.Equal("poisoned", w.Count(`select count(*) from poisoned`), 0)
}

func TestAFloodOfOneKindDoesNotBuryTheRest(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t).Goes()
	for i := range operations.MostIncidentsTold + 5 {
		w.Must(w.Runner.ReportIncident(t.Context(), operations.WebhookTrouble(operations.WebhookUnmatched, int64(1000+i), "test")))
	}
	w.Must(w.Runner.ReportIncident(t.Context(), operations.TableTrouble("orders")))
	hears(w, 1, tableES, tableEN) // which comes behind all of them
	hears(w, operations.MostIncidentsTold, lonelyES, lonelyEN)
	open, err := w.Tables.For(projections.System).Operations().OpenIncidents(t.Context())
	w.Must(err)
	w.Equal("open", open[operations.WebhookUnmatched], strconv.Itoa(operations.MostIncidentsTold+5))
}

func TestAProviderThatStaysAwayIsToldOnceUntilItIsBack(t *testing.T) {
	t.Parallel()
	w := sagastest.Watched(t).Goes()
	down := func() {
		w.Pay.Tell(func(call, _ string) error {
			if call == "fetch" {
				return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
			}
			return nil
		}, nil)
	}
	trouble := operations.ProviderTrouble("test")
	for times := 1; times <= 2; times++ {
		first, second := w.Place(sagastest.OrderForm{}), w.Place(sagastest.OrderForm{})
		down()
		for _, id := range []uuid.UUID{first, second} {
			w.Pay.Pay(id, nil)
			w.Must(w.Webhook("evt_"+id.String(), id))
		}
		hears(w, times, downES, downEN)
		w.Must(w.Operations.ReviewIncidents(t.Context()))
		reported, settled := sagastest.Reports(w, trouble)
		w.Equal("while it is away", []int{reported, settled}, []int{times, times - 1})
		w.Pay.Reset()
		w.Becomes(first, order.StatusActive)
		w.Becomes(second, order.StatusActive)
		sagastest.Ends(w, trouble, times)
	}
}
