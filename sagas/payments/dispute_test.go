package payments_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

func TestNewsOfADisputeSetAHoldAndNothingMore(t *testing.T) { // P-9, P-6
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	tell := func(event string) {
		body := bytes.ReplaceAll(sagastest.NewsBody(event, id), []byte(`"Type":"paid"`), []byte(`"Type":"CUSTOMER.DISPUTE.CREATED"`))
		w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
	}
	tell("WH-1")
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Equal("holds", w.Order(id).Holds, []order.Hold{order.DisputeHold})
	w.Equal("status", w.Order(id).Status, order.StatusActive)
	if !w.Warned("tells of a dispute") {
		t.Error("no user was told")
	}
	_, err := w.Store.Execute(
		t.Context(), sagastest.Operator,
		order.DecideDispute{ID: id, Outcome: order.DisputeWon, Reason: "read in the account", At: w.Runner.Now()},
	)
	w.Must(err)
	w.Equal("holds", len(w.Order(id).Holds), 0)
	_, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{Order: id}, "") // old news
	w.Must(err)
	w.Eventually("it is done", func() bool { return sagastest.InboxState(w, "WH-1") == "done" })
	still(w, id, order.StatusActive)
	w.Equal("holds after old news", len(w.Order(id).Holds), 0)
	tell("WH-2")
	w.Eventually("it is held again", func() bool { return w.Order(id).OnHold() })
}

func TestADisputeStandsInTheTruthWhereTheProviderCanBeAsked(t *testing.T) { // T23, I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	won, lost := bought(w), bought(w)
	dispute := func(state order.DisputeState) func(*order.Payment) {
		return func(p *order.Payment) {
			p.Disputes = []order.Dispute{{ID: "dp_" + p.ID, State: state, Minor: p.Minor, Currency: p.Currency, At: time.Now()}}
		}
	}
	w.Pay.Change(won, dispute(order.DisputeOpen))
	w.Pay.Change(lost, dispute(order.DisputeOpen))
	for i := range 3 {
		w.Must(w.Webhook(fmt.Sprintf("evt_won_%d", i), won))
		w.Must(w.Webhook(fmt.Sprintf("evt_lost_%d", i), lost))
	}
	w.Eventually("both are held", func() bool { return w.Order(won).OnHold() && w.Order(lost).OnHold() })
	w.Equal("booked", w.Count(`select count(*) from payment_object where kind = 'dispute'`), 2)
	w.Pay.Change(won, dispute(order.DisputeWon))
	w.Pay.Change(lost, dispute(order.DisputeLost))
	w.Must(w.Payments.Hint(t.Context(), won, "clock"))
	w.Must(w.Payments.Hint(t.Context(), lost, "clock"))
	w.Becomes(lost, order.StatusRefunded)
	w.Eventually("the other goes on", func() bool { return !w.Order(won).OnHold() })
	w.Equal("status", w.Order(won).Status, order.StatusActive)
	sagastest.Balance(w, won, 1210)
	sagastest.Balance(w, lost, 0)
	w.Equal("opened, for good", w.Often(order.Stream(won), "order.dispute_opened"), 1)
}
