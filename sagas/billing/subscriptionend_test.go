package billing_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestACancelledServiceEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	revokes(w, id)
	w.Until(id, "billing.period_invoiced", 2)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, withdrawn 12.10, open 12.10")
	w.Must(w.Billing.Cancel(t.Context(), sagastest.Cause(), id))
	w.Until(id, "billing.subscription_ended", 1)
	w.Becomes(id, order.StatusCancelled)
	w.Equal("it ended", !w.Runner.Now().Before(w.Subscription(id).PeriodEnd), true)
}

// The panel looks each hour here. The next invoice comes with the revocation all the same.
func TestARevokedCancellationIsBilledAtOnce(t *testing.T) {
	t.Parallel()
	w := lookingHourly(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	revokes(w, id)
	w.Eventually("the next one is issued", func() bool {
		return slices.Equal(told(w, id), []string{"paid 12.10", "withdrawn 12.10", "open 12.10"})
	})
}

// revokes cancels a service whose next period was invoiced, and keeps it on.
func revokes(w *sagastest.Renewals, id uuid.UUID) {
	w.T.Helper()
	w.Until(id, "billing.period_invoiced", 1)
	w.Must(w.Billing.Cancel(w.T.Context(), sagastest.Cause(), id))
	w.Eventually("its invoice is withdrawn", func() bool { return slices.Equal(told(w, id), []string{"paid 12.10", "withdrawn 12.10"}) })
	w.Must(w.Billing.KeepOn(w.T.Context(), sagastest.Cause(), id))
}

func lookingHourly(t *testing.T) *sagastest.Renewals {
	t.Helper()
	return sagastest.RenewalsOn(sagastest.NewWorldWithClock(t, func(o *assembly.Options) { o.Times.BillingLook = time.Hour }))
}

// What is cancelled at once ends at once, and its unused time is refunded and credited.
func TestUnusedTimeIsRefundedWhenAServiceIsCancelledAtOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.RenewalsOn(sagastest.NewWorldWithClock(t, func(o *assembly.Options) { o.Policy.RefundUnused = true }))
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	renewal := w.Pays(id)
	w.Becomes(renewal, order.StatusActive)
	s := w.Subscription(id)
	w.Must(w.Store.Clock().Advance(t.Context(), s.PeriodStart.Add(s.PeriodEnd.Sub(s.PeriodStart)/4).Sub(w.Runner.Now())))
	w.Must(w.Billing.CancelNow(t.Context(), sagastest.Cause(), id))
	w.Becomes(id, order.StatusCancelled)
	history, err := w.Store.Read(t.Context(), billing.Advance{Order: id}.Stream())
	w.Must(err)
	ended := history[len(history)-1].Event.(billing.SubscriptionEnded)
	unused := decimal.RequireFromString("9.08")
	if ended.Refund.Sub(unused).Abs().GreaterThan(decimal.RequireFromString("0.01")) {
		t.Errorf("Three quarters of the period are worth %s.", ended.Refund)
	}
	w.Eventually("the refund is credited on the invoice of the renewal", func() bool {
		return w.Invoice(w.Invoices(id)[1].ID).Credited.Total.Equal(ended.Refund)
	})
	again(w, id, "billing.subscription_ended")
	w.Equal("kept after it happens again", money.Major(w.Pay.Kept(renewal), "EUR").Add(ended.Refund).StringFixed(2), "12.10")
	w.Equal("refunds that were asked for", w.Count(`select count(*) from saga_run where key like 'refund:%'`), 1)
	w.Equal("kept of the first payment", money.Major(w.Pay.Kept(id), "EUR").StringFixed(2), "12.10")
	w.Equal("a second time", domain.CodeOf(w.Billing.CancelNow(t.Context(), sagastest.Cause(), id)), domain.Conflict)
}

// whileLocked does something while a process waits for a table that cannot be read. What it
// waits for begins once the table is locked.
func whileLocked(w *sagastest.World, table string, begins, meanwhile func()) {
	w.T.Helper()
	held, err := w.Owner().Begin(w.T.Context())
	w.Must(err)
	defer func() { _ = held.Rollback(context.WithoutCancel(w.T.Context())) }()
	_, err = held.Exec(w.T.Context(), `lock table `+table)
	w.Must(err)
	begins()
	w.Eventually("a process waits for "+table, func() bool {
		return w.Count(`select count(*) from pg_locks where database = (select oid from pg_database
			where datname = current_database()) and relation = $1::regclass and not granted`, table) > 0
	})
	meanwhile()
}

// The order that began a service is refunded, and the service ends. What was paid beside it for
// time that is not over is held: an operator gives it back, or keeps it.
func TestMoneyForTimeOfARefundedServiceIsHeld(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	held := func(id uuid.UUID) string { return fmt.Sprint(w.Order(id).Holds) }
	upgraded := w.Serves(sagastest.OrderForm{Domain: "upgraded.example"})
	w.Must(w.Changes(upgraded, sagastest.LargePlan, "monthly"))
	change := w.PaysChange(upgraded)
	w.Becomes(change, order.StatusActive)
	w.Planned(upgraded, "Large", "10")
	w.Must(w.Back(upgraded, ""))
	w.Refunded(upgraded)
	w.Eventually("the change is held", func() bool { return held(change) == "[needs_operator]" })
	w.Equal("service", w.Order(change).Status, order.StatusActive)
	w.Must(w.Back(change, "2.00"))
	w.Eventually("a part has gone back", func() bool { sagastest.GivesBack(w.World, change); return len(w.Order(change).Refunds) == 1 })
	w.Equal("after a part", held(change), "[needs_operator]")
	w.Must(w.Back(change, ""))
	w.Refunded(change)
	w.Equal("after all of it", held(change), "[]")

	renewed := w.Serves(sagastest.OrderForm{Kind: "saas"})
	var renewals []uuid.UUID
	for n := range 2 {
		w.Until(renewed, "billing.period_invoiced", n+1)
		renewals = append(renewals, w.Pays(renewed))
		w.Becomes(renewals[n], order.StatusActive)
	}
	w.Until(renewed, "billing.period_invoiced", 3) // the time of the first renewal is over
	w.Pay.Change(renewed, func(p *order.Payment) {
		p.Disputes = []order.Dispute{{ID: "dp_1", State: order.DisputeLost, Minor: p.Minor, Currency: p.Currency, At: time.Now()}}
	})
	w.Must(w.Payments.Hint(t.Context(), renewed, "clock"))
	w.Becomes(renewed, order.StatusRefunded)
	w.Eventually("the last renewal is held", func() bool { return held(renewals[1]) == "[needs_operator]" })
	if !w.Warned("other payments of its time are left") {
		t.Error("no user was told")
	}
	w.Must(w.Payments.Accept(t.Context(), sagastest.Operator, renewals[1], "the service was used"))
	w.Equal("kept", held(renewals[1]), "[]")
	repeats(w, billing.Advance{Order: renewed}.Stream(), "billing.subscription_ended")
	w.Equal("after a repeat", held(renewals[1]), "[]")
	w.Equal("of a time that is over", len(w.Order(renewals[0]).Holds), 0)
	w.Equal("held orders", w.Count(`select count(*) from orders where holds <> '{}'`), 0)
}
