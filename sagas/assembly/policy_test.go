package assembly_test

import (
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
)

// What the operator of the panel settles (docs/configuration.md).

// operatorTold counts how often the one superuser was told something.
func (w *world) operatorTold(title string) int {
	w.t.Helper()
	return w.count(`select count(*) from notifications where user_id = 901 and title = $1`, title)
}

func TestADisputeSuspendsOnlyIfThePolicySaysSo(t *testing.T) { // T23
	t.Parallel()
	for _, keep := range []bool{false, true} {
		b := newBought(t, "vps", func(o *assembly.Options) { o.Policy.KeepDisputed = keep })
		c := b.someone(901, "operator901@example.com", "en")
		c.Superuser = true
		b.must(b.Accounts.Open(t.Context(), domain.Metadata{Actor: "operator:1"}, c, goodPassword))
		b.pay.dispute(b.id, order.DisputeOpen)
		b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
		b.eventually("operators are told", func() bool { return b.operatorTold("A payment is disputed") == 1 })
		b.heard()
		b.equal("suspended by the order", len(b.resource(hosting.Ref{Kind: "tenant", ID: b.tenant}).DisabledBy) == 1, !keep)
		if keep {
			b.on()
		} else {
			b.off()
		}
		b.equal("holds", b.order(b.id).Holds, []order.Hold{order.DisputeHold})
		b.pay.dispute(b.id, order.DisputeLost)
		b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
		b.becomes(b.id, order.StatusRefunded)
		b.off() // a lost dispute ends the service whatever the policy is
		b.end()
	}
}

func TestLateMoneyGoesBackIfThePolicySaysSo(t *testing.T) { // T20
	t.Parallel()
	for policy, want := range map[bool]order.Status{false: order.StatusActive, true: order.StatusRefunded} {
		var c *handClock
		w := newWorld(t, func(o *assembly.Options) { c, o.Policy.RefundLate = clocked(o), policy }).goes()
		w.offersItsPlan()
		id := w.place(ordering{})
		comesTo[order.Expired](w, c, id)
		w.hint(id)
		w.becomes(id, order.StatusCancelled)
		w.pay.pay(id, func(p *order.Payment) { p.At = w.Now() })
		w.hint(id)
		w.becomes(id, want)
		w.equal("set up", w.provision(id).Key != "", !policy)
		w.end()
	}
}

func TestTheGraceIsThePolicys(t *testing.T) { // T27
	t.Parallel()
	grace := 2 * day
	b := newBought(t, "vps", func(o *assembly.Options) { o.Policy.RefundGrace = &grace })
	b.must(b.Cancel(t.Context(), operator, b.id, "does not pay any more"))
	b.off()
	b.clock.pass(grace - time.Hour)
	b.equal("removed before that", b.runOf("deprovision:"+b.id.String()).At().Name, "grace")
	b.clock.pass(2 * time.Hour)
	b.removed()
}
