package assembly_test

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
)

func TestAWebhookOfTheOtherModeIsKeptAndIgnored(t *testing.T) { // I-8, F-7
	t.Parallel()
	w := newWorld(t).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	body := bytes.ReplaceAll(newsBody("evt_live", id), []byte(`"Live":false`), []byte(`"Live":true`))
	w.must(w.Payments.Receive(t.Context(), "test", body, signed))
	w.equal("state", w.inboxState("evt_live"), "ignored")
	if !w.warned("a webhook of the other mode") {
		t.Error("no user was told")
	}
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.equal("hints", w.count(`select count(*) from payment_watch where reason = 'webhook'`), 0)
}

func TestAReplayOfAThousandOldWebhooksChangesNothing(t *testing.T) { // I-18
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	_, err := w.pool.Exec(t.Context(), `
		insert into webhook_inbox (provider, event_id, type, object_ref, order_id, body, body_hash, headers, verified_by, state, received_at)
		select 'test', 'evt_old_' || n, 'paid', $2, $1, 'x', 'x', '{}', 'first', 'done', now() - interval '30 days'
		from generate_series(1, 1000) n`, id, sessionOf(id))
	w.must(err)
	before := len(w.happened(order.Stream(id)))
	old := operations.WebhookPick{To: w.Now().Add(-day)}
	n, err := w.Payments.CountWebhooks(t.Context(), old)
	w.must(err)
	w.equal("would be replayed", n, 1000)
	n, err = w.Payments.ReplayWebhooks(t.Context(), operator, old, "")
	w.must(err)
	w.equal("replayed", n, 1000)
	w.eventually("all are done again", func() bool { return w.count(`select count(*) from webhook_inbox where state = 'done'`) == 1001 })
	w.still(id, order.StatusActive)
	w.equal("facts", len(w.happened(order.Stream(id))), before)
}

func TestRowsAreKeptForEverAndBodiesForNinetyDays(t *testing.T) { // I-19
	t.Parallel()
	w := newWorld(t)
	for _, state := range []string{"done", "ignored", "stored", "unmatched", "parked"} {
		w.must(w.webhook("evt_"+state, uuid.New()))
		_, err := w.pool.Exec(t.Context(), `
			update webhook_inbox set state = $2, received_at = now() - interval '1 year' where event_id = $1`, "evt_"+state, state)
		w.must(err)
	}
	w.must(w.webhook("evt_young", uuid.New()))
	_, err := w.pool.Exec(t.Context(), `update webhook_inbox set state = 'done' where event_id = 'evt_young'`)
	w.must(err)
	w.must(w.Payments.SweepBodies(t.Context()))
	for event, kept := range map[string]bool{
		"evt_done": false, "evt_ignored": false, "evt_stored": true, "evt_unmatched": true, "evt_parked": true, "evt_young": true,
	} {
		w.equal(event+" has its body", w.count(`select count(*) from webhook_inbox where event_id = $1 and body is not null`, event) == 1, kept)
	}
	w.equal("rows", w.count(`select count(*) from webhook_inbox`), 6)
	id := uuid.New()
	w.must(w.webhook("evt_done", id)) // a year old, and still a duplicate
	w.equal("rows after it came again", w.count(`select count(*) from webhook_inbox`), 6)
	w.equal("it is not worked on again", w.inboxState("evt_done"), "done")
}

func TestOneSignatureThatFitsIsRemembered(t *testing.T) { // I-4
	t.Parallel()
	w := newWorld(t)
	w.must(w.webhook("evt_1", uuid.New()))
	w.equal("verified by", w.count(`select count(*) from webhook_inbox where verified_by = 'first'`), 1)
}

func TestAPaymentIsClosedTogetherWithWhatItStarts(t *testing.T) { // I-16, F-10
	t.Parallel()
	w := newWorld(t, func(o *assembly.Options) { o.Times.CheckCall, o.Times.CheckLease = 40*time.Second, time.Minute })
	w.pauses(sagas.LocalQueue)
	id := w.place(ordering{kind: "saas"})
	w.pay.pay(id, nil)
	var fetches atomic.Int64
	late, second := make(chan struct{}), make(chan struct{})
	w.pay.tell(func(call, _ string) error {
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
	w.must(w.webhook("evt_1", id))
	w.goes()
	w.eventually("the provider is asked", func() bool { return fetches.Load() == 1 })
	_, err := w.pool.Exec(t.Context(), `update payment_watch set lease_until = now() - interval '1 second'`)
	w.must(err)
	w.eventually("it is due again", func() bool { return fetches.Load() == 2 })
	close(late) // the first check goes on without its lease: nothing of it counts
	w.eventually("the late check is dropped", func() bool { return w.Fenced() == 1 })
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.equal("booked", w.count(`select count(*) from payment_object`), 0)
	close(second)
	w.becomes(id, order.StatusPaid)
	w.equal("booked", w.count(`select count(*) from payment_object`), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
	w.equal("the check is closed", w.count(`select count(*) from payment_watch where lease_until is null and next_at > now() + interval '1 hour'`), 1)
}
