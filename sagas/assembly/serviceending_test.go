package assembly_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/notices"
)

func mustParse(id fmt.Stringer) uuid.UUID { return uuid.MustParse(id.String()) }

// giveAll makes it so that all was refunded at the provider itself.
func (p *fakePayments) giveAll(id uuid.UUID) {
	p.change(id, func(f *order.Payment) {
		f.Refunds = append(f.Refunds, order.Refund{ID: "re_" + f.ID, State: order.RefundSucceeded, Minor: f.Minor, Currency: f.Currency, At: time.Now()})
	})
}

// dispute makes the provider show a dispute of the whole payment.
func (p *fakePayments) dispute(id uuid.UUID, state order.DisputeState) {
	p.change(id, func(f *order.Payment) {
		f.Disputes = []order.Dispute{{ID: "dp_" + f.ID, State: state, Minor: f.Minor, Currency: f.Currency, At: time.Now()}}
	})
}

// givesBack gives back what the order has asked for, and tells.
func (w *world) givesBack(id uuid.UUID) {
	w.t.Helper()
	for _, a := range w.order(id).Open() {
		_, err := w.pay.Refund(w.t.Context(), order.RefundCall{
			Order: id, Session: sessionOf(id), Payment: a.Payment, Reference: a.Reference(id), Key: a.Reference(id), Minor: a.Minor, Currency: a.Currency,
		})
		w.must(err)
	}
	w.must(w.Payments.Hint(w.t.Context(), id, "refund"))
}

// goesOn ends what [world.pauses] has begun.
func (w *world) goesOn() {
	w.t.Helper()
	_, err := w.pool.Exec(w.t.Context(), `update saga_queue set paused = false`)
	w.must(err)
}

// standsAt waits until the setting up of an order has come to a step.
func (w *world) standsAt(id uuid.UUID, step string) {
	w.t.Helper()
	w.eventually("it stands at "+step, func() bool { run := w.provision(id); return run.Key != "" && run.At().Name == step })
}

// A bought service with a record of the customer's own in its tenant.
type bought struct {
	*household
	id    uuid.UUID
	clock *virtual
	own   hosting.Ref
}

func newBought(t *testing.T, kind string, change ...func(*assembly.Options)) bought {
	t.Helper()
	clock := &virtual{at: time.Now()}
	h := &household{newWorld(t, append(change, byHand(clock.now))...).goes(), 0}
	o := ordering{kind: kind}
	if kind == "hosting" {
		o.domain = "bought.example.com"
	}
	b := bought{household: h, id: h.buy(o), clock: clock}
	h.becomes(b.id, order.StatusActive)
	h.tenant = h.provision(b.id).Job.Tenant
	if kind == "hosting" {
		own := h.ask(h.draw("site"), site("own.example.com"))
		h.carry(own)
		h.stands(own.Ref, hosting.Running)
		b.own = own.Ref
	}
	return b
}

// off waits until nothing of the service runs, on until all of it does.
func (b bought) off() { b.runs(false) }
func (b bought) on()  { b.runs(true) }

func (b bought) runs(want bool) {
	b.t.Helper()
	job := b.provision(b.id).Job
	if job.VM != 0 {
		b.powered(hosting.Ref{Kind: "vm", ID: job.VM}, map[bool]string{true: "running", false: "stopped"}[want])
		return
	}
	b.eventually(fmt.Sprintf("its sites run: %t", want), func() bool {
		all := b.engine.all()
		for _, name := range []string{"site/bought.example.com", "site/own.example.com"} {
			if value(all[name], "is_active") != fmt.Sprint(want) {
				return false
			}
		}
		return b.count(`select count(*) from resources where sync_status <> 'synced'`) == 0
	})
}

func (b bought) removed() {
	b.t.Helper()
	b.eventually("its run is done", func() bool { return b.runOf("deprovision:"+b.id.String()).Status == sagas.StatusDone })
	b.quiet()
	b.untouched()
}

func TestAServiceThatIsRefundedIsSuspendedAndRemovedAfterAWeek(t *testing.T) { // T19, V3
	t.Parallel()
	for _, kind := range []string{"hosting", "vps"} {
		b := newBought(t, kind)
		b.pay.giveAll(b.id)
		b.must(b.Payments.Hint(t.Context(), b.id, "refund"))
		b.becomes(b.id, order.StatusRefunded)
		b.off()
		b.equal("subscription", b.count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'refunded'`), 1)
		b.clock.pass(7*day - time.Minute)
		b.quiet()
		run := b.runOf("deprovision:" + b.id.String())
		b.equal("before the grace is over", fmt.Sprint(run.At().Name, run.Status), "grace"+string(sagas.StatusReady))
		b.clock.pass(2 * time.Minute)
		b.removed()
		b.end()
	}
}

func TestAnOperatorEndsAServiceWithoutARefund(t *testing.T) { // T27
	t.Parallel()
	b := newBought(t, "hosting")
	b.must(b.Cancel(t.Context(), operator, b.id, "does not pay any more"))
	b.equal("why", fmt.Sprint(b.order(b.id).Status, b.order(b.id).Cause), "cancelledended")
	b.off()
	b.equal("subscription", b.count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'ended'`), 1)
	b.equal("money asked for", len(b.order(b.id).Asked), 0)
	b.equal("without a reason", domain.CodeOf(b.EndGrace(t.Context(), operator, b.id, "")), domain.Invalid)
	b.must(b.EndGrace(t.Context(), operator, b.id, "the customer wants it gone"))
	b.removed()
	b.equal("again", domain.CodeOf(b.EndGrace(t.Context(), operator, b.id, "again")), domain.Conflict)
}

