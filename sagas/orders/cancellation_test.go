package orders_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/sagastest"
)

func TestCancellingAnUnpaidOrderAsksItsProviderFirst(t *testing.T) { // T4, T10
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Equal(
		"without a reason",
		domain.CodeOf(w.Orders.Cancel(t.Context(), sagastest.Operator, w.Placed(sagastest.OrderForm{}), "")),
		domain.Invalid,
	)

	pending := w.Placed(sagastest.OrderForm{})
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, pending, "asked for by mail"))
	w.Equal("pending", w.Order(pending).Cause, order.NoSession)

	open := w.Place(sagastest.OrderForm{})
	w.Pay.Tell(func(call, _ string) error {
		if call == "fetch" {
			return domain.Fail(domain.Transient, "away", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Equal("provider away", domain.CodeOf(w.Orders.Cancel(t.Context(), sagastest.Operator, open, "asked for by mail")), domain.Unavailable)
	w.Equal("status", w.Order(open).Status, order.StatusPaymentProcessing)
	w.Pay.Reset()
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, open, "asked for by mail"))
	w.Equal("unpaid", w.Order(open).Cause, order.ByAdmin)
	w.Equal("again", domain.CodeOf(w.Orders.Cancel(t.Context(), sagastest.Operator, open, "again")), domain.Conflict)
}

func TestWhatTurnsOutToBePaidIsTakenBack(t *testing.T) { // T10, T16, T18
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil) // no webhook arrives
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "asked for by mail"))
	w.Equal("events", strings.Join(w.Happened(order.Stream(id))[2:6], " "),
		"order.payment_confirmed order.cancel_requested order.compensation_started order.compensation_completed")
	w.Equal("run", w.Provision(id).Status, sagas.StatusUndone)
	w.Goes()
	w.Refunded(id)
	sagastest.Untouched(w)
}

func TestAFailedOrderIsTakenBackAndRefunded(t *testing.T) { // T16, T17, T18
	t.Parallel()
	for _, kind := range []string{"hosting", "vps"} {
		w := sagastest.NewWorld(t)
		refuse := func(call, name string) error {
			if call == "create" && !strings.HasPrefix(name, "tenant/") {
				return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
			}
			return nil
		}
		w.Engine.Tell(refuse, nil)
		w.Compute.Tell(refuse, nil)
		w.Goes()
		o := sagastest.OrderForm{Kind: kind}
		if kind == "hosting" {
			o.Domain = "failed.example.com"
		}
		id := w.Buy(o)
		w.Becomes(id, order.StatusFailed)
		w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the customer changed their mind"))
		w.Refunded(id)
		w.Equal("subscriptions", w.Count(`select count(*) from events where name = 'billing.subscription_started'`), 0)
		sagastest.Untouched(w)
		w.Equal("again", domain.CodeOf(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "again")), domain.Conflict)
		w.End()
	}
}

func TestAnOrderThatIsBeingSetUpTurnsBack(t *testing.T) { // T16, R-2
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses(notices.MailQueue) // the welcome mail holds it up
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Domain: "turns.example.com", Email: "turns@example.com"})
	sagastest.StandsAt(w, id, "welcome")
	const news = `select count(*) from saga_run where starts_with(key, 'mail:n/') and `
	w.Eventually("news of its invoice waits for that mail", func() bool { return w.Count(news+`status = 'waiting'`) == 1 })
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the customer changed their mind"))
	w.Eventually("none will come", func() bool { return w.Count(news+`status = 'done'`) == 1 })
	w.Equal("news that waited its minute", w.Count(news+`run_at > created_at + interval '30 seconds'`), 0)
	sagastest.GoesOn(w)
	w.Refunded(id)
	sagastest.Untouched(w)
	w.Equal("mails", len(w.Mail.To("turns@example.com")), 0)
	w.Equal("why the subscription ended", w.Count(`select count(*) from events where name = 'billing.subscription_ended'
		and data ->> 'reason' = 'undone'`), 1)
	w.Equal("accounts closed", w.Count(`select count(*) from events where name = 'account.deactivated'`), 1)
}

