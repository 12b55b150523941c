package assembly

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
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

func TestAWebhookMayComeBeforeItsOrder(t *testing.T) { // I-11
	t.Parallel()
	w := newWorld(t).goes()
	id := w.placedLater()
	w.must(w.webhook("evt_early", id))
	w.eventually("the order was unknown", func() bool { return w.count(`select count(*) from webhook_inbox where next_at > received_at`) > 0 })
	w.equal("state", w.inboxState("evt_early"), "stored")
	w.equal("attempts", w.count(`select attempts from webhook_inbox`), 0)
	w.pay.put(order.Fetched{Provider: "test", Session: sessionOf(id), Order: id, State: order.SessionOpen})
	w.placeAs(id)
	w.pay.pay(id, nil)
	w.must(w.Payments.Hint(t.Context(), id, "return"))
	w.becomes(id, order.StatusActive)
	w.eventually("the webhook found its order", func() bool { return w.inboxState("evt_early") == "done" })
}

func TestAWebhookWithoutAnOrderIsPutAsideUntilItsSessionOpens(t *testing.T) { // I-11
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Times.InboxMatch = 10 * time.Millisecond }).goes()
	id := w.placedLater()
	w.must(w.webhook("evt_lonely", id))
	w.eventually("it is put aside", func() bool { return w.inboxState("evt_lonely") == "unmatched" })
	if !w.warned("a webhook belongs to no order") {
		t.Error("no operator was told")
	}
	w.placeAs(id)
	w.eventually("it found its order", func() bool { return w.inboxState("evt_lonely") == "done" })
}

func (w *world) inboxState(event string) (state string) {
	w.t.Helper()
	w.must(w.pool.QueryRow(w.t.Context(), `select state from webhook_inbox where event_id = $1`, event).Scan(&state))
	return state
}

func TestALostWebhookIsMadeUpForByTheWatch(t *testing.T) { // J-1
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Times.SessionChecks[0] = 50 * time.Millisecond }).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.becomes(id, order.StatusActive)
	w.equal("webhooks", w.count(`select count(*) from webhook_inbox`), 0)
}

func TestWithoutWakeUpsEverythingIsOnlySlower(t *testing.T) { // G-6
	t.Parallel()
	w := newWorld(t)
	w.silent = true
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.settled(id)
}

func TestABadSignatureLeavesNothingBehind(t *testing.T) { // I-5
	t.Parallel()
	w := newWorld(t)
	err := w.Payments.Receive(t.Context(), "test", []byte(`{}`), map[string][]string{"X-Test-Signature": {"bad"}})
	w.equal("refusal", domain.CodeOf(err), domain.Invalid)
	w.equal("rows", w.count(`select count(*) from webhook_inbox`), 0)
	w.equal("an unknown provider", domain.CodeOf(w.Payments.Receive(t.Context(), "barter", nil, nil)), domain.NotFound)
}

func TestASecondBodyUnderOneIDIsFlagged(t *testing.T) { // I-6
	t.Parallel()
	w := newWorld(t)
	id := uuid.New()
	w.must(w.webhook("evt_1", id))
	w.must(w.webhook("evt_1", uuid.New()))
	w.equal("rows", w.count(`select count(*) from webhook_inbox`), 1)
	w.equal("flagged", w.count(`select count(*) from webhook_inbox where error like '%another body%' and order_id = $1`, id), 1)
	if !w.warned("another body") {
		t.Error("no operator was told")
	}
}

func TestATypeThatWeDoNotActOnIsKeptAndIgnored(t *testing.T) { // I-8
	t.Parallel()
	w := newWorld(t)
	body := bytes.ReplaceAll(newsBody("evt_other", uuid.New()), []byte(`"Handled":true`), []byte(`"Handled":false`))
	w.must(w.Payments.Receive(t.Context(), "test", body, signed))
	w.equal("state", w.inboxState("evt_other"), "ignored")
}

func TestAnInboxThatFailsForAWhileBooksOnce(t *testing.T) { // F-10, I-17
	t.Parallel()
	w := newWorld(t)
	var failures atomic.Int32
	w.inboxFault = func() error {
		if failures.Add(1) <= 5 {
			return errLie
		}
		return nil
	}
	w.goes()
	id := w.buy(ordering{})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	// Readers that fail at the same moment count as one.
	if attempts := w.count(`select attempts from webhook_inbox`); attempts < 2 || attempts > 6 {
		t.Errorf("%d attempts", attempts)
	}
}

// A webhook waits for its order while handling it fails now and then. Only failures in
// a row are a reason to give it to an operator.
func TestAWebhookThatWaitsOutlivesFailuresInBetween(t *testing.T) { // I-17
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Times.InboxMatch = time.Minute })
	var handled atomic.Int32
	w.inboxFault = func() error {
		if handled.Add(1)%3 == 0 {
			return errLie
		}
		return nil
	}
	w.goes()
	id := w.placedLater()
	w.must(w.webhook("evt_patient", id))
	w.eventually("it has failed more often than one may in a row", func() bool { return handled.Load() > 3*12 })
	w.equal("state", w.inboxState("evt_patient"), "stored")
	w.placeAs(id)
	w.eventually("it found its order", func() bool { return w.inboxState("evt_patient") == "done" })
}

func TestAWebhookThatAlwaysFailsIsParkedAndCanBeReplayed(t *testing.T) { // I-17, I-18
	t.Parallel()
	w := newWorld(t)
	var broken atomic.Bool
	broken.Store(true)
	w.inboxFault = func() error {
		if broken.Load() {
			return errLie
		}
		return nil
	}
	w.goes()
	id := w.buy(ordering{})
	event := "evt_" + id.String()
	w.eventually("it is parked", func() bool { return w.inboxState(event) == "parked" })
	w.equal("attempts", w.count(`select attempts from webhook_inbox`), 10)
	broken.Store(false)
	n, err := w.Payments.CountWebhooks(t.Context(), operations.WebhookPick{State: "parked"})
	w.must(err)
	w.equal("would be replayed", n, 1)
	w.equal("state after a dry run", w.inboxState(event), "parked")
	_, err = w.Payments.ReplayWebhooks(t.Context(), operator, operations.WebhookPick{State: "parked"}, "")
	w.must(err)
	w.becomes(id, order.StatusActive)
	for range 3 { // replaying what is done changes nothing
		_, err = w.Payments.ReplayWebhooks(t.Context(), operator, operations.WebhookPick{Provider: "test"}, "")
		w.must(err)
		w.eventually("it is done again", func() bool { return w.inboxState(event) == "done" })
	}
	w.settled(id)
	rows, err := w.Payments.LatestWebhooks(t.Context(), operations.WebhookPick{Order: id})
	w.must(err)
	if len(rows) != 1 || !strings.Contains(string(rows[0].Headers), "***") {
		t.Errorf("the signature should be masked: %s", rows[0].Headers)
	}
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
	w.equal("opened", w.pay.opened[sessionOf(id)], 1)
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
	w := newWorld(t, func(o *Options) { o.Times.PendingTTL = 100 * time.Millisecond }).goes()
	id := w.placed(ordering{}) // no session is requested: a reaction to the log schedules the check
	w.becomes(id, order.StatusCancelled)
	w.equal("reason", w.order(id).Cause, order.NoSession)
}

func TestAnUnpaidOrderIsGivenUpAfterALookAtTheProvider(t *testing.T) { // T9
	t.Parallel()
	w := newWorld(t, func(o *Options) {
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
	w := newWorld(t, func(o *Options) {
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
