package assembly

import (
	"bytes"
	"testing"

	"hostpanel/domain/order"

	"github.com/google/uuid"
)

func TestAWebhookOfTheOtherModeIsKeptAndIgnored(t *testing.T) { // I-8, F-7
	w := newWorld(t).goes()
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	body := bytes.ReplaceAll(newsBody("evt_live", id), []byte(`"Live":false`), []byte(`"Live":true`))
	w.must(w.Receive(t.Context(), "test", body, signed))
	w.equal("state", w.inboxState("evt_live"), "ignored")
	if !w.warned("a webhook of the other mode") {
		t.Error("nobody was told")
	}
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.equal("hints", w.count(`select count(*) from payment_watch where reason = 'webhook'`), 0)
}

func TestAReplayOfAThousandOldWebhooksChangesNothing(t *testing.T) { // I-18
	w := newWorld(t).goes()
	id := w.bought()
	_, err := w.pool.Exec(t.Context(), `
		insert into webhook_inbox (provider, event_id, type, object_ref, order_id, body, body_hash, headers, verified_by, state, received_at)
		select 'test', 'evt_old_' || n, 'paid', $2, $1, 'x', 'x', '{}', 'first', 'done', now() - interval '30 days'
		from generate_series(1, 1000) n`, id, sessionOf(id))
	w.must(err)
	before := len(w.happened(order.Stream(id)))
	old := InboxFilter{To: w.Now().Add(-day)}
	n, err := w.CountWebhooks(t.Context(), old)
	w.must(err)
	w.equal("would be replayed", n, 1000)
	n, err = w.ReplayWebhooks(t.Context(), operator, old, "")
	w.must(err)
	w.equal("replayed", n, 1000)
	w.eventually("all are done again", func() bool { return w.count(`select count(*) from webhook_inbox where state = 'done'`) == 1001 })
	w.still(id, order.StatusActive)
	w.equal("facts", len(w.happened(order.Stream(id))), before)
}

func TestRowsAreKeptForEverAndBodiesForNinetyDays(t *testing.T) { // I-19
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
	w.must(w.sweepBodies(t.Context()))
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
	w := newWorld(t)
	w.must(w.webhook("evt_1", uuid.New()))
	w.equal("verified by", w.count(`select count(*) from webhook_inbox where verified_by = 'first'`), 1)
}

func TestAPaymentIsClosedTogetherWithWhatItStarts(t *testing.T) { // I-16, F-10
	w := newWorld(t)
	id := w.place(ordering{kind: "saas"})
	w.pay.pay(id, nil)
	w.must(w.webhook("evt_1", id))
	more, err := w.readOne(t.Context())
	w.must(err)
	w.equal("the webhook was due", more, true)
	_, due, err := w.nextCheck(t.Context()) // whoever took it dies before it looks
	w.must(err)
	w.equal("the check was due", due, true)
	_, err = w.pool.Exec(t.Context(), `update payment_watch set lease_until = now() - interval '1 second'`)
	w.must(err)
	first, due, err := w.nextCheck(t.Context())
	w.must(err)
	w.equal("it is due again", due, true)
	_, err = w.pool.Exec(t.Context(), `update payment_watch set lease_until = now() - interval '1 second'`)
	w.must(err)
	second, _, err := w.nextCheck(t.Context())
	w.must(err)
	w.must(w.check(t.Context(), first)) // it wakes up too late: nothing of it counts
	w.equal("status", w.order(id).Status, order.StatusPaymentProcessing)
	w.equal("booked", w.count(`select count(*) from payment_object`), 0)
	w.must(w.check(t.Context(), second))
	w.equal("status", w.order(id).Status, order.StatusPaid)
	w.equal("booked", w.count(`select count(*) from payment_object`), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
	w.equal("the check is closed", w.count(`select count(*) from payment_watch where lease_until is null and next_at > now() + interval '1 hour'`), 1)
}
