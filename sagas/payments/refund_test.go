package payments_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func refundRun(w *sagastest.World, id uuid.UUID, n int) sagas.Run {
	w.T.Helper()
	return w.RunOf(fmt.Sprintf("refund:%s/%d", id, n))
}

// bought is an order that is active.
func bought(w *sagastest.World) uuid.UUID {
	w.T.Helper()
	id := w.Buy(sagastest.OrderForm{Kind: "saas"})
	w.Becomes(id, order.StatusActive)
	return id
}

func TestAPartGoesBackAndThenTheRest(t *testing.T) { // T19, T22, I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	w.Must(w.Back(id, "2.10"))
	w.Eventually("the part is back", func() bool { return w.Often(order.Stream(id), "order.partially_refunded") == 1 })
	w.Equal("status", w.Order(id).Status, order.StatusActive)
	sagastest.Balance(w, id, 1000)
	w.Equal("the run", refundRun(w, id, 1).Status, sagas.StatusDone)
	w.Equal("too much", domain.CodeOf(w.Back(id, "10.01")), domain.Invalid)
	w.Equal("without a reason", domain.CodeOf(w.Payments.Refund(t.Context(), sagastest.Operator, id, nil, "")), domain.Invalid)
	w.Must(w.Back(id, ""))
	w.Becomes(id, order.StatusRefunded)
	sagastest.Balance(w, id, 0)
	w.Equal("refunds", []int{w.Pay.Refunds(sagastest.Reference(id, 1)), w.Pay.Refunds(sagastest.Reference(id, 2))}, []int{1, 1})
	w.Equal("booked", w.Count(`select count(*) from payment_object where kind = 'refund' and order_id = $1`, id), 2)
	w.Equal("nothing is left", domain.CodeOf(w.Back(id, "")), domain.Conflict)
	w.Equal("an unknown order", domain.CodeOf(w.Back(uuid.New(), "")), domain.NotFound)
}

func TestARefundMadeAtTheProviderIsBookedOnce(t *testing.T) { // T19, T22, F-4, I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	w.Pay.Change(id, func(p *order.Payment) {
		p.Refunds = append(
			p.Refunds,
			order.Refund{ID: "re_desk", State: order.RefundSucceeded, Minor: 210, Currency: "EUR", At: time.Now()},
		)
	})
	atOnce(w, 60, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.Webhook(fmt.Sprintf("evt_back_%d", i/2), id)
	})
	w.Eventually("it is booked", func() bool { return w.Often(order.Stream(id), "order.partially_refunded") == 1 })
	still(w, id, order.StatusActive)
	w.Equal("booked", w.Often(order.Stream(id), "order.partially_refunded"), 1)
	sagastest.Balance(w, id, 1000)
	w.Equal("refunds by the panel", w.Count(`select count(*) from saga_run where key like 'refund:%'`), 0)
	w.Pay.Change(id, func(p *order.Payment) {
		p.Refunds = append(
			p.Refunds,
			order.Refund{ID: "re_rest", State: order.RefundSucceeded, Minor: 1000, Currency: "EUR", At: time.Now()},
		)
	})
	w.Must(w.Payments.Hint(t.Context(), id, "clock"))
	w.Becomes(id, order.StatusRefunded)
}

func TestARefundOfAnotherOrderIsNotOurs(t *testing.T) { // I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	first, second := bought(w), bought(w)
	r := order.Refund{ID: "re_one", State: order.RefundSucceeded, Minor: 100, Currency: "EUR", At: time.Now()}
	w.Pay.Change(first, func(p *order.Payment) { p.Refunds = append(p.Refunds, r) })
	w.Must(w.Payments.Hint(t.Context(), first, "clock"))
	w.Eventually("it is booked", func() bool { return w.Order(first).Net()["EUR"] == 1110 })
	w.Pay.Change(second, func(p *order.Payment) { p.Refunds = append(p.Refunds, r) })
	w.Must(w.Payments.Hint(t.Context(), second, "clock"))
	w.Eventually("an operator is told", func() bool { return w.Warned("belongs to another order") })
	sagastest.Balance(w, second, 1210)
}

func TestASurplusGoesBackByItself(t *testing.T) { // T21, F-11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Pay(id, func(p *order.Payment) { p.ID, p.At = "pay_again", time.Now().Add(time.Second) })
	w.Must(w.Webhook("evt_again", id))
	w.Becomes(id, order.StatusActive)
	w.Must(w.Payments.Hint(t.Context(), id, "clock"))
	w.Eventually("it is back", func() bool { return w.Order(id).Net()["EUR"] == 1210 && !w.Order(id).OnHold() })
	w.Equal("duplicates found", w.Often(order.Stream(id), "order.duplicate_payment_found"), 1)
	w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
	w.Settled(id)
}

