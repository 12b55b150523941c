package assembly_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// reference is what a refund is found by at the provider.
func reference(id uuid.UUID, n int) string { return fmt.Sprintf("order/%s/refund/%d", id, n) }

func (w *world) refundRun(id uuid.UUID, n int) sagas.Run {
	w.t.Helper()
	return w.runOf(fmt.Sprintf("refund:%s/%d", id, n))
}

func (w *world) back(id uuid.UUID, amount string) error {
	w.t.Helper()
	if amount == "" {
		return w.Payments.Refund(w.t.Context(), operator, id, nil, "goodwill")
	}
	exact := decimal.RequireFromString(amount)
	return w.Payments.Refund(w.t.Context(), operator, id, &exact, "goodwill")
}

// balance checks how much of an order's money we still have.
func (w *world) balance(id uuid.UUID, net int64) {
	w.t.Helper()
	w.equal("net", w.order(id).Net()["EUR"], net)
}

// bought is an order that is active.
func (w *world) bought() uuid.UUID {
	w.t.Helper()
	id := w.buy(ordering{kind: "saas"})
	w.becomes(id, order.StatusActive)
	return id
}

func TestAPartGoesBackAndThenTheRest(t *testing.T) { // T19, T22, I-14
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	w.must(w.back(id, "2.10"))
	w.eventually("the part is back", func() bool { return w.often(order.Stream(id), "order.partially_refunded") == 1 })
	w.equal("status", w.order(id).Status, order.StatusActive)
	w.balance(id, 1000)
	w.equal("the run", w.refundRun(id, 1).Status, sagas.StatusDone)
	w.equal("too much", domain.CodeOf(w.back(id, "10.01")), domain.Invalid)
	w.equal("without a reason", domain.CodeOf(w.Payments.Refund(t.Context(), operator, id, nil, "")), domain.Invalid)
	w.must(w.back(id, ""))
	w.becomes(id, order.StatusRefunded)
	w.balance(id, 0)
	w.equal("refunds", []int{w.pay.refunds(reference(id, 1)), w.pay.refunds(reference(id, 2))}, []int{1, 1})
	w.equal("booked", w.count(`select count(*) from payment_object where kind = 'refund' and order_id = $1`, id), 2)
	w.equal("nothing is left", domain.CodeOf(w.back(id, "")), domain.Conflict)
	w.equal("an unknown order", domain.CodeOf(w.back(uuid.New(), "")), domain.NotFound)
}

func TestARefundMadeAtTheProviderIsBookedOnce(t *testing.T) { // T19, T22, F-4, I-14
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	w.pay.change(id, func(p *order.Payment) {
		p.Refunds = append(p.Refunds, order.Refund{ID: "re_desk", State: order.RefundSucceeded, Minor: 210, Currency: "EUR", At: time.Now()})
	})
	w.atOnce(60, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.webhook(fmt.Sprintf("evt_back_%d", i/2), id)
	})
	w.eventually("it is booked", func() bool { return w.often(order.Stream(id), "order.partially_refunded") == 1 })
	w.still(id, order.StatusActive)
	w.equal("booked", w.often(order.Stream(id), "order.partially_refunded"), 1)
	w.balance(id, 1000)
	w.equal("refunds by the panel", w.count(`select count(*) from saga_run where key like 'refund:%'`), 0)
	w.pay.change(id, func(p *order.Payment) {
		p.Refunds = append(p.Refunds, order.Refund{ID: "re_rest", State: order.RefundSucceeded, Minor: 1000, Currency: "EUR", At: time.Now()})
	})
	w.must(w.Payments.Hint(t.Context(), id, "clock"))
	w.becomes(id, order.StatusRefunded)
}

