package projections

import (
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// A day counts its orders and each payment once, and what has gone back of a
// payment as its history says: never more than it had.
func TestADayCountsItsOrdersAndMoney(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	placed := p.place("")
	id := p.opened(t, placed)
	payment := func(refunds []order.Refund, disputes ...order.Dispute) order.Payment {
		return order.Payment{ID: "pay_1", State: order.StatePaid, Refunds: refunds, Disputes: disputes}
	}
	refund := func(id string, state order.RefundState, minor int64) []order.Refund {
		return []order.Refund{{ID: id, State: state, Minor: minor, Currency: "EUR"}}
	}
	wrong := order.Payment{ID: "pay_1", State: order.StatePaid, Minor: 1435}
	for _, step := range []struct {
		command domain.Command
		want    OrderDay
	}{
		{p.truth(placed, order.SessionComplete, wrong), OrderDay{Placed: 1, Received: 1435}},
		{order.Accept{ID: id, Reason: "agreed", At: noon}, OrderDay{Placed: 1, Paid: 1, Received: 1435}},
		{order.StartProvisioning{ID: id, At: noon}, OrderDay{Placed: 1, Paid: 1, Received: 1435}},
		{order.Park{ID: id, Step: "site", Code: "name_taken", At: noon}, OrderDay{Placed: 1, Paid: 1, Failed: 1, Received: 1435}},
		{
			order.Resume{ID: id, Step: "site", How: order.Retry, Reason: "freed", At: noon},
			OrderDay{Placed: 1, Paid: 1, Failed: 1, Received: 1435},
		},
		{order.Activate{ID: id, At: noon}, OrderDay{Placed: 1, Paid: 1, Failed: 1, Active: 1, Received: 1435}},
		{
			p.truth(placed, order.SessionComplete, wrong, order.Payment{ID: "pay_2", State: order.StatePaid}),
			OrderDay{Placed: 1, Paid: 1, Failed: 1, Active: 1, Received: 1435 + 2870},
		},
	} {
		p.do(t, step.command)
		isDay(t, p, step.want)
	}
	other := p.place("")
	p.opened(t, other)
	for _, step := range []struct {
		payment order.Payment
		back    int64
	}{
		{payment(refund("re_1", order.RefundSucceeded, 1000)), 1000},
		{payment(refund("re_1", order.RefundStopped, 900)), 0},
		{payment(refund("re_2", order.RefundSucceeded, 1435)), 1435},
		{payment(nil, order.Dispute{ID: "dp_1", State: order.DisputeLost, Minor: 2870, Currency: "EUR"}), 2870},
	} {
		p.do(t, p.truth(other, order.SessionComplete, step.payment))
		isDay(t, p, OrderDay{Placed: 2, Paid: 2, Failed: 1, Active: 1, Received: 1435 + 2*2870, Returned: step.back})
	}
	found, err := p.For(System).Operations().Backlog(t.Context(), time.Now())
	if err != nil || found.Held[order.DuplicateHold] != 1 || found.Failed != 0 || found.Incidents != 0 {
		t.Errorf("%+v, %v", found, err)
	}
	for _, c := range []Caller{{}, {KeyOwner: 7}, {User: 7, Tenant: 1}} {
		if found, err := p.For(c).Operations().Backlog(t.Context(), time.Time{}); err != nil || len(found.Days)+len(found.Held) != 0 {
			t.Errorf("%+v sees %+v: %v", c, found, err)
		}
	}
}

func isDay(t *testing.T, p *panel, want OrderDay) {
	t.Helper()
	found, err := p.For(Caller{Superuser: true, User: 1}).Operations().Backlog(t.Context(), time.Now())
	if err != nil || len(found.Days) != 1 {
		t.Fatal(found, err)
	}
	got := found.Days[0]
	want.Day, want.Currency, want.Test = got.Day, "EUR", got.Test
	if got != want {
		t.Errorf("%+v instead of %+v", got, want)
	}
}
