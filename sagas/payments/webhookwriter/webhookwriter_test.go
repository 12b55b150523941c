package webhookwriter

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
)

// held stores webhooks, of which all but the first wait together, and returns how many
// were new and how many were refused.
func held(t *testing.T, w *Writer, webhooks ...Webhook) (stored, refused int64) {
	t.Helper()
	owner := eventstoretest.Owner(t, w.pool.Config().ConnString())
	tx, err := owner.Begin(t.Context())
	if err == nil {
		_, err = tx.Exec(t.Context(), `lock table webhook_inbox in exclusive mode`)
	}
	if err != nil {
		t.Fatal(err)
	}
	var senders sync.WaitGroup
	var news, failures atomic.Int64
	for i, n := range webhooks {
		senders.Go(func() {
			fresh, err := w.Add(context.Background(), n)
			if err != nil {
				failures.Add(1)
			} else if fresh {
				news.Add(1)
			}
		})
		for waits := func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.busy && len(w.waiting) == i }; !waits(); {
			time.Sleep(time.Millisecond)
		}
	}
	if err := tx.Commit(t.Context()); err != nil && !errors.Is(err, pgx.ErrTxClosed) {
		t.Fatal(err)
	}
	senders.Wait()
	return news.Load(), failures.Load()
}

func emptyInbox(t *testing.T) *Writer {
	t.Helper()
	url := eventstoretest.URL(t, eventstore.Migration{Area: "sagas", Files: sagas.Migrations})
	return New(eventstoretest.Pool(t, url))
}

func webhookCalled(event string) Webhook {
	return Webhook{
		News: order.News{EventID: event, Type: "paid", VerifiedBy: "first"}, Provider: "test",
		Body: []byte("body of " + event), Hash: []byte(event), Headers: "{}", State: "stored",
	}
}

func (w *Writer) count(t *testing.T, what string) (n int64) {
	t.Helper()
	if err := w.pool.QueryRow(t.Context(), `select count(`+what+`) from webhook_inbox`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestOfEqualWebhooksThatComeAtOnceOneIsNew(t *testing.T) { // I-6
	t.Parallel()
	w := emptyInbox(t)
	transmitted, other := webhookCalled("evt_c"), webhookCalled("evt_d")
	transmitted.TransmissionID, other.TransmissionID = "t", "t"
	all := []Webhook{
		webhookCalled("evt_a"), webhookCalled("evt_a"), webhookCalled("evt_b"), webhookCalled("evt_b"),
		webhookCalled("evt_b"), transmitted, other,
	}
	if stored, refused := held(t, w, all...); stored != 3 || refused != 0 {
		t.Errorf("%d stored, %d refused", stored, refused)
	}
	if rows := w.count(t, "*"); rows != 3 {
		t.Errorf("%d rows", rows)
	}
}

func TestAWebhookThatCannotBeStoredStopsNoOther(t *testing.T) {
	t.Parallel()
	w := emptyInbox(t)
	bad := webhookCalled("evt_bad")
	bad.Type = "a\x00b" // which is no text to Postgres
	if stored, refused := held(
		t, w, webhookCalled("evt_1"), webhookCalled("evt_2"), bad, webhookCalled("evt_3"),
	); stored != 3 || refused != 1 {
		t.Errorf("%d stored, %d refused", stored, refused)
	}
	if rows := w.count(t, "*"); rows != 3 {
		t.Errorf("%d rows", rows)
	}
}