func TestARefundOfAnotherOrderIsNotOurs(t *testing.T) { // I-14
	t.Parallel()
	w := newWorld(t).goes()
	first, second := w.bought(), w.bought()
	r := order.Refund{ID: "re_one", State: order.RefundSucceeded, Minor: 100, Currency: "EUR", At: time.Now()}
	w.pay.change(first, func(p *order.Payment) { p.Refunds = append(p.Refunds, r) })
	w.must(w.Payments.Hint(t.Context(), first, "clock"))
	w.eventually("it is booked", func() bool { return w.order(first).Net()["EUR"] == 1110 })
	w.pay.change(second, func(p *order.Payment) { p.Refunds = append(p.Refunds, r) })
	w.must(w.Payments.Hint(t.Context(), second, "clock"))
	w.eventually("an operator is told", func() bool { return w.warned("belongs to another order") })
	w.balance(second, 1210)
}

func TestASurplusGoesBackByItself(t *testing.T) { // T21, F-11
	t.Parallel()
	w := newWorld(t).goes()
	id := w.buy(ordering{kind: "saas"})
	w.pay.pay(id, func(p *order.Payment) { p.ID, p.At = "pay_again", time.Now().Add(time.Second) })
	w.must(w.webhook("evt_again", id))
	w.becomes(id, order.StatusActive)
	w.must(w.Payments.Hint(t.Context(), id, "clock"))
	w.eventually("it is back", func() bool { return w.order(id).Net()["EUR"] == 1210 && !w.order(id).OnHold() })
	w.equal("duplicates found", w.often(order.Stream(id), "order.duplicate_payment_found"), 1)
	w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
	w.settled(id)
}

func TestARefundThatIsRefusedHoldsTheOrderUntilItIsDecidedAnew(t *testing.T) { // T25
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	w.pay.tell(func(call, _ string) error {
		if call == "refund" {
			return domain.Fail(domain.Permanent, "insufficient_funds", errLie)
		}
		return nil
	}, nil)
	w.must(w.back(id, ""))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.equal("holds", w.order(id).Holds, []order.Hold{order.RefundHold})
	w.equal("status", w.order(id).Status, order.StatusActive)
	w.equal("the run", w.refundRun(id, 1).Status, sagas.StatusParked)
	w.pay.reset()
	w.must(w.back(id, ""))
	w.becomes(id, order.StatusRefunded)
	w.equal("holds", len(w.order(id).Holds), 0)
	w.equal("refunds", []int{w.pay.refunds(reference(id, 1)), w.pay.refunds(reference(id, 2))}, []int{0, 1})
	w.eventually("the run that was refused is over", func() bool { return w.refundRun(id, 1).Status == sagas.StatusDone })
}

// The bank takes back itself what the panel could not give back.
func TestARefundThatTheBankMadeNeedlessEndsByItself(t *testing.T) { // T23, T25
	t.Parallel()
	for _, how := range []string{"dispute", "refund"} {
		for _, sent := range []error{
			domain.Fail(domain.Permanent, "charge_disputed", errLie), // nothing went out
			domain.Fail(domain.Unknown, "timeout", errLie),           // no answer, until the time is up
		} {
			w := newWorld(t, func(o *assembly.Options) { o.Times.RefundBudget = 100 * time.Millisecond }).goes()
			id := w.bought()
			var calls atomic.Int32
			w.pay.tell(func(call, _ string) error {
				if call == "refund" {
					calls.Add(1)
					return sent
				}
				return nil
			}, nil)
			w.must(w.back(id, ""))
			w.eventually("it is parked", func() bool { return w.refundRun(id, 1).Status == sagas.StatusParked })
			before := calls.Load()
			w.pay.change(id, func(p *order.Payment) {
				if how == "dispute" {
					p.Disputes = []order.Dispute{{ID: "dp_1", State: order.DisputeLost, Minor: p.Minor, Currency: p.Currency, At: time.Now()}}
				} else {
					p.Refunds = append(p.Refunds, order.Refund{ID: "re_1", State: order.RefundSucceeded, Minor: p.Minor, Currency: p.Currency, At: time.Now()})
				}
			})
			w.must(w.Payments.Hint(t.Context(), id, "clock"))
			w.becomes(id, order.StatusRefunded)
			w.eventually("its run is over", func() bool { return w.refundRun(id, 1).Status == sagas.StatusDone })
			w.equal(how+": sent after that", calls.Load()-before, int32(0))
			w.equal(how+": holds", len(w.order(id).Holds), 0)
			w.balance(id, 0)
			w.end()
		}
	}
}

