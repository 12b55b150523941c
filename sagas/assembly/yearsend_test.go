package assembly_test

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
	y.t.Helper()
	y.falls("payments that have not come to their end", func() int {
		y.operatorsMend()
		waiting := y.count(`select count(*) from orders where invoice is not null and status not in ('active', 'refunded', 'cancelled')`)
		if waiting > 0 {
			y.must(y.store.Clock().Advance(y.t.Context(), time.Hour))
		}
		return waiting
	})
	y.keepsUp()
	y.falls("open invoices of what has ended", func() int {
		return y.count(`select count(*) from invoices i join subscriptions s on s.order_id = i.order_id where i.status = 'open' and s.status in ('ended', 'cancelling')`)
	})
	y.falls("runs on their way", func() int {
		y.operatorsMend()
		return y.count(`select count(*) from saga_run where status in ('ready', 'running') and not (key like 'deprovision:%')`)
	})
	y.equal("runs that are stuck", y.text(`select coalesce(string_agg(key || ' at ' || step, ', '), '') from saga_run where status = 'parked'`), "")
	y.equal("reactions that failed", y.warned("a reaction failed for good"), false)
}

// everyPeriodIsBilledOnce replays the subscriptions.
func (y *years) everyPeriodIsBilledOnce() {
	y.t.Helper()
	for _, id := range y.services {
		history, err := y.store.Read(y.t.Context(), billing.Advance{Order: id}.Stream())
		y.must(err)
		period, open := 0, uuid.Nil
		var s billing.Subscription
		for _, r := range history {
			until := s.PeriodEnd
			s = billing.Subscriptions.Evolve(s, r.Event.(billing.SubscriptionEvent)) //nolint:forcetypeassert // of such a stream
			switch e := r.Event.(type) {
			case billing.PlanChanged:
				y.equal("invoices that are open beside a change", open, uuid.Nil)
				period = e.Period
			case billing.PeriodInvoiced:
				y.equal("beginning of a period", e.PeriodStart, until)
				y.equal("period", e.Period, period+1)
				y.equal("invoices that are open before another", open, uuid.Nil)
				open = e.Invoice
			case billing.PeriodRenewed:
				y.equal("renewed by", e.Invoice, open)
				period, open = e.Period, uuid.Nil
			case billing.CancellationRequested:
				open = uuid.Nil
			}
		}
	}
}

func (y *years) numbersHaveNoGap() {
	y.t.Helper()
	for _, table := range []string{"invoices", "credit_notes"} {
		y.equal("gaps in the numbers of "+table, y.count(`select count(*) from (
			select right(number, 6)::int - row_number() over (partition by left(number, length(number) - 7) order by number) as gap from `+table+`) numbered where gap <> 0`), 0)
	}
}

// booksAreEqual compares what the provider holds with what invoices say.
func (y *years) booksAreEqual() {
	y.t.Helper()
	for _, id := range y.ids(`select id from orders where invoice is not null`) {
		o, err := y.tables.For(projections.System).Order(y.t.Context(), id)
		y.must(err)
		owed := decimal.Zero
		if o.Invoice != nil {
			i := y.invoice(*o.Invoice)
			if i.PaidBy == id {
				owed = i.Total.Sub(i.Credited.Total)
			}
		}
		y.equal("kept of "+o.OrderNumber+" ("+string(o.Status)+")", money.Major(y.pay.kept(id), "EUR").StringFixed(2), owed.StringFixed(2))
	}
}

// restsWhoHasNotPaid compares tenants with their subscriptions.
func (y *years) restsWhoHasNotPaid() {
	y.t.Helper()
	for _, id := range y.services {
		s := y.subscription(id)
		if s.Status == billing.Over {
			continue
		}
		tenant := hosting.Ref{Kind: "tenant", ID: s.Tenant}
		y.eventually("the tenant is as its subscription", func() bool {
			return slices.Contains(y.reasons(tenant), hosting.ByInvoice) == (s.Status == billing.Suspended)
		})
	}
}

// limitsAreThoseOfThePlan compares tenants at the engine with their subscriptions.
func (y *years) limitsAreThoseOfThePlan() {
	y.t.Helper()
	for _, id := range y.services {
		s := y.subscription(id)
		if s.Status == billing.Over || y.provision(id).Job.Type != "hosting" {
			continue
		}
		want := map[string]string{"Basic": "5", "Large": "10", "Small": "1"}[s.PlanName]
		y.eventually("the engine has the limits of "+s.PlanName, func() bool { return y.sitesAtEngine(id) == want })
	}
}
