package sagas_test

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
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// refusing makes the engine refuse creations for good until the test lets it be.
func refusing(w *sagastest.World, code string) {
	w.Engine.Tell(func(call, _ string) error {
		if call == "create" {
			return domain.Fail(domain.Permanent, code, sagastest.ErrLie)
		}
		return nil
	}, nil)
}

func TestAParkedOrderGoesOnWhereItStopped(t *testing.T) { // T14, T15
	t.Parallel()
	w := sagastest.NewWorld(t)
	refusing(w, "quota_exceeded")
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusFailed)
	w.Equal("step", w.Order(id).Step, "tenant.engine")
	w.Equal("invoices", w.Count(`select count(*) from events where name = 'billing.invoice_issued'`), 0)
	w.Eventually("the alarm is in the log", func() bool { return w.Warned("a run is parked") })
	w.Engine.Tell(nil, nil)
	w.Equal("a retry needs a reason", domain.CodeOf(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "")), domain.Invalid)
	w.Must(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "the quota was raised"))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.OnlyOnce(id)
	w.Equal("accounts opened", w.Count(`select count(*) from events where name = 'account.opened'`), 1)
	w.Equal("a second retry", domain.CodeOf(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "again")), domain.Conflict)
}

func TestANameThatBelongsToAnotherOwnerIsLeftAlone(t *testing.T) { // E-3, F-13
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Engine.Put("site/taken.example.com", hosting.EngineObject{Kind: "site", Name: "taken.example.com", Owner: 4711})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Domain: "taken.example.com"})
	w.Becomes(id, order.StatusFailed)
	w.Equal("step", w.Order(id).Step, "site")
	w.Equal("owner", w.Engine.All()["site/taken.example.com"].Owner, int64(4711))
	w.Equal(
		"another input for another step",
		domain.CodeOf(w.Orders.Retry(t.Context(), sagastest.Operator, id, map[string]string{"os_choice": "x"}, "r")),
		domain.Invalid,
	)

	w.Must(
		w.Orders.Retry(t.Context(), sagastest.Operator, id, map[string]string{"domain": "free.example.com"}, "the customer chose another"),
	)
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("sites made", w.Engine.Creations("site/free.example.com"), 1)
	w.Equal("claims", w.Count(`select count(*) from external_claim where kind = 'site'`), 1)
}

func TestAStepThatWasDoneByHandIsSkippedWithProof(t *testing.T) { // T15
	t.Parallel()
	w := sagastest.NewWorld(t)
	refusing(w, "broken")
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusFailed)
	number := hosting.CustomerNumber(w.Provision(id).Job.Tenant)
	skip := func(step, external string) error {
		return w.Orders.Skip(t.Context(), sagastest.Operator, id, step, external, "done by hand")
	}
	w.Equal("without proof", domain.CodeOf(skip("tenant.engine", "1")), domain.Invalid)
	w.Equal("another step", domain.CodeOf(skip("billing", "1")), domain.Invalid)
	w.Engine.Put("tenant/"+number, hosting.EngineObject{Kind: "tenant", Name: number, Ref: number})
	w.Must(skip("tenant.engine", "1"))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("client", w.Provision(id).Job.Client, int64(1))
	w.Equal("effect", w.Count(`select count(*) from effect where state = 'skipped'`), 1)
}

func TestAPausedRunWaits(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	var paused sync.Once
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		if c.At().Name == "tenant" && p == sagas.BeforeComplete { // what it did until then would be recorded together
			// the worker is fenced by it
			paused.Do(func() { w.Must(w.Runner.Operators.Pause(context.Background(), sagastest.Operator, c.ID(), "wait")) })
		}
		return nil
	})
	w.Goes()
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("it is paused", func() bool { return w.Provision(id).Status == sagas.StatusPaused && w.Runner.Fenced() > 0 })
	w.Equal("step", w.Provision(id).At().Name, "account")
	w.Equal("accounts opened", w.Count(`select count(*) from events where name = 'account.opened'`), 0)
	w.Must(w.Runner.Operators.Continue(t.Context(), sagastest.Operator, sagas.RunID("provision:"+id.String()), "go on"))
	w.Becomes(id, order.StatusActive)
	w.Equal("an unknown run", domain.CodeOf(w.Runner.Operators.Pause(t.Context(), sagastest.Operator, uuid.New(), "x")), domain.NotFound)
}