func TestBeforeARefundIsTriedAnewTheProviderIsAsked(t *testing.T) { // T25, F-21
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	var down atomic.Bool // from before the refund on: a check that runs beside it would find it
	w.pay.tell(func(call, _ string) error {
		down.CompareAndSwap(false, call == "refund")
		return nil
	}, func(call, _ string) error {
		switch {
		case call == "refund": // it went through, whatever the answer says
			return domain.Fail(domain.Permanent, "refused", errLie)
		case call == "fetch" && down.Load():
			return domain.Fail(domain.Transient, "down", errLie)
		}
		return nil
	})
	w.must(w.back(id, ""))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.equal("while the provider is unavailable", domain.CodeOf(w.back(id, "")), domain.Unavailable)
	w.pay.reset()
	w.equal("it has gone back already", domain.CodeOf(w.back(id, "")), domain.Conflict)
	w.becomes(id, order.StatusRefunded)
	w.equal("refunds", []int{w.pay.refunds(reference(id, 1)), w.pay.refunds(reference(id, 2))}, []int{1, 0})
}

func TestARefundThatIsPendingIsWaitedFor(t *testing.T) { // T19, 3.6
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.RefundCheck = 50 * time.Millisecond }).goes()
	id := w.bought()
	w.pay.change(id, func(p *order.Payment) {
		p.Refunds = append(p.Refunds, order.Refund{ID: "re_slow", State: order.RefundPending, Minor: 1210, Currency: "EUR", At: time.Now()})
	})
	w.must(w.Payments.Hint(t.Context(), id, "clock"))
	w.eventually("it is on its way", func() bool { return w.often(order.Stream(id), "order.refund_started") == 1 })
	w.balance(id, 1210)
	w.pay.change(id, func(p *order.Payment) { p.Refunds[0].State = order.RefundSucceeded })
	w.becomes(id, order.StatusRefunded) // without a webhook
}

func TestAStoredFailureOfARefundLeadsToOneRefund(t *testing.T) { // F-21, S-6, N-9
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond }).goes()
	id := w.bought()
	w.pay.stores(reference(id, 1))
	w.must(w.back(id, ""))
	w.becomes(id, order.StatusRefunded)
	w.equal("the next generation came", w.pay.came(reference(id, 1)+"/g2"), true)
	w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
	w.balance(id, 0)
}

func TestAnAnswerThatSaysItIsStoredEndsItsKeyAtOnce(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond })
	var once atomic.Bool
	w.pay.tell(func(call, _ string) error {
		if call == "refund" && once.CompareAndSwap(false, true) {
			return domain.Fail(domain.Unknown, sagas.StoredError, errLie)
		}
		return nil
	}, nil)
	w.goes()
	id := w.bought()
	w.must(w.back(id, ""))
	w.becomes(id, order.StatusRefunded)
	w.equal("the old key", w.pay.came(reference(id, 1)), false)
	w.equal("the next key", w.pay.came(reference(id, 1)+"/g2"), true)
}

