package payments_test

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
	"hostpanel/sagas/sagastest"
)

func TestAWebhookMayComeBeforeItsOrder(t *testing.T) { // I-11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_early", id))
	w.Eventually("the order was unknown", func() bool {
		return w.Count(`select count(*) from webhook_inbox where next_at > received_at`) > 0
	})
	w.Equal("state", sagastest.InboxState(w, "evt_early"), "stored")
	w.Equal("attempts", w.Count(`select attempts from webhook_inbox`), 0)
	w.Pay.Put(order.Fetched{Provider: "test", Session: sagastest.SessionOf(id), Order: id, State: order.SessionOpen})
	sagastest.PlaceAs(w, id)
	w.Pay.Pay(id, nil)
	w.Must(w.Payments.Hint(t.Context(), id, "return"))
	w.Becomes(id, order.StatusActive)
	w.Eventually("the webhook found its order", func() bool { return sagastest.InboxState(w, "evt_early") == "done" })
}

func TestAWebhookWithoutAnOrderIsPutAsideUntilItsSessionOpens(t *testing.T) { // I-11
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_lonely", id))
	w.Eventually("it is put aside", func() bool { return sagastest.InboxState(w, "evt_lonely") == "unmatched" })
	if !w.Warned("a webhook belongs to no order") {
		t.Error("no operator was told")
	}
	sagastest.PlaceAs(w, id)
	w.Eventually("it found its order", func() bool { return sagastest.InboxState(w, "evt_lonely") == "done" })
}

func TestABadSignatureLeavesNothingBehind(t *testing.T) { // I-5
	t.Parallel()
	w := sagastest.NewWorld(t)
	err := w.Payments.Receive(t.Context(), "test", []byte(`{}`), map[string][]string{"X-Test-Signature": {"bad"}})
	w.Equal("refusal", domain.CodeOf(err), domain.Invalid)
	w.Equal("rows", w.Count(`select count(*) from webhook_inbox`), 0)
	w.Equal("an unknown provider", domain.CodeOf(w.Payments.Receive(t.Context(), "barter", nil, nil)), domain.NotFound)
}

func TestASecondBodyUnderOneIDIsFlagged(t *testing.T) { // I-6
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := uuid.New()
	w.Must(w.Webhook("evt_1", id))
	w.Must(w.Webhook("evt_1", uuid.New()))
	w.Equal("rows", w.Count(`select count(*) from webhook_inbox`), 1)
	w.Equal("flagged", w.Count(`select count(*) from webhook_inbox where error like '%another body%' and order_id = $1`, id), 1)
	if !w.Warned("another body") {
		t.Error("no operator was told")
	}
}

func TestATypeThatWeDoNotActOnIsKeptAndIgnored(t *testing.T) { // I-8
	t.Parallel()
	w := sagastest.NewWorld(t)
	body := bytes.ReplaceAll(sagastest.NewsBody("evt_other", uuid.New()), []byte(`"Handled":true`), []byte(`"Handled":false`))
	w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
	w.Equal("state", sagastest.InboxState(w, "evt_other"), "ignored")
}

func TestAnInboxThatFailsForAWhileBooksOnce(t *testing.T) { // F-10, I-17
	t.Parallel()
	w := sagastest.NewWorld(t)
	var failures atomic.Int32
	w.InboxFault.To(func() error {
		if failures.Add(1) <= 5 {
			return sagastest.ErrLie
		}
		return nil
	})
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	// Readers that fail at the same moment count as one.
	if attempts := w.Count(`select attempts from webhook_inbox`); attempts < 2 || attempts > 6 {
		t.Errorf("%d attempts", attempts)
	}
}

// A webhook waits for its order while handling it fails now and then. Only failures in
// a row are a reason to give it to an operator.
func TestAWebhookThatWaitsOutlivesFailuresInBetween(t *testing.T) { // I-17
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = time.Minute })
	var handled atomic.Int32
	w.InboxFault.To(func() error {
		if handled.Add(1)%3 == 0 {
			return sagastest.ErrLie
		}
		return nil
	})
	w.Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_patient", id))
	w.Eventually("it has failed more often than one may in a row", func() bool { return handled.Load() > 3*12 })
	w.Equal("state", sagastest.InboxState(w, "evt_patient"), "stored")
	sagastest.PlaceAs(w, id)
	w.Eventually("it found its order", func() bool { return sagastest.InboxState(w, "evt_patient") == "done" })
}

func TestAWebhookThatAlwaysFailsIsParkedAndCanBeReplayed(t *testing.T) { // I-17, I-18
	t.Parallel()
	w := sagastest.NewWorld(t)
	broken := sagastest.BreakInbox(w)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	event := "evt_" + id.String()
	w.Eventually("it is parked", func() bool { return sagastest.InboxState(w, event) == "parked" })
	w.Equal("attempts", w.Count(`select attempts from webhook_inbox`), 10)
	broken.Store(false)
	n, err := w.Payments.CountWebhooks(t.Context(), operations.WebhookPick{State: "parked"})
	w.Must(err)
	w.Equal("would be replayed", n, 1)
	w.Equal("state after a dry run", sagastest.InboxState(w, event), "parked")
	_, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{State: "parked"}, "")
	w.Must(err)
	w.Becomes(id, order.StatusActive)
	for range 3 { // replaying what is done changes nothing
		_, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{Provider: "test"}, "")
		w.Must(err)
		w.Eventually("it is done again", func() bool { return sagastest.InboxState(w, event) == "done" })
	}
	w.Settled(id)
	rows, err := w.Payments.LatestWebhooks(t.Context(), operations.WebhookPick{Order: id})
	w.Must(err)
	if len(rows) != 1 || !strings.Contains(string(rows[0].Headers), "***") {
		t.Errorf("the signature should be masked: %s", rows[0].Headers)
	}
}