func TestAnOperatorAndAWorkerCannotBothWin(t *testing.T) { // F-26
	t.Parallel()
	w := sagastest.NewWorld(t)
	refusing(w, "broken")
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusFailed)
	w.Engine.Tell(nil, nil)
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "now") == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	w.Becomes(id, order.StatusActive)
	w.Equal("retries that won", won.Load(), 1)
	w.Equal("resumed", w.Often(order.Stream(id), "order.provisioning_resumed"), 1)
	w.Settled(id)
}

func TestOperatorsSeeWhatARunHasDone(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Engine.Tell(nil, func(_, name string) error {
		if strings.HasPrefix(name, "tenant/") {
			w.Engine.Tell(nil, nil)
			return domain.Fail(domain.Unknown, "timeout", errors.New("no answer for ana@example.com within 20 s"))
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	runs, err := w.Runner.Operators.RunsOf(t.Context(), id)
	w.Must(err)
	if len(runs) != 1 || len(runs[0].Effects) != 2 {
		t.Fatalf("got %+v", runs)
	}
	text, _ := json.Marshal(runs[0].Attempts)
	if !strings.Contains(string(text), "no answer") || strings.Contains(string(text), "ana@example.com") {
		t.Errorf("the error should be told without the address: %s", text)
	}
	w.Eventually("all steps are counted", func() bool { // a step is counted after the append that completes it
		g, err := w.Gauges(t.Context())
		w.Must(err)
		return g.Parked == 0 && g.Completed >= 7 && g.Checked >= 1
	})
}

// incident is the one of a kind.
func incident(w *sagastest.World, kind string) (id uuid.UUID) {
	w.T.Helper()
	w.Must(w.Pool.QueryRow(w.T.Context(), `select id from incidents where kind = $1`, kind).Scan(&id))
	return id
}

func TestWhatWasSetAsideIsHandledAgainOnAnOperatorsWord(t *testing.T) { // W-8, F-24
	t.Parallel()
	w := sagastest.NewWorld(t)
	var broken atomic.Bool
	broken.Store(true)
	var handled atomic.Int32
	w.Runner.OnEvent(func(_ context.Context, r eventstore.RecordedEvent) error {
		switch {
		case r.Name != "order.activated":
			return nil
		case broken.Load():
			return errors.New("the reaction is broken")
		}
		handled.Add(1)
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Eventually("it is an incident", func() bool { return w.Count(`select count(*) from incidents where kind = 'reaction_failed'`) == 1 })
	again := func(reason string) error {
		return w.Operations.HandleAgain(t.Context(), sagastest.Operator, incident(w, "reaction_failed"), reason)
	}
	w.Equal("without a reason", domain.CodeOf(again("")), domain.Invalid)
	w.Equal("while it is broken", domain.CodeOf(again("try")), domain.Conflict)
	w.Equal("still set aside", w.Count(`select count(*) from poisoned`), 1)
	broken.Store(false)
	w.Must(again("a new version runs"))
	w.Equal("handled", handled.Load(), int32(1))
	w.Equal("set aside", w.Count(`select count(*) from poisoned`), 0)
	w.Equal(
		"settled",
		w.Count(`select count(*) from incidents where is_settled and reason = 'a new version runs' and settled_by = 'operator:1'`),
		1,
	)
	w.Equal("notifications", w.Count(`select count(*) from notifications where notification_type = 'success'`), 1)
	w.Equal(
		"an incident that is none",
		domain.CodeOf(w.Operations.HandleAgain(t.Context(), sagastest.Operator, uuid.New(), "try")), domain.NotFound,
	)
}