// A worker dies once at each point of a refund and of a capture.
func TestAWorkerMayDieAnywhereOnTheWayOfMoney(t *testing.T) { // F-1, N-9, S-6
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	deaths := newDeaths[uuid.UUID](w)
	w.fault.to(func(p sagas.Point, c sagas.Run) error { return deaths.at(c.Order, c.At().Name, p, false) })
	w.pay.tell(nil, func(call, about string) error {
		switch call {
		case "capture":
			return deaths.at(uuid.MustParse(about[len("cs_"):]), call, sagas.Sent, true)
		case "refund":
			return deaths.at(uuid.MustParse(about[len("order/"):][:36]), call, sagas.Sent, true)
		}
		return nil
	})
	var ids []uuid.UUID
	for _, step := range []string{"capture", "refund"} {
		for _, c := range []crash{
			{at: sagas.BeforeIntent},
			{at: sagas.AfterIntent},
			{at: sagas.Sent},
			{at: sagas.Sent, made: true},
			{at: sagas.Answered, made: true},
			{at: sagas.BeforeComplete, made: true},
			{at: sagas.AfterComplete, made: true},
		} {
			c.step = step
			id := w.place(ordering{kind: "saas"})
			w.pay.approve(id, w.Now())
			deaths.plan(id, c)
			ids = append(ids, id)
		}
	}
	w.goes()
	for _, id := range ids {
		w.must(w.webhook("evt_"+id.String(), id))
	}
	for _, id := range ids {
		w.becomes(id, order.StatusActive)
		w.must(w.back(id, "2.10"))
	}
	for _, id := range ids {
		w.eventually("its refund is booked", func() bool { return w.order(id).Net()["EUR"] == 1000 })
		w.eventually("its runs are done", func() bool {
			return w.runOf("capture:"+id.String()).Status == sagas.StatusDone && w.refundRun(id, 1).Status == sagas.StatusDone
		})
		w.equal("captures", w.pay.captures(id), 1)
		w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
	}
	deaths.came()
}

func TestAnOperatorAcceptsWhatCameOtherwise(t *testing.T) { // T11
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{kind: "saas"})
	w.pay.pay(id, func(p *order.Payment) { p.Minor-- })
	w.must(w.webhook("evt_1", id))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.equal("without a reason", domain.CodeOf(w.Payments.Accept(t.Context(), operator, id, "")), domain.Invalid)
	w.must(w.Payments.Accept(t.Context(), operator, id, "one cent is not worth a letter"))
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("again", domain.CodeOf(w.Payments.Accept(t.Context(), operator, id, "again")), domain.Conflict)
}

func TestWhatIsNotAcceptedGoesBack(t *testing.T) { // T11, T24
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{kind: "saas"})
	w.pay.pay(id, func(p *order.Payment) { p.Minor = 5000 })
	w.must(w.webhook("evt_1", id))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.must(w.back(id, ""))
	w.becomes(id, order.StatusRefunded)
	w.balance(id, 0)
	w.equal("nothing was set up", w.count(`select count(*) from saga_run where key like 'provision:%'`), 0)
}

func TestAProviderThatAsksForPeaceIsLeftAlone(t *testing.T) { // J-2
	t.Parallel()
	w := newWorld(t)
	var asked atomic.Int32
	w.pay.tell(func(call, _ string) error {
		if call == "fetch" {
			asked.Add(1)
			return &domain.Failure{Class: domain.Transient, Code: "rate_limited", RetryAfter: 40 * time.Minute, Err: context.DeadlineExceeded}
		}
		return nil
	}, nil)
	first, second := w.place(ordering{}), w.place(ordering{})
	w.goes()
	w.must(w.Payments.Hint(t.Context(), first, "return"))
	later := `select count(*) from payment_watch where order_id = $1 and next_at > now() + interval '30 minutes'`
	w.eventually("it is put off", func() bool { return w.count(later, first) == 1 })
	w.must(w.Payments.Hint(t.Context(), second, "return"))
	w.eventually("the other is put off too", func() bool { return w.count(later, second) == 1 })
	w.equal("questions", asked.Load(), 1)
	w.equal("failures of the other", w.count(`select coalesce(sum(fails), 0) from payment_watch where order_id = $1`, second), 0)
}
