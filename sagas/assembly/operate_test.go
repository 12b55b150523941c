package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

var operator = domain.Metadata{Actor: "operator:1"}

// refusing makes the engine refuse creations for good until the test lets it be.
func (w *world) refusing(code string) {
	w.engine.tell(func(call, _ string) error {
		if call == "create" {
			return domain.Fail(domain.Permanent, code, errLie)
		}
		return nil
	}, nil)
}

func TestAParkedOrderGoesOnWhereItStopped(t *testing.T) { // T14, T15
	t.Parallel()
	w := newWorld(t)
	w.refusing("quota_exceeded")
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusFailed)
	w.equal("step", w.order(id).Step, "tenant.engine")
	w.equal("invoices", w.count(`select count(*) from events where name = 'billing.invoice_issued'`), 0)
	w.eventually("the alarm is in the log", func() bool { return w.warned("a run is parked") })
	w.engine.tell(nil, nil)
	w.equal("a retry needs a reason", domain.CodeOf(w.Retry(t.Context(), operator, id, nil, "")), domain.Invalid)
	w.must(w.Retry(t.Context(), operator, id, nil, "the quota was raised"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.onlyOnce(id)
	w.equal("accounts opened", w.count(`select count(*) from events where name = 'account.opened'`), 1)
	w.equal("a second retry", domain.CodeOf(w.Retry(t.Context(), operator, id, nil, "again")), domain.Conflict)
}

func TestANameThatBelongsToAnotherOwnerIsLeftAlone(t *testing.T) { // E-3, F-13
	t.Parallel()
	w := newWorld(t)
	w.engine.put("site/taken.example.com", hosting.EngineObject{Kind: "site", Name: "taken.example.com", Owner: 4711})
	w.goes()
	id := w.buy(ordering{domain: "taken.example.com"})
	w.becomes(id, order.StatusFailed)
	w.equal("step", w.order(id).Step, "site")
	w.equal("owner", w.engine.all()["site/taken.example.com"].Owner, int64(4711))
	w.equal("another input for another step", domain.CodeOf(w.Retry(t.Context(), operator, id, map[string]string{"os_choice": "x"}, "r")), domain.Invalid)

	w.must(w.Retry(t.Context(), operator, id, map[string]string{"domain": "free.example.com"}, "the customer chose another"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("sites made", w.engine.creations("site/free.example.com"), 1)
	w.equal("claims", w.count(`select count(*) from external_claim where kind = 'site'`), 1)
}

func TestAStepThatWasDoneByHandIsSkippedWithProof(t *testing.T) { // T15
	t.Parallel()
	w := newWorld(t)
	w.refusing("broken")
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusFailed)
	number := hosting.CustomerNumber(w.provision(id).Job.Tenant)
	skip := func(step, external string) error {
		return w.Skip(t.Context(), operator, id, step, external, "done by hand")
	}
	w.equal("without proof", domain.CodeOf(skip("tenant.engine", "1")), domain.Invalid)
	w.equal("another step", domain.CodeOf(skip("billing", "1")), domain.Invalid)
	w.engine.put("tenant/"+number, hosting.EngineObject{Kind: "tenant", Name: number, Ref: number})
	w.must(skip("tenant.engine", "1"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("client", w.provision(id).Job.Client, int64(1))
	w.equal("effect", w.count(`select count(*) from effect where state = 'skipped'`), 1)
}

func TestATurnedRunTakesBackWhatItHasDone(t *testing.T) { // F-2
	t.Parallel()
	for _, c := range []crash{{}, {at: sagas.BeforeIntent}, {at: sagas.AfterIntent}, {at: sagas.Sent}, {at: sagas.Answered}, {at: sagas.BeforeComplete}, {at: sagas.AfterComplete}} {
		w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 300 * time.Millisecond })
		w.engine.tell(func(call, name string) error {
			if call == "create" && strings.HasPrefix(name, "site/") {
				return domain.Fail(domain.Permanent, "broken", errLie)
			}
			return nil
		}, nil)
		var dead atomic.Bool
		w.fault.to(func(p sagas.Point, c2 sagas.Run) error {
			if c2.Direction == sagas.DirectionUndo && p == c.at && c2.At().Name == "tenant.engine" && dead.CompareAndSwap(false, true) {
				return sagas.ErrKilled
			}
			return nil
		})
		w.goes()
		id := w.buy(ordering{domain: "back.example.com"})
		w.becomes(id, order.StatusFailed)
		w.must(w.TakeBack(t.Context(), operator, sagas.RunID("provision:"+id.String()), "the customer changed their mind"))
		w.eventually("it is undone", func() bool { return w.provision(id).Status == sagas.StatusUndone })
		w.equal("objects left outside", len(w.engine.all()), 0)
		w.equal("effects of the run that are left", w.count(`select count(*) from effect where state not in ('undone', 'absent') and saga_id = $1`, sagas.RunID("provision:"+id.String())), 0)
		w.equal("claims left", w.count(`select count(*) from external_claim where kind = 'tenant'`), 0)
		w.equal("tenants left", w.count(`select count(*) from resources where status <> 'gone'`), 0)
		w.equal("died", dead.Load(), c.at != "")
		w.end()
	}
}

func TestAPausedRunWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	var paused sync.Once
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		if c.At().Name == "tenant" && p == sagas.BeforeComplete { // what it did until then would be recorded together
			paused.Do(func() { w.must(w.Pause(context.Background(), operator, c.ID(), "wait")) }) // the worker is fenced by it
		}
		return nil
	})
	w.goes()
	w.must(w.webhook("evt_1", id))
	w.eventually("it is paused", func() bool { return w.provision(id).Status == sagas.StatusPaused && w.Fenced() > 0 })
	w.equal("step", w.provision(id).At().Name, "account")
	w.equal("accounts opened", w.count(`select count(*) from events where name = 'account.opened'`), 0)
	w.must(w.Continue(t.Context(), operator, sagas.RunID("provision:"+id.String()), "go on"))
	w.becomes(id, order.StatusActive)
	w.equal("an unknown run", domain.CodeOf(w.Pause(t.Context(), operator, uuid.New(), "x")), domain.NotFound)
}

