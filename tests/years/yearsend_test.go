//go:build system

package years_test

import (
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/projections"
)

// settles lets every payment come to its end.
func (y *years) settles() {
	y.T.Helper()
	y.falls("payments that have not come to their end", func() int {
		y.operatorsMend()
		waiting := y.Count(`select count(*) from orders where invoice is not null and status not in ('active', 'refunded', 'cancelled')`)
		if waiting > 0 {
			y.Must(y.Store.Clock().Advance(y.T.Context(), time.Hour))
		}
		return waiting
	})
	y.keepsUp()
	y.falls("open invoices of what has ended", func() int {
		return y.Count(`select count(*) from invoices i join subscriptions s on s.order_id = i.order_id
			where i.status = 'open' and s.status in ('ended', 'cancelling')`)
	})
	y.falls("runs on their way", func() int {
		y.operatorsMend()
		return y.Count(`select count(*) from saga_run where status in ('ready', 'running') and not (key like 'deprovision:%')`)
	})
	y.Equal("runs that are stuck", y.Text(`select coalesce(string_agg(key || ' at ' || step, ', '), '') from saga_run
		where status = 'parked'`), "")
	y.Equal("reactions that failed", y.Warned("a reaction failed for good"), false)
}

// everyPeriodIsBilledOnce replays the subscriptions.
func (y *years) everyPeriodIsBilledOnce() {
	y.T.Helper()
	for _, id := range y.services {
		history, err := y.Store.Read(y.T.Context(), billing.Advance{Order: id}.Stream())
		y.Must(err)
		period, open := 0, uuid.Nil
		var s billing.Subscription
		for _, r := range history {
			until := s.PeriodEnd
			s = billing.Subscriptions.Evolve(s, r.Event.(billing.SubscriptionEvent)) //nolint:forcetypeassert // of such a stream
			switch e := r.Event.(type) {
			case billing.PlanChanged:
				y.Equal("invoices that are open beside a change", open, uuid.Nil)
				period = e.Period
			case billing.PeriodInvoiced:
				y.Equal("beginning of a period", e.PeriodStart, until)
				y.Equal("period", e.Period, period+1)
				y.Equal("invoices that are open before another", open, uuid.Nil)
				open = e.Invoice
			case billing.PeriodRenewed:
				y.Equal("renewed by", e.Invoice, open)
				period, open = e.Period, uuid.Nil
			case billing.CancellationRequested:
				open = uuid.Nil
			}
		}
	}
}

func (y *years) numbersHaveNoGap() {
	y.T.Helper()
	for _, table := range []string{"invoices", "credit_notes"} {
		y.Equal("gaps in the numbers of "+table, y.Count(`select count(*) from (
			select right(number, 6)::int - row_number() over (partition by left(number, length(number) - 7)
				order by number) as gap from `+table+`) numbered where gap <> 0`), 0)
	}
}

// booksAreEqual compares what the provider holds with what invoices say.
func (y *years) booksAreEqual() {
	y.T.Helper()
	for _, id := range y.ids(`select id from orders where invoice is not null`) {
		o, err := y.Tables.For(projections.System).Orders().Order(y.T.Context(), id)
		y.Must(err)
		owed := decimal.Zero
		if o.Invoice != nil {
			i := y.Invoice(*o.Invoice)
			if i.PaidBy == id {
				owed = i.Total.Sub(i.Credited.Total)
			}
		}
		y.Equal("kept of "+o.OrderNumber+" ("+string(o.Status)+")", money.Major(y.Pay.Kept(id), "EUR").StringFixed(2), owed.StringFixed(2))
	}
}

// restsWhoHasNotPaid compares tenants with their subscriptions.
func (y *years) restsWhoHasNotPaid() {
	y.T.Helper()
	for _, id := range y.services {
		s := y.Subscription(id)
		if s.Status == billing.Over {
			continue
		}
		tenant := hosting.Ref{Kind: "tenant", ID: s.Tenant}
		y.Eventually("the tenant is as its subscription", func() bool {
			return slices.Contains(y.Reasons(tenant), hosting.ByInvoice) == (s.Status == billing.Suspended)
		})
	}
}

// limitsAreThoseOfThePlan compares tenants at the engine with their subscriptions.
func (y *years) limitsAreThoseOfThePlan() {
	y.T.Helper()
	for _, id := range y.services {
		s := y.Subscription(id)
		if s.Status == billing.Over || y.Provision(id).Job.Type != "hosting" {
			continue
		}
		want := map[string]string{"Basic": "5", "Large": "10", "Small": "1"}[s.PlanName]
		y.Eventually("the engine has the limits of "+s.PlanName, func() bool { return y.SitesAtEngine(id) == want })
	}
}
