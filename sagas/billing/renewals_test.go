package billing_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/sagas/sagastest"
)

func told(w *sagastest.Renewals, id uuid.UUID) (all []string) {
	w.T.Helper()
	for _, i := range w.Invoices(id) {
		all = append(all, fmt.Sprintf("%s %s", i.Status, i.Total.StringFixed(2)))
	}
	return all
}

func TestAServiceIsRenewedForAsLongAsItIsPaid(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	begun := w.Subscription(id)
	for n := 1; n <= 3; n++ {
		w.Until(id, "billing.period_invoiced", n)
		w.Equal("open invoices", strings.Join(told(w, id), ", "), strings.Repeat("paid 12.10, ", n)+"open 12.10")
		paidBy := w.Pays(id)
		w.Becomes(paidBy, order.StatusActive)
		s := w.Subscription(id)
		w.Equal("period", s.Period, n)
		w.Equal("paid until", s.PeriodEnd, billing.PeriodStart(begun.PeriodStart, "monthly", n+1))
	}
	numbers := map[string]bool{}
	for n, i := range w.Invoices(id) {
		numbers[i.Number] = true
		w.Equal("period of the invoice", i.Lines[0].PeriodStart, billing.PeriodStart(begun.PeriodStart, "monthly", n))
		w.Equal("text of the invoice", i.Lines[0].Text, "Basic (mensual)")
	}
	w.Equal("numbers", len(numbers), 4)
	w.Equal("runs that provision", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

// What comes of a renewal has a correlation of its own, and its cause is the deadline.
func TestARenewalIsCausedByItsDeadline(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	history, err := w.Store.Read(t.Context(), billing.Advance{Order: id}.Stream())
	w.Must(err)
	invoice, err := w.Store.Read(t.Context(), billing.Pay{ID: w.Subscription(id).Open}.Stream())
	w.Must(err)
	for _, r := range []eventstore.RecordedEvent{history[len(history)-1], invoice[0]} {
		w.Equal("cause of "+r.Name, r.Metadata.Cause, domain.DeadlineCause(history[0].Stream, 1))
		w.Equal("a correlation of its own", r.Metadata.Correlation != uuid.Nil && r.Metadata.Correlation != id, true)
		w.Equal("one correlation", r.Metadata.Correlation, invoice[0].Metadata.Correlation)
	}
}

// The refund of a renewal is credited on its own invoice, and ends nothing by itself.
func TestTheRefundOfARenewalIsCredited(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	invoice := w.Subscription(id).Open
	paidBy := w.Pays(id)
	w.Becomes(paidBy, order.StatusActive)
	w.Pay.GiveAll(paidBy)
	w.Must(w.Payments.Hint(t.Context(), paidBy, "refund"))
	w.Becomes(paidBy, order.StatusRefunded)
	w.Eventually("it is credited", func() bool {
		i := w.Invoice(invoice)
		return i.Credited.Total.Equal(i.Total)
	})
	w.Equal("service", w.Order(id).Status, order.StatusActive)
	err := w.Panel.Orders.Cancel(t.Context(), sagastest.Cause(), paidBy, "no")
	w.Equal("a cancellation", domain.CodeOf(err), domain.Conflict)
	w.Equal("runs that end it", w.Count(`select count(*) from saga_run where key like 'deprovision:%'`), 0)
}

func TestAnInvoiceIsWaivedWithAReason(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.payment_overdue", 1)
	invoice := w.Subscription(id).Open
	w.Equal("without a reason", fmt.Sprint(w.Billing.Waive(t.Context(), sagastest.Cause(), invoice, "")), "reason: This field is required.")
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), invoice, "an outage"))
	w.Equal("period", w.Subscription(id).Period, 1)
	w.Equal("status", w.Subscription(id).Status, billing.Running)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, withdrawn 12.10")
}

func TestASubscriptionThatCannotGoOnStopsNoOther(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	broken, sound := w.Serves(sagastest.OrderForm{Kind: "saas"}), w.Serves(sagastest.OrderForm{Kind: "saas"})
	_, err := w.Owner().Exec(t.Context(), `delete from invoices where order_id = $1`, broken)
	w.Must(err)
	w.Until(sound, "billing.period_invoiced", 1)
	w.Eventually("operators are told", func() bool {
		return w.Warned("subscriptions were not renewed") && w.Warned("advance subscription "+broken.String())
	})
	w.Equal("steps of the other", w.Often(billing.Advance{Order: broken}.Stream(), "billing.period_invoiced"), 0)
}

// What costs nothing is renewed without a payment, and no customer is asked for one.
func TestAFreePlanIsRenewedByItself(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Place(sagastest.OrderForm{Kind: "saas", Price: "0"})
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = 0 })
	w.Must(w.Webhook("evt_"+id.String(), id))
	w.Becomes(id, order.StatusActive)
	w.Until(id, "billing.period_renewed", 2)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 0.00, paid 0.00, paid 0.00")
	s := w.Subscription(id)
	w.Equal("open", s.Open, uuid.Nil)
	w.Equal("period", s.Period, 2)
	user := w.Provision(id).Job.User
	w.Eventually("the customer is told of each invoice", func() bool {
		return w.Count(
			`select count(*) from notifications where user_id = $1 and url like '/panel/%' and notification_type = 'billing'`,
			user,
		) == 3
	})
	w.Equal("calls to pay", w.Count(`select count(*) from notifications where user_id = $1 and url like '/billing/invoices/%'`, user), 0)
}
