package orders_test

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/sagastest"
)

func TestAServiceThatIsRefundedIsSuspendedAndRemovedAfterAWeek(t *testing.T) { // T19, V3
	t.Parallel()
	for _, kind := range []string{"hosting", "vps"} {
		b := sagastest.NewPurchase(t, kind)
		b.Pay.GiveAll(b.ID)
		b.Must(b.Payments.Hint(t.Context(), b.ID, "refund"))
		b.Becomes(b.ID, order.StatusRefunded)
		b.Off()
		b.Equal("subscription", b.Count(`select count(*) from events where name = 'billing.subscription_ended'
			and data ->> 'reason' = 'refunded'`), 1)
		b.Clock.Pass(7*sagastest.Day - time.Minute)
		b.Quiet()
		run := b.RunOf("deprovision:" + b.ID.String())
		b.Equal("before the grace is over", fmt.Sprint(run.At().Name, run.Status), "grace"+string(sagas.StatusReady))
		b.Clock.Pass(2 * time.Minute)
		b.Removed()
		b.End()
	}
}

func TestAnOperatorEndsAServiceWithoutARefund(t *testing.T) { // T27
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "does not pay any more"))
	b.Equal("why", fmt.Sprint(b.Order(b.ID).Status, b.Order(b.ID).Cause), "cancelledended")
	b.Off()
	b.Equal(
		"subscription",
		b.Count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'ended'`),
		1,
	)
	b.Equal("money asked for", len(b.Order(b.ID).Asked), 0)
	b.Equal("without a reason", domain.CodeOf(b.Orders.EndGrace(t.Context(), sagastest.Operator, b.ID, "")), domain.Invalid)
	b.Must(b.Orders.EndGrace(t.Context(), sagastest.Operator, b.ID, "the customer wants it gone"))
	b.Removed()
	b.Equal("again", domain.CodeOf(b.Orders.EndGrace(t.Context(), sagastest.Operator, b.ID, "again")), domain.Conflict)
}

func TestADisputeThatIsWonLeavesEverythingAsItWas(t *testing.T) { // T23, R-3
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	before := b.Ask(b.Draw("site"), sagastest.Site("off.example.com"))
	b.Carry(before)
	b.Stands(before.Ref, hosting.Running)
	b.Carry(sagastest.Set(before.Ref, `{"is_active":false}`))
	b.Stands(before.Ref, hosting.Running)
	b.Pay.Dispute(b.ID, order.DisputeOpen)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.Off()
	b.Equal("holds", b.Order(b.ID).Holds, []order.Hold{order.DisputeHold})
	b.Pay.Dispute(b.ID, order.DisputeWon)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.On()
	b.Equal("what was off before", sagastest.Value(b.Has("site", "off.example.com"), "is_active"), "false")
	b.Equal("status", b.Order(b.ID).Status, order.StatusActive)
}

func TestATenantThatIsSuspendedStaysSoWhenADisputeIsWon(t *testing.T) {
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	tenant := hosting.Ref{Kind: "tenant", ID: b.Tenant}
	b.Carry(sagastest.Set(tenant, `{"status":"suspended"}`))
	b.Off()
	for _, outcome := range []order.DisputeState{order.DisputeOpen, order.DisputeWon} {
		b.Must(b.Payments.Dispute(t.Context(), sagastest.Operator, b.ID, outcome, "by letter")) // P-9
		b.Eventually(
			"the tenant follows",
			func() bool { return (len(b.Resource(tenant).DisabledBy) == 1) == (outcome == order.DisputeOpen) },
		)
		b.Quiet()
		b.Off()
	}
	b.Carry(sagastest.Set(tenant, `{"status":"active"}`))
	b.On()
}

func TestADisputeThatIsLostEndsTheService(t *testing.T) { // T23
	t.Parallel()
	b := sagastest.NewPurchase(t, "vps")
	b.Pay.Dispute(b.ID, order.DisputeOpen)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.Off()
	b.Pay.Dispute(b.ID, order.DisputeLost)
	b.Must(b.Payments.Hint(t.Context(), b.ID, "dispute"))
	b.Becomes(b.ID, order.StatusRefunded)
	b.Equal("money asked for", len(b.Order(b.ID).Asked), 0)
	b.Eventually("its subscription ends", func() bool {
		return b.Count(`select count(*) from events where name = 'billing.subscription_ended' and data ->> 'reason' = 'chargeback'`) == 1
	})
	b.Off()
	b.Clock.Pass(8 * sagastest.Day)
	b.Removed()
}

func TestAServiceThatStartsInADisputeRestsAtOnce(t *testing.T) { // T23
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses(notices.MailQueue)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	sagastest.StandsAt(w, id, "welcome")
	w.Pay.Dispute(id, order.DisputeOpen)
	w.Must(w.Payments.Hint(t.Context(), id, "dispute"))
	w.Eventually("the dispute is known", func() bool { return w.Order(id).OnHold() })
	sagastest.GoesOn(w)
	w.Becomes(id, order.StatusActive)
	w.Powered(hosting.Ref{Kind: "vm", ID: w.Provision(id).Job.VM}, "stopped")
}

func TestWhatCannotBeRemovedIsNotForgotten(t *testing.T) { // V3
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	b.Engine.Tell(func(call, name string) error {
		if call == "remove" && name == "site/own.example.com" {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}, nil)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "does not pay any more"))
	b.Off()
	b.Clock.Pass(8 * sagastest.Day)
	b.Eventually("it is refused", func() bool { return b.Resource(b.Own).SyncError == "broken" })
	b.Equal("step", b.RunOf("deprovision:"+b.ID.String()).At().Name, "verify")
	b.Equal("the client", len(b.Has("tenant", hosting.CustomerNumber(b.Tenant)).Name) > 0, true)
	b.Engine.Tell(nil, nil)
	runs, err := b.Runner.Operators.Runs(t.Context(), sagas.RunFilter{About: b.Own.Stream().String(), Status: sagas.StatusParked})
	b.Must(err)
	b.Must(b.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, runs[0].ID, "the engine is well again"))
	b.Removed()
}
