package payments_test

import (
	"bytes"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestAWebhookOfTheOtherModeIsKeptAndIgnored(t *testing.T) { // I-8, F-7
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	body := bytes.ReplaceAll(sagastest.NewsBody("evt_live", id), []byte(`"Live":false`), []byte(`"Live":true`))
	w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
	w.Equal("state", sagastest.InboxState(w, "evt_live"), "ignored")
	if !w.Warned("a webhook of the other mode") {
		t.Error("no user was told")
	}
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
	w.Equal("hints", w.Count(`select count(*) from payment_watch where reason = 'webhook'`), 0)
}

// Two panels may use one account at a provider, each with an address for its webhooks. Both are
// told of all that happens.
func TestAWebhookOfAnotherPanelIsKeptAndIgnored(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = 10 * time.Millisecond }).Goes()
	for by, want := range map[string]string{"0123456789": "ignored", "": "unmatched", sagastest.Installation: "unmatched"} {
		event := "evt_" + by
		body := bytes.ReplaceAll(sagastest.NewsBody(event, uuid.New()), []byte(`"Installation":""`), []byte(`"Installation":"`+by+`"`))
		w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
		w.Eventually("the webhook of "+by, func() bool { return sagastest.InboxState(w, event) == want })
	}
	w.Equal("incidents", w.Count(`select count(*) from incidents where kind = 'webhook_unmatched'`), 2)
}

func TestAReplayOfAThousandOldWebhooksChangesNothing(t *testing.T) { // I-18
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	_, err := w.Pool.Exec(t.Context(), `
		insert into webhook_inbox (provider, event_id, type, object_ref, order_id, body, body_hash, headers, verified_by,
			state, received_at)
		select 'test', 'evt_old_' || n, 'paid', $2, $1, 'x', 'x', '{}', 'first', 'done', now() - interval '30 days'
		from generate_series(1, 1000) n`, id, sagastest.SessionOf(id))
	w.Must(err)
	before := len(w.Happened(order.Stream(id)))
	old := operations.WebhookPick{To: w.Runner.Now().Add(-sagastest.Day)}
	n, err := w.Payments.CountWebhooks(t.Context(), old)
	w.Must(err)
	w.Equal("would be replayed", n, 1000)
	n, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, old, "")
	w.Must(err)
	w.Equal("replayed", n, 1000)
	w.Eventually("all are done again", func() bool { return w.Count(`select count(*) from webhook_inbox where state = 'done'`) == 1001 })
	still(w, id, order.StatusActive)
	w.Equal("facts", len(w.Happened(order.Stream(id))), before)
}

func TestRowsAreKeptForEverAndBodiesForNinetyDays(t *testing.T) { // I-19
	t.Parallel()
	w := sagastest.NewWorld(t)
	for _, state := range []string{"done", "ignored", "stored", "unmatched", "parked"} {
		w.Must(w.Webhook("evt_"+state, uuid.New()))
		_, err := w.Pool.Exec(t.Context(), `
			update webhook_inbox set state = $2, received_at = now() - interval '1 year' where event_id = $1`, "evt_"+state, state)
		w.Must(err)
	}
	w.Must(w.Webhook("evt_young", uuid.New()))
	_, err := w.Pool.Exec(t.Context(), `update webhook_inbox set state = 'done' where event_id = 'evt_young'`)
	w.Must(err)
	w.Must(w.Payments.SweepBodies(t.Context()))
	for event, kept := range map[string]bool{
		"evt_done": false, "evt_ignored": false, "evt_stored": true, "evt_unmatched": true, "evt_parked": true, "evt_young": true,
	} {
		w.Equal(
			event+" has its body",
			w.Count(`select count(*) from webhook_inbox where event_id = $1 and body is not null`, event) == 1, kept,
		)
	}
	w.Equal("rows", w.Count(`select count(*) from webhook_inbox`), 6)
	id := uuid.New()
	w.Must(w.Webhook("evt_done", id)) // a year old, and still a duplicate
	w.Equal("rows after it came again", w.Count(`select count(*) from webhook_inbox`), 6)
	w.Equal("it is not worked on again", sagastest.InboxState(w, "evt_done"), "done")
}

func TestOneSignatureThatFitsIsRemembered(t *testing.T) { // I-4
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Must(w.Webhook("evt_1", uuid.New()))
	w.Equal("verified by", w.Count(`select count(*) from webhook_inbox where verified_by = 'first'`), 1)
}

func TestAPaymentIsClosedTogetherWithWhatItStarts(t *testing.T) { // I-16, F-10
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.CheckCall, o.Times.CheckLease = 40*time.Second, time.Minute })
	w.Pauses(sagas.LocalQueue)
	id := w.Place(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Pay(id, nil)
	var fetches atomic.Int64
	late, second := make(chan struct{}), make(chan struct{})
	w.Pay.Tell(func(call, _ string) error {
		if call == "fetch" {
			switch fetches.Add(1) {
			case 1:
				<-late
			case 2:
				<-second
			}
		}
		return nil
	}, nil)
	w.Must(w.Webhook("evt_1", id))
	w.Goes()
	w.Eventually("the provider is asked", func() bool { return fetches.Load() == 1 })
	_, err := w.Pool.Exec(t.Context(), `update payment_watch set lease_until = now() - interval '1 second'`)
	w.Must(err)
	w.Eventually("it is due again", func() bool { return fetches.Load() == 2 })
	close(late) // the first check goes on without its lease: nothing of it counts
	w.Eventually("the late check is dropped", func() bool { return w.Runner.Fenced() == 1 })
	w.Equal("status", w.Order(id).Status, order.StatusPaymentProcessing)
	w.Equal("booked", w.Count(`select count(*) from payment_object`), 0)
	close(second)
	w.Becomes(id, order.StatusPaid)
	w.Equal("booked", w.Count(`select count(*) from payment_object`), 1)
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
	w.Equal(
		"the check is closed",
		w.Count(`select count(*) from payment_watch where lease_until is null and next_at > now() + interval '1 hour'`), 1,
	)
}
