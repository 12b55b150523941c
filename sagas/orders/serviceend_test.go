package orders_test

import (
	"fmt"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/sagastest"
)

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