func TestADisputeThatIsWonLeavesEverythingAsItWas(t *testing.T) { // T23, R-3
	t.Parallel()
	b := newBought(t, "hosting")
	before := b.ask(b.draw("site"), site("off.example.com"))
	b.carry(before)
	b.stands(before.Ref, hosting.Running)
	b.carry(set(before.Ref, `{"is_active":false}`))
	b.stands(before.Ref, hosting.Running)
	b.pay.dispute(b.id, order.DisputeOpen)
	b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
	b.off()
	b.equal("holds", b.order(b.id).Holds, []order.Hold{order.DisputeHold})
	b.pay.dispute(b.id, order.DisputeWon)
	b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
	b.on()
	b.equal("what was off before", value(b.has("site", "off.example.com"), "is_active"), "false")
	b.equal("status", b.order(b.id).Status, order.StatusActive)
}

func TestATenantThatIsSuspendedStaysSoWhenADisputeIsWon(t *testing.T) {
	t.Parallel()
	b := newBought(t, "hosting")
	tenant := hosting.Ref{Kind: "tenant", ID: b.tenant}
	b.carry(set(tenant, `{"status":"suspended"}`))
	b.off()
	for _, outcome := range []order.DisputeState{order.DisputeOpen, order.DisputeWon} {
		b.must(b.Payments.Dispute(t.Context(), operator, b.id, outcome, "by letter")) // P-9
		b.eventually("the tenant follows", func() bool { return (len(b.resource(tenant).DisabledBy) == 1) == (outcome == order.DisputeOpen) })
		b.quiet()
		b.off()
	}
	b.carry(set(tenant, `{"status":"active"}`))
	b.on()
}

func TestADisputeThatIsLostEndsTheService(t *testing.T) { // T23
	t.Parallel()
	b := newBought(t, "vps")
	b.pay.dispute(b.id, order.DisputeOpen)
	b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
	b.off()
	b.pay.dispute(b.id, order.DisputeLost)
	b.must(b.Payments.Hint(t.Context(), b.id, "dispute"))
	b.becomes(b.id, order.StatusRefunded)
	b.equal("money asked for", len(b.order(b.id).Asked), 0)
	b.eventually("its subscription ends", func() bool {
		return b.count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'chargeback'`) == 1
	})
	b.off()
	b.clock.pass(8 * day)
	b.removed()
}

func TestAServiceThatStartsInADisputeRestsAtOnce(t *testing.T) { // T23
	t.Parallel()
	w := newWorld(t)
	w.pauses(notices.MailQueue)
	w.goes()
	id := w.buy(ordering{kind: "vps"})
	w.standsAt(id, "welcome")
	w.pay.dispute(id, order.DisputeOpen)
	w.must(w.Payments.Hint(t.Context(), id, "dispute"))
	w.eventually("the dispute is known", func() bool { return w.order(id).OnHold() })
	w.goesOn()
	w.becomes(id, order.StatusActive)
	w.powered(hosting.Ref{Kind: "vm", ID: w.provision(id).Job.VM}, "stopped")
}

func TestWhatCannotBeRemovedIsNotForgotten(t *testing.T) { // V3
	t.Parallel()
	b := newBought(t, "hosting")
	b.engine.tell(func(call, name string) error {
		if call == "remove" && name == "site/own.example.com" {
			return domain.Fail(domain.Permanent, "broken", errLie)
		}
		return nil
	}, nil)
	b.must(b.Cancel(t.Context(), operator, b.id, "does not pay any more"))
	b.off()
	b.clock.pass(8 * day)
	b.eventually("it is refused", func() bool { return b.resource(b.own).SyncError == "broken" })
	b.equal("step", b.runOf("deprovision:"+b.id.String()).At().Name, "verify")
	b.equal("the client", len(b.has("tenant", hosting.CustomerNumber(b.tenant)).Name) > 0, true)
	b.engine.tell(nil, nil)
	runs, err := b.Runs(t.Context(), sagas.RunFilter{About: b.own.Stream().String(), Status: sagas.StatusParked})
	b.must(err)
	b.must(b.RetryRun(t.Context(), operator, runs[0].ID, "the engine is well again"))
	b.removed()
}
