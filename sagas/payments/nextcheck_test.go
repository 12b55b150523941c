package payments_test

import (
	"testing"
	"time"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas/payments"
)

const (
	day   = 24 * time.Hour
	never = -time.Second
)

func TestEveryOrderIsLookedAtAgainUntilNothingCanChange(t *testing.T) { // J-1
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return at.Add(d) }
	payment := order.Seen{Session: "cs_1", ID: "pay_1", State: order.StatePaid, Minor: 1210, Currency: "EUR", At: at}
	placed := []order.Event{order.Placed{Minor: 1210, Currency: "EUR", At: at}}
	opened := append(placed[:1:1], order.PaymentSessionOpened{Session: "cs_1", ExpiresAt: after(payments.Defaults.SessionLife), At: at})
	agreed := payment
	agreed.State, agreed.At = order.StateCreated, after(time.Hour)
	approved := append(opened[:2:2], order.PaymentApproved{Payment: agreed, At: after(time.Hour)})
	settling := append(opened[:2:2], order.AwaitingSettlement{At: after(time.Minute)})
	paid := append(opened[:2:2], order.PaymentConfirmed{Payment: payment, At: after(time.Hour)})
	cancelled := append(opened[:2:2], order.Cancelled{Reason: order.Expired, At: after(2 * time.Hour)})
	refunding := append(
		paid[:3:3],
		order.RefundRequested{Refund: order.Ask{N: 1, Payment: "pay_1", Minor: 100, Currency: "EUR"}, At: after(40 * day)},
	)
	pending := append(paid[:3:3], order.RefundStarted{
		Refund: order.SeenRefund{ID: "re_1", Payment: "pay_1", State: order.RefundPending, Minor: 100, Currency: "EUR"},
		At:     after(40 * day),
	})
	given := append(cancelled[:3:3], order.LatePaymentFound{Payment: payment, Refund: []string{"too_late"}, At: after(100 * day)},
		order.RefundRequested{Refund: order.Ask{N: 1, Payment: "pay_1", Minor: 1210, Currency: "EUR"}, At: after(100 * day)})
	refunded := append(paid[:3:3], order.RefundCompleted{
		Refund: order.SeenRefund{ID: "re_1", Payment: "pay_1", State: order.RefundSucceeded, Minor: 1210, Currency: "EUR"},
		At:     after(2 * time.Hour),
	})

	claim := order.DisputeOpened{
		Dispute: order.SeenDispute{ID: "dp_1", Payment: "pay_1", State: order.DisputeOpen, Minor: 1210, Currency: "EUR"},
		At:      after(2 * time.Hour),
	}
	claimed := append(refunded[:4:4], claim)
	claim.Dispute.ID = "operator/1"
	said := append(refunded[:4:4], claim)

	for _, c := range []struct {
		what   string
		facts  []order.Event
		looked time.Duration // after the order was placed
		want   time.Duration // until the next look
	}{
		{"placed", placed, 0, 30 * time.Minute},
		{"opened", opened, 0, 2 * time.Minute},
		{"opened", opened, 2 * time.Minute, 8 * time.Minute},
		{"opened", opened, 10 * time.Minute, 50 * time.Minute},
		{"opened", opened, time.Hour, day - 5*time.Minute + time.Minute - time.Hour},
		{"expired, the order not", opened, day - 4*time.Minute, 4 * time.Minute},
		{"held beyond its time", opened, day, day},
		{"to be captured", approved, time.Hour, 5 * time.Minute},
		{"to be captured, late", approved, time.Hour + 163*time.Minute, 2*time.Minute + 30*time.Second},
		{"settling", settling, time.Hour, day},
		{"settling, late", settling, 14*day - 6*time.Hour, 6 * time.Hour},
		{"paid", paid, time.Hour, day},
		{"paid", paid, day + time.Hour, 6 * day},
		{"paid", paid, 7*day + time.Hour, 23 * day},
		{"paid long ago", paid, 30*day + time.Hour, never},
		{"cancelled", cancelled, 2 * time.Hour, time.Hour},
		{"cancelled", cancelled, 3 * time.Hour, 23 * time.Hour},
		{"cancelled", cancelled, day + 2*time.Hour, 2 * day},
		{"cancelled long ago", cancelled, 3*day + 2*time.Hour, never},
		{"a refund is asked for", refunding, 40 * day, day},
		{"a refund is asked for, long ago", refunding, 54*day - 6*time.Hour, 6 * time.Hour},
		{"a refund does not come to an end", refunding, 54 * day, never},
		{"a refund is pending", pending, 40 * day, day},
		{"late money goes back", given, 100 * day, day},
		{"refunded", refunded, 2 * time.Hour, never},
		{"refunded, and the dispute is not decided", claimed, 100 * day, day},
		{"refunded, and an operator has to say", said, 2 * time.Hour, never},
	} {
		var history []eventstore.RecordedEvent
		for _, e := range c.facts {
			history = append(history, eventstore.RecordedEvent{Event: e})
		}
		got := never
		if next := payments.Defaults.NextCheck(payments.TimelineOf(history, after(c.looked)), after(c.looked)); next != nil {
			got = *next
		}
		if got != c.want {
			t.Errorf("%s, looked at after %s: next after %s, not %s", c.what, c.looked, got, c.want)
		}
	}
}