func TestAnOperatorAndAWorkerCannotBothWin(t *testing.T) { // F-26
	t.Parallel()
	w := newWorld(t)
	w.refusing("broken")
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusFailed)
	w.engine.tell(nil, nil)
	var won atomic.Int32
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			if w.Retry(t.Context(), operator, id, nil, "now") == nil {
				won.Add(1)
			}
		})
	}
	wg.Wait()
	w.becomes(id, order.StatusActive)
	w.equal("retries that won", won.Load(), 1)
	w.equal("resumed", w.often(order.Stream(id), "order.provisioning_resumed"), 1)
	w.settled(id)
}

func TestWorkRowsFollowFromTheLog(t *testing.T) { // V8
	t.Parallel()
	w := newWorld(t)
	w.mail.tell(func(string, string) error { return domain.Fail(domain.Transient, "greylisted", errLie) }, nil)
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/") {
			return domain.Fail(domain.Permanent, "broken", errLie)
		}
		return nil
	}, nil)
	w.goes()
	w.becomes(w.buy(ordering{domain: "broken.example.com"}), order.StatusFailed)
	w.becomes(w.buy(ordering{kind: "vps"}), order.StatusActive)
	waiting := w.buy(ordering{})
	w.becomes(waiting, order.StatusActive)
	w.must(w.Pause(t.Context(), operator, sagas.RunID("mail:"+sagas.EffectKey(waiting, "welcome")), "wait"))
	w.heard()
	w.end()
	const derived = `
		select coalesce(json_agg(json_build_array(id, key, definition, steps, input, order_id, direction,
			case when status in ('running', 'waiting') then 'ready' else status end, step, queue, cancel_requested, stream_version,
			step_deadline is null) order by key)::text, '') from saga_run`
	rows := func() (text string) {
		w.must(w.pool.QueryRow(t.Context(), derived).Scan(&text))
		return text
	}
	before := rows()
	_, err := w.pool.Exec(t.Context(), `delete from saga_run`)
	w.must(err)
	runs := w.count(`select count(distinct stream) from events where stream like 'saga-%'`)
	rebuilt := func() int64 {
		n, err := w.RebuildRuns(t.Context(), operator, "the rows were lost")
		w.must(err)
		return n
	}
	w.equal("rebuilt", rebuilt(), runs)
	w.equal("rebuilt, once more", rebuilt(), 0)
	_, err = w.pool.Exec(t.Context(), `update saga_run set stream_version = stream_version - 1 where key = $1`, "mail:"+sagas.EffectKey(waiting, "welcome"))
	w.must(err)
	w.equal("rebuilt of a row that is wrong", rebuilt(), 1)
	_, err = w.RebuildRuns(t.Context(), operator, "")
	w.equal("without a reason", domain.CodeOf(err), domain.Invalid)
	if after := rows(); after != before || len(before) < 500 {
		t.Errorf("rebuilt rows differ\nbefore %s\nafter  %s", before, after)
	}
	w.mail.tell(nil, nil)
	w.goes()
	w.must(w.Continue(t.Context(), operator, sagas.RunID("mail:"+sagas.EffectKey(waiting, "welcome")), "go on"))
	w.eventually("the rebuilt runs go on", func() bool { return w.order(waiting).Mail == order.MailSent })
}

