package assembly_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/notices"
)

// untouched checks that nothing of an order is left anywhere (V3).
func (w *world) untouched() {
	w.t.Helper()
	w.equal("objects left outside", len(w.engine.all())+len(w.compute.all()), 0)
	w.equal("effects left", w.count(`select count(*) from effect where step in ('tenant.engine', 'site', 'vm') and state not in ('undone', 'absent')`), 0)
	w.equal("claims left", w.count(`select count(*) from external_claim`), 0)
	w.equal("resources left", w.count(`select count(*) from resources where status <> 'gone'`), 0)
}

func TestCancellingAnUnpaidOrderAsksItsProviderFirst(t *testing.T) { // T4, T10
	t.Parallel()
	w := newWorld(t).goes()
	w.equal("without a reason", domain.CodeOf(w.Cancel(t.Context(), operator, w.placed(ordering{}), "")), domain.Invalid)

	pending := w.placed(ordering{})
	w.must(w.Cancel(t.Context(), operator, pending, "asked for by mail"))
	w.equal("pending", w.order(pending).Cause, order.NoSession)

	open := w.place(ordering{})
	w.pay.tell(func(call, _ string) error {
		if call == "fetch" {
			return domain.Fail(domain.Transient, "away", errLie)
		}
		return nil
	}, nil)
	w.equal("provider away", domain.CodeOf(w.Cancel(t.Context(), operator, open, "asked for by mail")), domain.Unavailable)
	w.equal("status", w.order(open).Status, order.StatusPaymentProcessing)
	w.pay.reset()
	w.must(w.Cancel(t.Context(), operator, open, "asked for by mail"))
	w.equal("unpaid", w.order(open).Cause, order.ByAdmin)
	w.equal("again", domain.CodeOf(w.Cancel(t.Context(), operator, open, "again")), domain.Conflict)
}

func TestWhatTurnsOutToBePaidIsTakenBack(t *testing.T) { // T10, T16, T18
	t.Parallel()
	w := newWorld(t)
	id := w.place(ordering{})
	w.pay.pay(id, nil) // no webhook arrives
	w.must(w.Cancel(t.Context(), operator, id, "asked for by mail"))
	w.equal("events", strings.Join(w.happened(order.Stream(id))[2:6], " "),
		"order.payment_confirmed order.cancel_requested order.compensation_started order.compensation_completed")
	w.equal("run", w.provision(id).Status, sagas.StatusUndone)
	w.goes()
	w.refunded(id)
	w.untouched()
}

// refunded waits until all payments of an order are refunded.
func (w *world) refunded(id fmt.Stringer) {
	w.t.Helper()
	o := mustParse(id)
	w.eventually("the refund is asked for", func() bool { return len(w.order(o).Asked) > 0 })
	w.givesBack(o)
	w.becomes(o, order.StatusRefunded)
}

func TestAFailedOrderIsTakenBackAndRefunded(t *testing.T) { // T16, T17, T18
	t.Parallel()
	for _, kind := range []string{"hosting", "vps"} {
		w := newWorld(t)
		refuse := func(call, name string) error {
			if call == "create" && !strings.HasPrefix(name, "tenant/") {
				return domain.Fail(domain.Permanent, "broken", errLie)
			}
			return nil
		}
		w.engine.tell(refuse, nil)
		w.compute.tell(refuse, nil)
		w.goes()
		o := ordering{kind: kind}
		if kind == "hosting" {
			o.domain = "failed.example.com"
		}
		id := w.buy(o)
		w.becomes(id, order.StatusFailed)
		w.must(w.Cancel(t.Context(), operator, id, "the customer changed their mind"))
		w.refunded(id)
		w.equal("subscriptions", w.count(`select count(*) from events where name = 'billing.subscription_started'`), 0)
		w.untouched()
		w.equal("again", domain.CodeOf(w.Cancel(t.Context(), operator, id, "again")), domain.Conflict)
		w.end()
	}
}

