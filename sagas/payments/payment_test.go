package payments_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestAHundredEqualWebhooksAtOnceCountOnce(t *testing.T) { // F-3, I-6
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	atOnce(w, 100, func(int) error { return w.Webhook("evt_1", id) })
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("rows in the inbox", w.Count(`select count(*) from webhook_inbox`), 1)
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func atOnce(w *sagastest.World, n int, do func(i int) error) {
	w.T.Helper()
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			if err := do(i); err != nil {
				w.T.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestAPaymentThatIsNotAsOrderedIsHeld(t *testing.T) { // F-7, T11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	for name, change := range map[string]func(*order.Payment){
		"one cent less":    func(p *order.Payment) { p.Minor-- },
		"one cent more":    func(p *order.Payment) { p.Minor++ },
		"another currency": func(p *order.Payment) { p.Currency = "USD" },
	} {
		id := w.Place(sagastest.OrderForm{})
		w.Pay.Pay(id, change)
		w.Must(w.Webhook("evt_"+id.String(), id))
		w.Eventually(name+" is held", func() bool { return w.Order(id).OnHold() })
		w.Equal(name, w.Order(id).Status, order.StatusPaymentProcessing)
	}
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 0)
}

func TestAForeignSessionWithOurOrderIsNoPayment(t *testing.T) { // I-10
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Put(order.Fetched{
		Provider: "test", Session: "cs_foreign", Order: id, State: order.SessionComplete,
		Payments: []order.Payment{{ID: "pay_foreign", State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}},
	})
	body := bytes.ReplaceAll(sagastest.NewsBody("evt_foreign", id), []byte(sagastest.SessionOf(id)), []byte("cs_foreign"))
	w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 0)
}

func TestAWebhookThatLiesChangesNothing(t *testing.T) { // I-12
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{})
	before := checked(w)
	w.Must(w.Webhook("evt_lie", id)) // it says paid; the provider says open
	w.Eventually("the order was looked at", func() bool { return checked(w) > before })
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 0)
}

func TestWithoutWakeUpsEverythingIsOnlySlower(t *testing.T) { // G-6
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Silent.To(true)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
}

func TestOnePaymentPaysOneOrderOnly(t *testing.T) { // I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	first := w.Buy(sagastest.OrderForm{})
	w.Becomes(first, order.StatusActive)
	second := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(second, func(p *order.Payment) { p.ID = "pay_" + first.String() })
	w.Must(w.Webhook("evt_second", second))
	w.Eventually("an operator is told", func() bool { return w.Warned("a payment that belongs to another order") })
	w.Equal("status", w.Order(second).Status, order.StatusPaymentProcessing)
}

func TestAProviderThatIsDownIsAskedAgainForEver(t *testing.T) { // J-2
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	w.Pay.Tell(func(call, _ string) error {
		if call == "fetch" {
			return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("an operator is told", func() bool { return w.Warned("a payment provider does not answer") })
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
	w.Pay.Reset()
	w.Becomes(id, order.StatusActive)
}

func TestASessionIsOpenedOnce(t *testing.T) { // T2
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Placed(sagastest.OrderForm{})
	atOnce(w, 8, func(int) error { _, err := w.Payments.Pages.OpenSession(t.Context(), id); return err })
	again, err := w.Payments.Pages.OpenSession(t.Context(), id)
	w.Must(err)
	w.Equal("session", again.ID, sagastest.SessionOf(id))
	w.Equal("opened", w.Pay.Openings(id), 1)
	w.Equal("opened, in the log", w.Often(order.Stream(id), "order.payment_session_opened"), 1)
}

func TestAnOrderWhoseProviderIsAwayStaysPendingAndCanGoOn(t *testing.T) { // T3
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Placed(sagastest.OrderForm{})
	for n, fails := range []struct {
		class domain.Class
		known string // of the session, by the ledger
	}{{domain.Permanent, "absent"}, {domain.Transient, "absent"}, {domain.Unknown, "unknown"}} {
		w.Pay.Tell(func(string, string) error { return domain.Fail(fails.class, "away", sagastest.ErrLie) }, nil)
		_, err := w.Payments.Pages.OpenSession(t.Context(), id)
		var refusal *domain.Error
		if !errors.As(err, &refusal) || refusal.Reason != "payment_provider_unavailable" {
			t.Fatalf("got %v", err)
		}
		w.Equal("status", w.Order(id).Status, order.StatusPending)
		w.Equal("failures on record", w.Often(order.Stream(id), "order.payment_session_failed"), n+1)
		w.Equal("the session", w.Text(`select state from effect where key = $1`, sagas.EffectKey(id, "session")), fails.known)
	}
	w.Pay.Reset()
	_, err := w.Payments.Pages.OpenSession(t.Context(), id)
	w.Must(err)
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
}

func TestASessionElsewhereIsRefused(t *testing.T) { // T2
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Placed(sagastest.OrderForm{})
	w.Pay.SetHost("evil.example.com")
	_, err := w.Payments.Pages.OpenSession(t.Context(), id)
	w.Equal("refusal", domain.CodeOf(err), domain.Unavailable)
	w.Equal("status", w.Order(id).Status, order.StatusPending)
}

func TestAnOrderWithoutASessionIsGivenUp(t *testing.T) { // T4
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.PendingTTL = 100 * time.Millisecond }).Goes()
	id := w.Placed(sagastest.OrderForm{}) // no session is requested: a reaction to the log schedules the check
	w.Becomes(id, order.StatusCancelled)
	w.Equal("reason", w.Order(id).Cause, order.NoSession)
}

func TestAnUnpaidOrderIsGivenUpAfterALookAtTheProvider(t *testing.T) { // T9
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		o.Times.OrderTTL = 300 * time.Millisecond
		o.Times.SessionChecks[0] = 50 * time.Millisecond
	}).Goes()
	unpaid, paid := w.Place(sagastest.OrderForm{}), w.Place(sagastest.OrderForm{})
	w.Pay.Pay(paid, nil) // no webhook: at the end of its time it is found paid
	w.Becomes(unpaid, order.StatusCancelled)
	w.Equal("reason", w.Order(unpaid).Cause, order.Expired)
	w.Becomes(paid, order.StatusActive)
}
