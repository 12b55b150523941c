package payments_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
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

// PayPal lists a case that is lost as a refund that it has made itself: the order is refunded
// before the operator has entered the outcome.
func TestADisputeEndsWhenItsMoneyHasGoneBackBefore(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	told, shown := bought(w), bought(w)
	body := bytes.ReplaceAll(sagastest.NewsBody("WH-9", told), []byte(`"Type":"paid"`), []byte(`"Type":"CUSTOMER.DISPUTE.CREATED"`))
	w.Must(w.Payments.Receive(t.Context(), "test", body, sagastest.SignedHeader))
	claims := func(state order.DisputeState) func(*order.Payment) {
		return func(p *order.Payment) {
			p.Disputes = []order.Dispute{{ID: "dp_" + p.ID, State: state, Minor: p.Minor, Currency: p.Currency, At: time.Now()}}
		}
	}
	w.Pay.Change(shown, claims(order.DisputeOpen))
	w.Must(w.Payments.Hint(t.Context(), shown, "clock"))
	w.Eventually("both are held", func() bool { return w.Order(told).OnHold() && w.Order(shown).OnHold() })
	some := decimal.New(1, 0)
	w.Equal("a part", domain.CodeOf(w.Payments.Refund(t.Context(), sagastest.Operator, shown, &some, "goodwill")), domain.Invalid)
	for _, id := range []uuid.UUID{told, shown} {
		w.Pay.Change(id, func(p *order.Payment) {
			r := order.Refund{ID: "re_" + p.ID, State: order.RefundSucceeded, Minor: p.Minor, Currency: p.Currency, At: time.Now()}
			p.Refunds = []order.Refund{r}
		})
		w.Must(w.Payments.Hint(t.Context(), id, "clock"))
		w.Becomes(id, order.StatusRefunded)
		w.Equal("holds", w.Order(id).Holds, []order.Hold{order.DisputeHold})
	}
	w.Must(w.Payments.Dispute(t.Context(), sagastest.Operator, told, order.DisputeLost, "read in the account"))
	w.Pay.Change(shown, claims(order.DisputeLost))
	w.Must(w.Payments.Hint(t.Context(), shown, "clock"))
	for _, id := range []uuid.UUID{told, shown} {
		w.Eventually("nothing holds it", func() bool { return !w.Order(id).OnHold() })
		sagastest.Balance(w, id, 0)
		w.Eventually("it is credited once", func() bool {
			return w.Count(`select count(*) from credit_notes where order_id = $1`, id) == 1
		})
		w.Equal("what went back", w.Count(`select refunded from orders where id = $1`, id), 1210)
	}
	w.Equal("held orders", w.Count(`select count(*) from orders where holds <> '{}'`), 0)
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