func TestARefundThatIsRefusedHoldsTheOrderUntilItIsDecidedAnew(t *testing.T) { // T25
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	w.Pay.Tell(func(call, _ string) error {
		if call == "refund" {
			return domain.Fail(domain.Permanent, "insufficient_funds", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Must(w.Back(id, ""))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Equal("holds", w.Order(id).Holds, []order.Hold{order.RefundHold})
	w.Equal("status", w.Order(id).Status, order.StatusActive)
	w.Equal("the run", refundRun(w, id, 1).Status, sagas.StatusParked)
	w.Pay.Reset()
	w.Must(w.Back(id, ""))
	w.Becomes(id, order.StatusRefunded)
	w.Equal("holds", len(w.Order(id).Holds), 0)
	w.Equal("refunds", []int{w.Pay.Refunds(sagastest.Reference(id, 1)), w.Pay.Refunds(sagastest.Reference(id, 2))}, []int{0, 1})
	w.Eventually("the run that was refused is over", func() bool { return refundRun(w, id, 1).Status == sagas.StatusDone })
}

func TestBeforeARefundIsTriedAnewTheProviderIsAsked(t *testing.T) { // T25, F-21
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	var down atomic.Bool // from before the refund on: a check that runs beside it would find it
	w.Pay.Tell(func(call, _ string) error {
		down.CompareAndSwap(false, call == "refund")
		return nil
	}, func(call, _ string) error {
		switch {
		case call == "refund": // it went through, whatever the answer says
			return domain.Fail(domain.Permanent, "refused", sagastest.ErrLie)
		case call == "fetch" && down.Load():
			return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
		}
		return nil
	})
	w.Must(w.Back(id, ""))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Equal("while the provider is unavailable", domain.CodeOf(w.Back(id, "")), domain.Unavailable)
	w.Pay.Reset()
	w.Equal("it has gone back already", domain.CodeOf(w.Back(id, "")), domain.Conflict)
	w.Becomes(id, order.StatusRefunded)
	w.Equal("refunds", []int{w.Pay.Refunds(sagastest.Reference(id, 1)), w.Pay.Refunds(sagastest.Reference(id, 2))}, []int{1, 0})
}

func TestARefundThatIsPendingIsWaitedFor(t *testing.T) { // T19, 3.6
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.RefundCheck = 50 * time.Millisecond }).Goes()
	id := bought(w)
	w.Pay.Change(id, func(p *order.Payment) {
		p.Refunds = append(p.Refunds, order.Refund{ID: "re_slow", State: order.RefundPending, Minor: 1210, Currency: "EUR", At: time.Now()})
	})
	w.Must(w.Payments.Hint(t.Context(), id, "clock"))
	w.Eventually("it is on its way", func() bool { return w.Often(order.Stream(id), "order.refund_started") == 1 })
	sagastest.Balance(w, id, 1210)
	w.Pay.Change(id, func(p *order.Payment) { p.Refunds[0].State = order.RefundSucceeded })
	w.Becomes(id, order.StatusRefunded) // without a webhook
}

func TestAnOperatorAcceptsWhatCameOtherwise(t *testing.T) { // T11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor-- })
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Equal("without a reason", domain.CodeOf(w.Payments.Accept(t.Context(), sagastest.Operator, id, "")), domain.Invalid)
	w.Must(w.Payments.Accept(t.Context(), sagastest.Operator, id, "one cent is not worth a letter"))
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Equal("again", domain.CodeOf(w.Payments.Accept(t.Context(), sagastest.Operator, id, "again")), domain.Conflict)
}

func TestWhatIsNotAcceptedGoesBack(t *testing.T) { // T11, T24
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = 5000 })
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Must(w.Back(id, ""))
	w.Becomes(id, order.StatusRefunded)
	sagastest.Balance(w, id, 0)
	w.Equal("nothing was set up", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 0)
}

func TestAProviderThatAsksForPeaceIsLeftAlone(t *testing.T) { // J-2
	t.Parallel()
	w := sagastest.NewWorld(t)
	var asked atomic.Int32
	w.Pay.Tell(func(call, _ string) error {
		if call == "fetch" {
			asked.Add(1)
			return &domain.Failure{
				Class: domain.Transient, Code: "rate_limited", RetryAfter: 40 * time.Minute,
				Err: context.DeadlineExceeded,
			}
		}
		return nil
	}, nil)
	first, second := w.Place(sagastest.OrderForm{}), w.Place(sagastest.OrderForm{})
	w.Goes()
	w.Must(w.Payments.Hint(t.Context(), first, "return"))
	later := `select count(*) from payment_watch where order_id = $1 and next_at > now() + interval '30 minutes'`
	w.Eventually("it is put off", func() bool { return w.Count(later, first) == 1 })
	w.Must(w.Payments.Hint(t.Context(), second, "return"))
	w.Eventually("the other is put off too", func() bool { return w.Count(later, second) == 1 })
	w.Equal("questions", asked.Load(), 1)
	w.Equal("failures of the other", w.Count(`select coalesce(sum(attempts), 0) from payment_watch where order_id = $1`, second), 0)
}