func TestWhatIsUsedUpIsLookedForOnceMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.EngineBudget = 100 * time.Millisecond })
	w.compute.tell(func(call, _ string) error {
		if call == "create" {
			time.Sleep(120 * time.Millisecond) // until the budget is used up
		}
		return nil
	}, func(string, string) error { return domain.Fail(domain.Unknown, "timeout", errLie) })
	w.goes()
	id := w.buy(ordering{kind: "vps"})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.onlyOnce(id)
}

func TestOperatorsSeeWhatARunHasDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.tell(nil, func(_, name string) error {
		if strings.HasPrefix(name, "tenant/") {
			w.engine.tell(nil, nil)
			return domain.Fail(domain.Unknown, "timeout", errors.New("no answer for ana@example.com within 20 s"))
		}
		return nil
	})
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	runs, err := w.RunsOf(t.Context(), id)
	w.must(err)
	if len(runs) != 1 || len(runs[0].Effects) != 2 {
		t.Fatalf("got %+v", runs)
	}
	text, _ := json.Marshal(runs[0].Attempts)
	if !strings.Contains(string(text), "no answer") || strings.Contains(string(text), "ana@example.com") {
		t.Errorf("the error should be told without the address: %s", text)
	}
	w.eventually("all steps are counted", func() bool { // a step is counted after the append that completes it
		g, err := w.Gauges(t.Context())
		w.must(err)
		return g.Parked == 0 && g.Completed >= 7 && g.Checked >= 1
	})
}

func TestAReactionThatFailsForGoodIsMovedOutOfTheWay(t *testing.T) { // W-8, F-24
	t.Parallel()
	w := newWorld(t)
	broken := uuid.New()
	_, err := w.store.Append(t.Context(), domain.Metadata{Actor: "test"}, order.Stream(broken), 0, nil, order.Activated{At: w.Now()})
	w.must(err)
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.eventually("the customer behind it is told", func() bool {
		return w.count(`select count(*) from notifications where notification_type = 'success'`) == 1
	})
	w.equal("poisoned", w.count(`select count(*) from poisoned`), 1)
	handled := int64(w.count(`select position from events where name = 'order.activated' and stream = $1`, order.Stream(id).String()))
	w.must(w.Requeue(t.Context(), operator, handled, "once more"))
	w.equal("notifications after a repeat", w.count(`select count(*) from notifications where notification_type = 'success'`), 1)
	w.equal("an event that never was", domain.CodeOf(w.Requeue(t.Context(), operator, 1<<40, "try")), domain.NotFound)
}

// incident is the one of a kind.
func (w *world) incident(kind string) (id uuid.UUID) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.t.Context(), `select id from incidents where kind = $1`, kind).Scan(&id))
	return id
}

func TestWhatWasSetAsideIsHandledAgainOnAnOperatorsWord(t *testing.T) { // W-8, F-24
	t.Parallel()
	w := newWorld(t)
	var broken atomic.Bool
	broken.Store(true)
	var handled atomic.Int32
	w.OnEvent(func(_ context.Context, r eventstore.RecordedEvent) error {
		switch {
		case r.Name != "order.activated":
			return nil
		case broken.Load():
			return errors.New("the reaction is broken")
		}
		handled.Add(1)
		return nil
	})
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.eventually("it is an incident", func() bool { return w.count(`select count(*) from incidents where kind = 'reaction_failed'`) == 1 })
	again := func(reason string) error {
		return w.Operations.HandleAgain(t.Context(), operator, w.incident("reaction_failed"), reason)
	}
	w.equal("without a reason", domain.CodeOf(again("")), domain.Invalid)
	w.equal("while it is broken", domain.CodeOf(again("try")), domain.Conflict)
	w.equal("still set aside", w.count(`select count(*) from poisoned`), 1)
	broken.Store(false)
	w.must(again("a new version runs"))
	w.equal("handled", handled.Load(), int32(1))
	w.equal("set aside", w.count(`select count(*) from poisoned`), 0)
	w.equal("settled", w.count(`select count(*) from incidents where is_settled and reason = 'a new version runs' and settled_by = 'operator:1'`), 1)
	w.equal("notifications", w.count(`select count(*) from notifications where notification_type = 'success'`), 1)
	w.equal("an incident that is none", domain.CodeOf(w.Operations.HandleAgain(t.Context(), operator, uuid.New(), "try")), domain.NotFound)
}
