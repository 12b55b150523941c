package payments_test

import (
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// What the operator of the panel settles (docs/configuration.md).

// operatorTold counts how often the one superuser was told something.
func operatorTold(w *sagastest.World, title string) int {
	w.T.Helper()
	return w.Count(`select count(*) from notifications where user_id = 901 and title = $1`, title)
}

func TestADisputeSuspendsOnlyIfThePolicySaysSo(t *testing.T) { // T23
	t.Parallel()
	for _, keep := range []bool{false, true} {
		b := sagastest.NewPurchase(t, "vps", func(o *assembly.Options) { o.Policy.KeepDisputed = keep })
		c := b.Someone(901, "operator901@example.com", "en")
		c.Superuser = true
		b.Must(b.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, c, sagastest.GoodPassword))
		b.Pay.Dispute(b.ID, order.DisputeOpen)
		b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
		b.Eventually("operators are told", func() bool { return operatorTold(b.World, "A payment is disputed") == 1 })
		b.Heard()
		b.Equal("suspended by the order", len(b.Resource(hosting.Ref{Kind: "tenant", ID: b.Tenant}).DisabledBy) == 1, !keep)
		if keep {
			b.On()
		} else {
			b.Off()
		}
		b.Equal("holds", b.Order(b.ID).Holds, []order.Hold{order.DisputeHold})
		b.Pay.Dispute(b.ID, order.DisputeLost)
		b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
		b.Becomes(b.ID, order.StatusRefunded)
		b.Off() // a lost dispute ends the service whatever the policy is
		b.End()
	}
}

func TestLateMoneyGoesBackIfThePolicySaysSo(t *testing.T) { // T20
	t.Parallel()
	for policy, want := range map[bool]order.Status{false: order.StatusActive, true: order.StatusRefunded} {
		var c *sagastest.HandClock
		w := sagastest.NewWorld(t, func(o *assembly.Options) { c, o.Policy.RefundLate = clocked(o), policy }).Goes()
		sagastest.OffersItsPlan(w)
		id := w.Place(sagastest.OrderForm{})
		comesTo[order.Expired](w, c, id)
		hint(w, id)
		w.Becomes(id, order.StatusCancelled)
		w.Pay.Pay(id, func(p *order.Payment) { p.At = w.Runner.Now() })
		hint(w, id)
		w.Becomes(id, want)
		w.Equal("set up", w.Provision(id).Key != "", !policy)
		w.End()
	}
}

func TestTheGraceIsThePolicys(t *testing.T) { // T27
	t.Parallel()
	grace := 2 * sagastest.Day
	b := sagastest.NewPurchase(t, "vps", func(o *assembly.Options) { o.Policy.RefundGrace = &grace })
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "does not pay any more"))
	b.Off()
	b.Clock.Pass(grace - time.Hour)
	b.Equal("removed before that", b.RunOf("deprovision:"+b.ID.String()).At().Name, "grace")
	b.Clock.Pass(2 * time.Hour)
	b.Removed()
}
