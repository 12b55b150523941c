package assembly_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"hostpanel/domain/operations"
	"hostpanel/domain/order"
)

func TestNewsOfADisputeSetAHoldAndNothingMore(t *testing.T) { // P-9, P-6
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	tell := func(event string) {
		body := bytes.ReplaceAll(newsBody(event, id), []byte(`"Type":"paid"`), []byte(`"Type":"CUSTOMER.DISPUTE.CREATED"`))
		w.must(w.Payments.Receive(t.Context(), "test", body, signed))
	}
	tell("WH-1")
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.equal("holds", w.order(id).Holds, []order.Hold{order.DisputeHold})
	w.equal("status", w.order(id).Status, order.StatusActive)
	if !w.warned("tells of a dispute") {
		t.Error("no user was told")
	}
	_, err := w.store.Execute(t.Context(), operator, order.DecideDispute{ID: id, Outcome: order.DisputeWon, Reason: "read in the account", At: w.Now()})
	w.must(err)
	w.equal("holds", len(w.order(id).Holds), 0)
	_, err = w.Payments.ReplayWebhooks(t.Context(), operator, operations.WebhookPick{Order: id}, "") // old news
	w.must(err)
	w.eventually("it is done", func() bool { return w.inboxState("WH-1") == "done" })
	w.still(id, order.StatusActive)
	w.equal("holds after old news", len(w.order(id).Holds), 0)
	tell("WH-2")
	w.eventually("it is held again", func() bool { return w.order(id).OnHold() })
}

func TestADisputeStandsInTheTruthWhereTheProviderCanBeAsked(t *testing.T) { // T23, I-14
	t.Parallel()
	w := newWorld(t).goes()
	won, lost := w.bought(), w.bought()
	dispute := func(state order.DisputeState) func(*order.Payment) {
		return func(p *order.Payment) {
			p.Disputes = []order.Dispute{{ID: "dp_" + p.ID, State: state, Minor: p.Minor, Currency: p.Currency, At: time.Now()}}
		}
	}
	w.pay.change(won, dispute(order.DisputeOpen))
	w.pay.change(lost, dispute(order.DisputeOpen))
	for i := range 3 {
		w.must(w.webhook(fmt.Sprintf("evt_won_%d", i), won))
		w.must(w.webhook(fmt.Sprintf("evt_lost_%d", i), lost))
	}
	w.eventually("both are held", func() bool { return w.order(won).OnHold() && w.order(lost).OnHold() })
	w.equal("booked", w.count(`select count(*) from payment_object where kind = 'dispute'`), 2)
	w.pay.change(won, dispute(order.DisputeWon))
	w.pay.change(lost, dispute(order.DisputeLost))
	w.must(w.Payments.Hint(t.Context(), won, "clock"))
	w.must(w.Payments.Hint(t.Context(), lost, "clock"))
	w.becomes(lost, order.StatusRefunded)
	w.eventually("the other goes on", func() bool { return !w.order(won).OnHold() })
	w.equal("status", w.order(won).Status, order.StatusActive)
	w.balance(won, 1210)
	w.balance(lost, 0)
	w.equal("opened, for good", w.often(order.Stream(won), "order.dispute_opened"), 1)
}
