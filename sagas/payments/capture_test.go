package payments_test

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
	"hostpanel/sagas/sagastest"
)

// clocked lets a world begin now and go on when the test says so.
func clocked(o *assembly.Options) *sagastest.HandClock {
	c := &sagastest.HandClock{}
	c.Set(time.Now())
	sagastest.ByHand(c.Now)(o)
	return c
}

// approved is an order whose customer has agreed to pay.
func approved(w *sagastest.World) uuid.UUID {
	w.T.Helper()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Approve(id, w.Runner.Now())
	return id
}

func TestAnApprovalIsCapturedOnceHoweverOftenItIsTold(t *testing.T) { // F-3, T5, P-8
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := approved(w)
	atOnce(w, 100, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.Webhook("evt_1", id)
	})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Eventually("the capture is done", func() bool { return w.RunOf("capture:"+id.String()).Status == sagas.StatusDone })
	w.Equal("captures", w.Pay.Captures(id), 1)
	w.Equal("rows in the inbox", w.Count(`select count(*) from webhook_inbox`), 1)
	w.Equal("provisioning runs", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func TestACaptureWhoseAnswerIsLostIsNotMadeTwice(t *testing.T) { // F-12, P-2
	t.Parallel()
	w := sagastest.NewWorld(t)
	var lost atomic.Bool
	w.Pay.Tell(nil, func(call, _ string) error {
		if call == "capture" && lost.CompareAndSwap(false, true) {
			return domain.Fail(domain.Unknown, "no_answer", context.DeadlineExceeded)
		}
		return nil
	})
	w.Goes()
	id := approved(w)
	w.Must(w.Webhook("evt_1", id))
	w.Becomes(id, order.StatusActive)
	w.Eventually("the capture is found", func() bool { return w.RunOf("capture:"+id.String()).Status == sagas.StatusDone })
	w.Equal("captures", w.Pay.Captures(id), 1)
	w.Equal("ledger", w.Count(`select count(*) from effect where step = 'capture' and state = 'confirmed'`), 1)
}

func TestAStoredFailureIsLookedUpAndSentUnderAnotherKey(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond }).Goes()
	id := w.Place(sagastest.OrderForm{})
	first := "order/" + id.String() + "/capture"
	w.Pay.Stores(first)
	w.Pay.Approve(id, w.Runner.Now())
	w.Must(w.Webhook("evt_1", id))
	w.Becomes(id, order.StatusActive)
	w.Equal("captures", w.Pay.Captures(id), 1)
	w.Equal("the next generation came", w.Pay.Came(first+"/g2"), true)
	w.Equal("generation", w.Count(`select generation from effect where step = 'capture'`), 2)
}

func TestAKeyThatIsADayOldIsNotSentAgain(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond })
	id := approved(w)
	key := "order/" + id.String() + "/capture"
	var old atomic.Bool
	w.Pay.Tell(func(call, _ string) error {
		if call == "capture" && old.CompareAndSwap(false, true) {
			_, err := w.Pool.Exec(context.Background(), `update effect set keyed_at = now() - interval '24 hours' where step = 'capture'`)
			if err != nil {
				return err
			}
			return domain.Fail(domain.Unknown, "no_answer", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	w.Must(w.Webhook("evt_1", id))
	w.Becomes(id, order.StatusActive)
	w.Equal("captures", w.Pay.Captures(id), 1)
	w.Equal("sent under the old key", w.Pay.Came(key), false)
	w.Equal("sent under the next", w.Pay.Came(key+"/g2"), true)
}

func TestNothingIsCapturedAfterTheDeadline(t *testing.T) { // F-20, P-8, T9
	t.Parallel()
	var c *sagastest.HandClock
	w := sagastest.NewWorld(t, func(o *assembly.Options) { c = clocked(o) })
	var down atomic.Bool
	down.Store(true)
	w.Pay.Tell(func(call, _ string) error {
		if call == "capture" && down.Load() {
			return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Place(sagastest.OrderForm{Email: "lost@example.com"})
	w.Pay.Approve(id, w.Runner.Now())
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("it has been tried", func() bool { return attemptsAt(w, "capture") > 1 })
	c.Move(164 * time.Minute)
	w.Must(w.Payments.Hint(t.Context(), id, "operator"))
	still(w, id, order.StatusPaymentProcessing)
	c.Move(2 * time.Minute)
	down.Store(false)
	w.Eventually("the capture is given up", func() bool { return w.RunOf("capture:" + id.String()).Over() })
	w.Must(w.Payments.Hint(t.Context(), id, "clock"))
	w.Becomes(id, order.StatusCancelled)
	w.Equal("reason", w.Order(id).Cause, order.CaptureDeadline)
	w.Equal("captures", w.Pay.Captures(id), 0)
	w.Eventually("the customer is told", func() bool { return len(w.Mail.To("lost@example.com")) == 1 })
	m := w.Mail.To("lost@example.com")[0]
	if !strings.Contains(m.Text, "no se ha podido cobrar") || strings.Count(m.Text, "http") != 1 || !strings.Contains(
		m.Text, "http://127.0.0.1:8080"+order.ReturnPage(id)+"?outcome=cancel\n",
	) {
		t.Errorf("the mail says %q", m.Text)
	}
}

// attemptsAt counts the attempts at all steps of a name.
func attemptsAt(w *sagastest.World, step string) int {
	w.T.Helper()
	return w.Count(`select count(*) from saga_attempt a join saga_run r on r.id = a.saga_id where r.steps -> a.step ->> 'name' = $1`, step)
}

// checked counts the checks of orders by this process.
func checked(w *sagastest.World) int64 {
	w.T.Helper()
	g, err := w.Payments.Gauges(w.T.Context())
	w.Must(err)
	return g.Checked
}

// still checks that a look at the order has not changed its status.
func still(w *sagastest.World, id uuid.UUID, status order.Status) {
	w.T.Helper()
	before := checked(w)
	w.Must(w.Payments.Hint(w.T.Context(), id, "test"))
	w.Eventually("it has been looked at", func() bool { return checked(w) > before })
	w.Equal("status", w.Order(id).Status, status)
}

func TestAStoredFailureDoesNotKeepAnOrderFromItsSession(t *testing.T) { // F-21, S-6, T4
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Placed(sagastest.OrderForm{})
	w.Pay.Stores(fmt.Sprintf("order/%s/session/1", id))
	_, err := w.Payments.Pages.OpenSession(t.Context(), id)
	w.Equal("the first request", domain.CodeOf(err), domain.Unavailable)
	session, err := w.Payments.Pages.OpenSession(t.Context(), id)
	w.Must(err)
	w.Equal("session", session.ID, sagastest.SessionOf(id))
	w.Equal("the next key came", w.Pay.Came(fmt.Sprintf("order/%s/session/2", id)), true)
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
}
