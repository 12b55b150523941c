package assembly_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// clocked lets a world begin now and go on when the test says so.
func clocked(o *assembly.Options) *handClock {
	c := &handClock{}
	c.set(time.Now())
	byHand(c.now)(o)
	return c
}

func (c *handClock) move(d time.Duration) { c.at.Add(int64(d)) }

// approved is an order whose customer has agreed to pay.
func (w *world) approved() uuid.UUID {
	w.t.Helper()
	id := w.place(ordering{})
	w.pay.approve(id, w.Now())
	return id
}

func TestAnApprovalIsCapturedOnceHoweverOftenItIsTold(t *testing.T) { // F-3, T5, P-8
	t.Parallel()
	w := newWorld(t).goes()
	id := w.approved()
	w.atOnce(100, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.webhook("evt_1", id)
	})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.eventually("the capture is done", func() bool { return w.runOf("capture:"+id.String()).Status == sagas.StatusDone })
	w.equal("captures", w.pay.captures(id), 1)
	w.equal("rows in the inbox", w.count(`select count(*) from webhook_inbox`), 1)
	w.equal("provisioning runs", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func TestACaptureWhoseAnswerIsLostIsNotMadeTwice(t *testing.T) { // F-12, P-2
	t.Parallel()
	w := newWorld(t)
	var lost atomic.Bool
	w.pay.tell(nil, func(call, _ string) error {
		if call == "capture" && lost.CompareAndSwap(false, true) {
			return domain.Fail(domain.Unknown, "no_answer", context.DeadlineExceeded)
		}
		return nil
	})
	w.goes()
	id := w.approved()
	w.must(w.webhook("evt_1", id))
	w.becomes(id, order.StatusActive)
	w.eventually("the capture is found", func() bool { return w.runOf("capture:"+id.String()).Status == sagas.StatusDone })
	w.equal("captures", w.pay.captures(id), 1)
	w.equal("ledger", w.count(`select count(*) from effect where step = 'capture' and state = 'confirmed'`), 1)
}

func TestAStoredFailureIsLookedUpAndSentUnderAnotherKey(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond }).goes()
	id := w.place(ordering{})
	first := "order/" + id.String() + "/capture"
	w.pay.stores(first)
	w.pay.approve(id, w.Now())
	w.must(w.webhook("evt_1", id))
	w.becomes(id, order.StatusActive)
	w.equal("captures", w.pay.captures(id), 1)
	w.equal("the next generation came", w.pay.came(first+"/g2"), true)
	w.equal("generation", w.count(`select generation from effect where step = 'capture'`), 2)
}

func TestAKeyThatIsADayOldIsNotSentAgain(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond })
	id := w.approved()
	key := "order/" + id.String() + "/capture"
	var old atomic.Bool
	w.pay.tell(func(call, _ string) error {
		if call == "capture" && old.CompareAndSwap(false, true) {
			_, err := w.pool.Exec(context.Background(), `update effect set keyed_at = now() - interval '24 hours' where step = 'capture'`)
			if err != nil {
				return err
			}
			return domain.Fail(domain.Unknown, "no_answer", errLie)
		}
		return nil
	}, nil)
	w.goes()
	w.must(w.webhook("evt_1", id))
	w.becomes(id, order.StatusActive)
	w.equal("captures", w.pay.captures(id), 1)
	w.equal("sent under the old key", w.pay.came(key), false)
	w.equal("sent under the next", w.pay.came(key+"/g2"), true)
}