func TestARefundBeforeTheServiceRunsTurnsItsRun(t *testing.T) { // T19
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Place(sagastest.OrderForm{Kind: "vps"})
	w.Pay.Pay(id, nil)
	w.Pauses(w.Reconciler.ComputeQueue(""))
	w.Goes()
	w.Must(w.Webhook("evt_1", id))
	sagastest.StandsAt(w, id, "vm")
	w.Pay.GiveAll(id)
	w.Must(w.Payments.Hint(t.Context(), id, "refund"))
	w.Becomes(id, order.StatusRefunded)
	sagastest.GoesOn(w)
	w.Eventually("it is taken back", func() bool { return w.Order(id).Compensated })
	w.Equal("run", w.Provision(id).Status, sagas.StatusUndone)
	sagastest.Untouched(w)
	w.Equal("runs that end the service", w.Count(`select count(*) from saga_run where key like 'deprovision:%'`), 0)
}

// A refunded service rests at once, by runs of its resources. The order takes back what it
// made, while such a run is on its way.
func TestWhatAnOrderTakesBackIsNotMadeAgainByARunThatIsLate(t *testing.T) {
	t.Parallel()
	for _, late := range []struct{ kind, call, name string }{{"hosting", "change", "site/"}, {"vps", "switch", ""}} {
		t.Run(late.kind, func(t *testing.T) {
			t.Parallel()
			w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Call = 10 * time.Second })
			w.Pauses(notices.MailQueue) // the welcome mail holds it up
			w.Goes()
			id := w.Buy(sagastest.OrderForm{Kind: late.kind, Domain: "late.example.com"})
			sagastest.StandsAt(w, id, "welcome")
			asked, removed := make(chan struct{}), make(chan struct{})
			var asks, removes sync.Once
			await := func(what <-chan struct{}) {
				select {
				case <-what:
				case <-t.Context().Done():
				}
			}
			before := func(call, name string) error {
				switch {
				case !strings.HasPrefix(name, late.name):
				case call == late.call:
					asks.Do(func() { close(asked) })
					await(removed)
				case call == "remove":
					await(asked)
				}
				return nil
			}
			after := func(call, name string) error {
				if call == "remove" && strings.HasPrefix(name, late.name) {
					removes.Do(func() { close(removed) })
				}
				return nil
			}
			w.Engine.Tell(before, after)
			w.Compute.Tell(before, after)
			w.Pay.GiveAll(id)
			w.Must(w.Payments.Hint(t.Context(), id, "refund"))
			w.Becomes(id, order.StatusRefunded)
			sagastest.GoesOn(w)
			w.Eventually("it is taken back", func() bool { return w.Order(id).Compensated })
			w.Eventually("no run goes on", func() bool {
				return w.Count(`select count(*) from saga_run where status not in ('done', 'undone', 'parked')`) == 0
			})
			w.Equal("parked runs", w.Count(`select count(*) from saga_run where status = 'parked'`), 0)
			sagastest.Untouched(w)
		})
	}
}

func TestWhatCannotBeTakenBackWaitsForAnOperator(t *testing.T) { // T17
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/") || call == "remove" {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Domain: "stuck.example.com"})
	w.Becomes(id, order.StatusFailed)
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "the customer changed their mind"))
	w.Eventually("it is held", func() bool { return fmt.Sprint(w.Order(id).Holds) == "[needs_operator]" })
	w.Equal("run", w.Provision(id).Status, sagas.StatusParked)
	w.Equal("money asked for", len(w.Order(id).Asked), 0)
	w.Engine.Tell(nil, nil)
	w.Must(w.Orders.Retry(t.Context(), sagastest.Operator, id, nil, "the engine is well again"))
	w.Refunded(id)
	w.Equal("holds", len(w.Order(id).Holds), 0)
	sagastest.Untouched(w)
}