func TestAnOrderThatIsBeingSetUpTurnsBack(t *testing.T) { // T16, R-2
	t.Parallel()
	w := newWorld(t)
	w.pauses(notices.MailQueue) // the welcome mail holds it up
	w.goes()
	id := w.buy(ordering{domain: "turns.example.com", email: "turns@example.com"})
	w.standsAt(id, "welcome")
	const news = `select count(*) from saga_run where starts_with(key, 'mail:n/') and `
	w.eventually("news of its invoice waits for that mail", func() bool { return w.count(news+`status = 'waiting'`) == 1 })
	w.must(w.Cancel(t.Context(), operator, id, "the customer changed their mind"))
	w.eventually("none will come", func() bool { return w.count(news+`status = 'done'`) == 1 })
	w.equal("news that waited its minute", w.count(news+`run_at > created_at + interval '30 seconds'`), 0)
	w.goesOn()
	w.refunded(id)
	w.untouched()
	w.equal("mails", len(w.mail.to("turns@example.com")), 0)
	w.equal("why the subscription ended", w.count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'undone'`), 1)
	w.equal("accounts closed", w.count(`select count(*) from events where name = 'account.deactivated'`), 1)
}

func TestARefundBeforeTheServiceRunsTurnsItsRun(t *testing.T) { // T19
	t.Parallel()
	w := newWorld(t)
	id := w.place(ordering{kind: "vps"})
	w.pay.pay(id, nil)
	w.pauses(w.Reconciler.ComputeQueue())
	w.goes()
	w.must(w.webhook("evt_1", id))
	w.standsAt(id, "vm")
	w.pay.giveAll(id)
	w.must(w.Payments.Hint(t.Context(), id, "refund"))
	w.becomes(id, order.StatusRefunded)
	w.goesOn()
	w.eventually("it is taken back", func() bool { return w.order(id).Compensated })
	w.equal("run", w.provision(id).Status, sagas.StatusUndone)
	w.untouched()
	w.equal("runs that end the service", w.count(`select count(*) from saga_run where key like 'deprovision:%'`), 0)
}

func TestWhatCannotBeTakenBackWaitsForAnOperator(t *testing.T) { // T17
	t.Parallel()
	w := newWorld(t)
	w.engine.tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/") || call == "remove" {
			return domain.Fail(domain.Permanent, "broken", errLie)
		}
		return nil
	}, nil)
	w.goes()
	id := w.buy(ordering{domain: "stuck.example.com"})
	w.becomes(id, order.StatusFailed)
	w.must(w.Cancel(t.Context(), operator, id, "the customer changed their mind"))
	w.eventually("it is held", func() bool { return fmt.Sprint(w.order(id).Holds) == "[needs_operator]" })
	w.equal("run", w.provision(id).Status, sagas.StatusParked)
	w.equal("money asked for", len(w.order(id).Asked), 0)
	w.engine.tell(nil, nil)
	w.must(w.Retry(t.Context(), operator, id, nil, "the engine is well again"))
	w.refunded(id)
	w.equal("holds", len(w.order(id).Holds), 0)
	w.untouched()
}

// A worker may die in every step that is taken back.
func TestAWorkerMayDieWhileItTakesBack(t *testing.T) { // F-2
	t.Parallel()
	points := []sagas.Point{sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete}
	w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 400 * time.Millisecond })
	refuse := func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/broken") {
			return domain.Fail(domain.Permanent, "broken", errLie)
		}
		return nil
	}
	w.engine.tell(refuse, nil)
	var mu sync.Mutex
	plans, died := map[string]bool{}, 0
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		plan := fmt.Sprint(c.Order, c.At().Name, p)
		if c.Direction == sagas.DirectionUndo && plans[plan] {
			delete(plans, plan)
			died++
			return sagas.ErrKilled
		}
		return nil
	})
	w.pauses(notices.MailQueue)
	w.goes()
	var hosted, machines []fmt.Stringer
	planned := 0
	plan := func(id fmt.Stringer, step string, p sagas.Point) {
		mu.Lock()
		defer mu.Unlock()
		plans[fmt.Sprint(id, step, p)] = true
		planned++
	}
	for i, p := range points {
		h, v := w.buy(ordering{domain: fmt.Sprintf("back%d.example.com", i)}), w.buy(ordering{kind: "vps"})
		hosted, machines = append(hosted, h), append(machines, v)
		plan(h, "tenant.engine", p)
		plan(h, "site", p)
		plan(v, "vm", p)
		if p == sagas.BeforeComplete || p == sagas.AfterComplete {
			for _, step := range []string{"billing", "tenant", "account"} {
				plan(h, step, p)
			}
		}
	}
	for _, id := range append(hosted, machines...) {
		w.standsAt(mustParse(id), "welcome")
		w.must(w.Cancel(t.Context(), operator, mustParse(id), "the customer changed their mind"))
	}
	w.goesOn()
	for _, id := range append(hosted, machines...) {
		w.eventually("it is taken back", func() bool { return w.order(mustParse(id)).Compensated })
		w.equal("taken back", w.often(order.Stream(mustParse(id)), "order.compensation_completed"), 1)
		w.equal("refunds asked for", len(w.order(mustParse(id)).Asked), 1)
	}
	w.untouched()
	w.eventually("every worker has died as planned", func() bool { mu.Lock(); defer mu.Unlock(); return died == planned })
}

// Of a cancellation and the completion of a step at the same time exactly one wins,
// and the log shows which.
func TestACancellationAndAWorkerCannotBothWin(t *testing.T) { // F-26
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 26))
	w := newWorld(t)
	var mu sync.Mutex
	at, said := map[string]int{}, make(chan error, 24)
	w.fault.to(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		if left, planned := at[c.Order.String()]; planned && p == sagas.BeforeComplete && c.Direction == sagas.DirectionDo {
			if left > 0 {
				at[c.Order.String()]--
				return nil
			}
			delete(at, c.Order.String())
			go func() { said <- w.Cancel(t.Context(), operator, c.Order, "at this very moment") }() // while the step is completed
		}
		return nil
	})
	var ended atomic.Int32
	w.goes()
	var ids []fmt.Stringer
	for i := range 24 {
		id := w.place(ordering{domain: fmt.Sprintf("race%d.example.com", i)})
		mu.Lock()
		at[id.String()] = min(random.IntN(18), 8) // at the last of nine steps in every second one
		mu.Unlock()
		w.paid(id)
		ids = append(ids, id)
	}
	for range ids {
		w.must(<-said)
	}
	for _, s := range ids {
		id := mustParse(s)
		w.eventually("it has come to an end", func() bool {
			o := w.order(id)
			return o.Compensated || o.Status == order.StatusCancelled
		})
		run, o := w.provision(id), w.order(id)
		if active := w.often(order.Stream(id), "order.activated") == 1; active {
			ended.Add(1)
			w.equal("the worker won", fmt.Sprint(run.Status, " ", o.Cause), "done ended")
		} else {
			w.equal("the operator won", run.Status, sagas.StatusUndone)
			w.equal("no cancellation is recorded", w.often(order.Stream(id), "order.cancelled"), 0)
		}
	}
	t.Logf("%d were active first", ended.Load())
	w.equal("sites without an order", len(w.engine.all()), w.count(`
		select count(*) from resources where kind in ('tenant', 'site') and status <> 'gone'`))
}