func TestNothingIsCapturedAfterTheDeadline(t *testing.T) { // F-20, P-8, T9
	t.Parallel()
	var c *handClock
	w := newWorld(t, func(o *assembly.Options) { c = clocked(o) })
	var down atomic.Bool
	down.Store(true)
	w.pay.tell(func(call, _ string) error {
		if call == "capture" && down.Load() {
			return domain.Fail(domain.Transient, "down", errLie)
		}
		return nil
	}, nil)
	w.goes()
	id := w.place(ordering{email: "lost@example.com"})
	w.pay.approve(id, w.Now())
	w.must(w.webhook("evt_1", id))
	w.eventually("it has been tried", func() bool { return w.attemptsAt("capture") > 1 })
	c.move(164 * time.Minute)
	w.must(w.Payments.Hint(t.Context(), id, "operator"))
	w.still(id, order.StatusPaymentProcessing)
	c.move(2 * time.Minute)
	down.Store(false)
	w.eventually("the capture is given up", func() bool { return w.runOf("capture:" + id.String()).Over() })
	w.must(w.Payments.Hint(t.Context(), id, "clock"))
	w.becomes(id, order.StatusCancelled)
	w.equal("reason", w.order(id).Cause, order.CaptureDeadline)
	w.equal("captures", w.pay.captures(id), 0)
	w.eventually("the customer is told", func() bool { return len(w.mail.to("lost@example.com")) == 1 })
	m := w.mail.to("lost@example.com")[0]
	if !strings.Contains(m.Text, "no se ha podido cobrar") || strings.Count(m.Text, "http") != 1 || !strings.Contains(m.Text, "http://127.0.0.1:8080"+order.ReturnPage(id)+"?outcome=cancel\n") {
		t.Errorf("the mail says %q", m.Text)
	}
}

func TestACaptureThatGotThroughIsHonouredAfterTheDeadline(t *testing.T) { // F-20
	t.Parallel()
	var c *handClock
	w := newWorld(t, func(o *assembly.Options) { c = clocked(o) })
	var down atomic.Bool
	w.pay.tell(func(call, _ string) error {
		if down.Load() {
			return domain.Fail(domain.Transient, "down", errLie)
		}
		return nil
	}, func(call, _ string) error {
		if call == "capture" { // it gets through, and from then on nothing is heard
			down.Store(true)
			return domain.Fail(domain.Unknown, "no_answer", errLie)
		}
		return nil
	})
	w.goes()
	id := w.approved()
	w.must(w.webhook("evt_1", id))
	w.eventually("it got through", func() bool { return w.pay.captures(id) == 1 })
	c.move(3 * time.Hour)
	w.must(w.Payments.Hint(t.Context(), id, "clock"))
	w.eventually("operators are told", func() bool { return w.warned("a payment provider does not answer") })
	w.equal("status while no provider answers", w.order(id).Status, order.StatusPaymentProcessing)
	down.Store(false)
	w.becomes(id, order.StatusActive)
	w.equal("captures", w.pay.captures(id), 1)
}

// attemptsAt counts the attempts at all steps of a name.
func (w *world) attemptsAt(step string) int {
	w.t.Helper()
	return w.count(`select count(*) from saga_attempt a join saga_run r on r.id = a.saga_id where r.steps -> a.step ->> 'name' = $1`, step)
}

// checked counts the checks of orders by this process.
func (w *world) checked() int64 {
	w.t.Helper()
	g, err := w.Payments.Gauges(w.t.Context())
	w.must(err)
	return g.Checked
}

// still checks that a look at the order has not changed its status.
func (w *world) still(id uuid.UUID, status order.Status) {
	w.t.Helper()
	before := w.checked()
	w.must(w.Payments.Hint(w.t.Context(), id, "test"))
	w.eventually("it has been looked at", func() bool { return w.checked() > before })
	w.equal("status", w.order(id).Status, status)
}

func TestAStoredFailureDoesNotKeepAnOrderFromItsSession(t *testing.T) { // F-21, S-6, T4
	t.Parallel()
	w := newWorld(t)
	id := w.placed(ordering{})
	w.pay.stores(fmt.Sprintf("order/%s/session/1", id))
	_, err := w.Payments.OpenSession(t.Context(), id)
	w.equal("the first request", domain.CodeOf(err), domain.Unavailable)
	session, err := w.Payments.OpenSession(t.Context(), id)
	w.must(err)
	w.equal("session", session.ID, sessionOf(id))
	w.equal("the next key came", w.pay.came(fmt.Sprintf("order/%s/session/2", id)), true)
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
}
