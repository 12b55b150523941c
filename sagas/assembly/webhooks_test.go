package assembly_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
)

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
	w := newWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).goes()
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
	w.inboxFault.to(func() error {
		if failures.Add(1) <= 5 {
			return errLie
		}
		return nil
	})
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
	w := newWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = time.Minute })
	var handled atomic.Int32
	w.inboxFault.to(func() error {
		if handled.Add(1)%3 == 0 {
			return errLie
		}
		return nil
	})
	w.goes()
	id := w.placedLater()
	w.must(w.webhook("evt_patient", id))
	w.eventually("it has failed more often than one may in a row", func() bool { return handled.Load() > 3*12 })
	w.equal("state", w.inboxState("evt_patient"), "stored")
	w.placeAs(id)
	w.eventually("it found its order", func() bool { return w.inboxState("evt_patient") == "done" })
}

// breakInbox lets each attempt at a webhook fail, as long as broken says so.
func (w *world) breakInbox() (broken *atomic.Bool) {
	broken = &atomic.Bool{}
	broken.Store(true)
	w.inboxFault.to(func() error {
		if broken.Load() {
			return errLie
		}
		return nil
	})
	return broken
}

func TestAWebhookThatAlwaysFailsIsParkedAndCanBeReplayed(t *testing.T) { // I-17, I-18
	t.Parallel()
	w := newWorld(t)
	broken := w.breakInbox()
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
