package assembly_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
)

func TestAHundredEqualWebhooksAtOnceCountOnce(t *testing.T) { // F-3, I-6
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.atOnce(100, func(int) error { return w.webhook("evt_1", id) })
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.equal("rows in the inbox", w.count(`select count(*) from webhook_inbox`), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func TestAHundredEventsAboutOnePaymentBookItOnce(t *testing.T) { // F-4, I-14
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.atOnce(100, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.webhook(fmt.Sprintf("evt_%d", i), id)
	})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	w.eventually("every webhook is done", func() bool { return w.count(`select count(*) from webhook_inbox where state = 'done'`) == 100 })
	w.equal("payments booked", w.count(`select count(*) from payment_object`), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func (w *world) atOnce(n int, do func(i int) error) {
	w.t.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := do(i); err != nil {
				w.t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestAPaymentThatIsNotAsOrderedIsHeld(t *testing.T) { // F-7, T11
	t.Parallel()
	w := newWorld(t).goes()
	for name, change := range map[string]func(*order.Payment){
		"one cent less":    func(p *order.Payment) { p.Minor-- },
		"one cent more":    func(p *order.Payment) { p.Minor++ },
		"another currency": func(p *order.Payment) { p.Currency = "USD" },
	} {
		id := w.place(ordering{})
		w.pay.pay(id, change)
		w.must(w.webhook("evt_"+id.String(), id))
		w.eventually(name+" is held", func() bool { return w.order(id).OnHold() })
		w.equal(name, w.order(id).Status, order.StatusPaymentProcessing)
	}
	w.equal("runs", w.count(`select count(*) from saga_run`), 0)
}

func TestAForeignSessionWithOurOrderIsNoPayment(t *testing.T) { // I-10
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{})
	w.pay.put(order.Fetched{
		Provider: "test", Session: "cs_foreign", Order: id, State: order.SessionComplete,
		Payments: []order.Payment{{ID: "pay_foreign", State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}},
	})
	body := bytes.ReplaceAll(newsBody("evt_foreign", id), []byte(sessionOf(id)), []byte("cs_foreign"))
	w.must(w.Payments.Receive(t.Context(), "test", body, signed))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.equal("runs", w.count(`select count(*) from saga_run`), 0)
}

func TestAWebhookThatLiesChangesNothing(t *testing.T) { // I-12
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{})
	before := w.checked()
	w.must(w.webhook("evt_lie", id)) // it says paid; the provider says open
	w.eventually("the order was looked at", func() bool { return w.checked() > before })
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.equal("runs", w.count(`select count(*) from saga_run`), 0)
}

func TestALostWebhookIsMadeUpForByTheWatch(t *testing.T) { // J-1
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.SessionChecks[0] = 50 * time.Millisecond }).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.becomes(id, order.StatusActive)
	w.equal("webhooks", w.count(`select count(*) from webhook_inbox`), 0)
}

func TestWithoutWakeUpsEverythingIsOnlySlower(t *testing.T) { // G-6
	t.Parallel()
	w := newWorld(t)
	w.silent.to(true)
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.settled(id)
}

func TestOnePaymentPaysOneOrderOnly(t *testing.T) { // I-14
	t.Parallel()
	w := newWorld(t).goes()
	first := w.buy(ordering{})
	w.becomes(first, order.StatusActive)
	second := w.place(ordering{})
	w.pay.pay(second, func(p *order.Payment) { p.ID = "pay_" + first.String() })
	w.must(w.webhook("evt_second", second))
	w.eventually("an operator is told", func() bool { return w.warned("a payment that belongs to another order") })
	w.equal("status", w.order(second).Status, order.StatusPaymentProcessing)
}

func TestAProviderThatIsDownIsAskedAgainForEver(t *testing.T) { // J-2
	t.Parallel()
	w := newWorld(t)
	w.goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.pay.tell(func(call, _ string) error {
		if call == "fetch" {
			return domain.Fail(domain.Transient, "down", errLie)
		}
		return nil
	}, nil)
	w.must(w.webhook("evt_1", id))
	w.eventually("an operator is told", func() bool { return w.warned("a payment provider does not answer") })
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.pay.reset()
	w.becomes(id, order.StatusActive)
}

func TestASessionIsOpenedOnce(t *testing.T) { // T2
	t.Parallel()
	w := newWorld(t)
	id := w.placed(ordering{})
	w.atOnce(8, func(int) error { _, err := w.Payments.OpenSession(t.Context(), id); return err })
	again, err := w.Payments.OpenSession(t.Context(), id)
	w.must(err)
	w.equal("session", again.ID, sessionOf(id))
	w.equal("opened", w.pay.openings(id), 1)
	w.equal("opened, in the log", w.often(order.Stream(id), "order.payment_session_opened"), 1)
}

func TestAnOrderWhoseProviderIsAwayStaysPendingAndCanGoOn(t *testing.T) { // T3
	t.Parallel()
	w := newWorld(t)
	id := w.placed(ordering{})
	w.pay.tell(func(string, string) error { return domain.Fail(domain.Unknown, "timeout", errLie) }, nil)
	_, err := w.Payments.OpenSession(t.Context(), id)
	var refusal *domain.Error
	if !errors.As(err, &refusal) || refusal.Reason != "payment_provider_unavailable" {
		t.Fatalf("got %v", err)
	}
	w.equal("status", w.order(id).Status, order.StatusPending)
	w.equal("failures on record", w.often(order.Stream(id), "order.payment_session_failed"), 1)
	w.pay.reset()
	_, err = w.Payments.OpenSession(t.Context(), id)
	w.must(err)
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
}

func TestASessionElsewhereIsRefused(t *testing.T) { // T2
	t.Parallel()
	w := newWorld(t)
	id := w.placed(ordering{})
	w.pay.setHost("evil.example.com")
	_, err := w.Payments.OpenSession(t.Context(), id)
	w.equal("refusal", domain.CodeOf(err), domain.Unavailable)
	w.equal("status", w.order(id).Status, order.StatusPending)
}

func TestAnOrderWithoutASessionIsGivenUp(t *testing.T) { // T4
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.PendingTTL = 100 * time.Millisecond }).goes()
	id := w.placed(ordering{}) // no session is requested: a reaction to the log schedules the check
	w.becomes(id, order.StatusCancelled)
	w.equal("reason", w.order(id).Cause, order.NoSession)
}

func TestAnUnpaidOrderIsGivenUpAfterALookAtTheProvider(t *testing.T) { // T9
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) {
		o.Times.OrderTTL = 300 * time.Millisecond
		o.Times.SessionChecks[0] = 50 * time.Millisecond
	}).goes()
	unpaid, paid := w.place(ordering{}), w.place(ordering{})
	w.pay.pay(paid, nil) // no webhook: at the end of its time it is found paid
	w.becomes(unpaid, order.StatusCancelled)
	w.equal("reason", w.order(unpaid).Cause, order.Expired)
	w.becomes(paid, order.StatusActive)
}

func TestAnOrderWhoseTimeRunsOutDuringALookIsLookedAtOnceMore(t *testing.T) { // T9, J-1
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) {
		o.Times.OrderTTL = 400 * time.Millisecond
		o.Times.SessionChecks[0] = 50 * time.Millisecond
	})
	w.pay.tell(func(call, _ string) error {
		if call == "fetch" {
			time.Sleep(500 * time.Millisecond) // the provider answers when the time is over
		}
		return nil
	}, nil)
	w.goes()
	id := w.place(ordering{})
	w.becomes(id, order.StatusCancelled)
	w.equal("reason", w.order(id).Cause, order.Expired)
}
