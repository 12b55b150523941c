package payments_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

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
