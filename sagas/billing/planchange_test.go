package billing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func invoicesOf(i billing.ChangePreview) (all []string) {
	for _, l := range i.Invoice.Lines {
		all = append(all, l.Text+" "+l.Total.StringFixed(2))
	}
	return append(all, "total "+i.Invoice.Total.StringFixed(2))
}

// The difference is paid, and then the limits change at the engine, once. The preview has
// said so to the cent, and has done nothing.
func TestAPaidUpgradeChangesTheLimitsOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Domain: "grows.example"})
	const written = `select count(*) from events where name like 'billing.%' or name like 'hosting.%'`
	head := w.Count(written)
	before, calls, err := w.Billing.PreviewChange(t.Context(), id, sagastest.LargePlan, "monthly")
	w.Must(err)
	w.Equal("events of a preview", w.Count(written), head)
	w.Equal("lines", invoicesOf(before), "[Large, resto del periodo 24.20 Tiempo no utilizado de Basic -12.10 total 12.10]")
	w.Equal("it counts now", before.Now, true)
	w.Equal("calls", calls, fmt.Sprintf("[{change %s [{max_sites 5 10}]}]", strings.Replace(w.Client(id), "/", " ", 1)))
	w.Equal("what does not fit", len(before.Over), 0)

	changed := w.Engine.Changes(w.Client(id))
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	w.Equal("a repeat", w.Changes(id, sagastest.LargePlan, "monthly"), nil)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, open 12.10")
	w.Equal("plan until it is paid", w.Subscription(id).PlanName, "Basic")
	row, err := w.Tables.For(projections.System).Billing().Subscription(t.Context(), id)
	w.Must(err)
	w.Equal("what is shown", fmt.Sprint(*row.ChangePlanName, " ", *row.ChangeInvoice == w.Subscription(id).Change.Invoice), "Large true")
	paidBy := w.PaysChange(id)
	w.Becomes(paidBy, order.StatusActive)
	w.Planned(id, "Large", "10")
	w.Equal("changes at the engine", w.Engine.Changes(w.Client(id))-changed, 1)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10")
	w.Until(id, "billing.period_invoiced", 1)
	w.Equal("the next period", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10, open 24.20")
	refused := w.Changes(id, sagastest.SmallPlan, "monthly")
	w.Equal("a change beside an open invoice", fmt.Sprint(refused), "The next period is billed already. Pay its invoice first.")
}

func TestAnUpgradeThatIsPaidTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	invoice := w.Subscription(id).Change.Invoice
	page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice})
	w.Must(err)
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "bank_transfer", "statement 7"))
	w.Paid(page.ID)
	w.Becomes(page.ID, order.StatusRefunded)
	w.Planned(id, "Large", "10")
	w.Equal("changes of the plan", w.Often(billing.Advance{Order: id}.Stream(), "billing.plan_changed"), 1)
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'change-plan:%'`), 1)
	w.Equal("credit notes", w.Count(`select count(*) from credit_notes`), 0)
}

// A change that is not paid lapses. What is paid for it later goes back, and the
// subscription is renewed as it was.
func TestAnUnpaidUpgradeLapses(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Email: "late@example.com", Language: "en"})
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Subscription(id).Change.Invoice})
	w.Must(err)
	w.Until(id, "billing.change_withdrawn", 1)
	w.Eventually("its invoice is withdrawn", func() bool { return strings.Join(told(w, id), ", ") == "paid 12.10, withdrawn 12.10" })
	w.Paid(page.ID)
	w.Becomes(page.ID, order.StatusRefunded)
	w.Until(id, "billing.period_invoiced", 1)
	w.Equal("the next period", strings.Join(told(w, id), ", "), "paid 12.10, withdrawn 12.10, open 12.10")
	w.Equal("sites", w.SitesAtEngine(id), "5")
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'change-plan:%'`), 0)
	user := w.Provision(id).Job.User
	for _, title := range []string{"An invoice for your new plan", "Your plan has not changed"} {
		w.Eventually("the customer is told: "+title, func() bool { return strings.Contains(w.Titles(user), title) })
	}
}

// A downgrade counts from the end of the period on, with its price and its limits. Until
// then it can be taken back.
func TestADowngradeComesWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Domain: "shrinks.example", Email: "less@example.com", Language: "en"})
	preview, _, err := w.Billing.PreviewChange(t.Context(), id, sagastest.SmallPlan, "monthly")
	w.Must(err)
	w.Equal("lines", invoicesOf(preview), "[Small (monthly) 6.05 total 6.05]")
	w.Equal("it counts now", preview.Now, false)
	w.Must(w.Changes(id, sagastest.SmallPlan, "monthly"))
	w.Must(w.Changes(id, sagastest.BasicPlan, "monthly")) // taken back
	w.Equal("planned", w.Subscription(id).Change == nil, true)
	w.Must(w.Changes(id, sagastest.SmallPlan, "monthly"))
	end := w.Subscription(id).PeriodEnd
	w.Until(id, "billing.plan_changed", 1)
	w.Equal("not before the end", w.Runner.Now().Before(end), false)
	w.Planned(id, "Small", "1")
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, open 6.05")
	page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Subscription(id).Open})
	w.Must(err)
	w.PaysTotal(page.ID, w.Subscription(id).Open)
	w.Eventually("it is paid", func() bool { return w.Subscription(id).Open == uuid.Nil })
	w.Equal("paid until", w.Subscription(id).PeriodEnd, billing.PeriodStart(w.Subscription(id).Anchor, "monthly", 2))
	user := w.Provision(id).Job.User
	w.Eventually("the customer is told", func() bool { return strings.Contains(w.Titles(user), "Your plan has changed") })
}

// A plan that is too small is refused. If it has become too small by the end of the
// period, the subscription goes on with its plan and price, and people are told.
func TestADowngradeThatDoesNotFitDoesNotCome(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Domain: "first.example", Email: "full@example.com", Language: "en"})
	tenant := w.Subscription(id).Tenant
	w.Must(w.Changes(id, sagastest.SmallPlan, "monthly"))
	site := hosting.Site{Domain: "second.example", IPAddress: "*", IsActive: true}
	w.Does(hosting.Request{Ref: hosting.Ref{Kind: "site", ID: w.Draw("site")}, Tenant: tenant, Spec: site.Fields().Values()})
	preview, _, err := w.Billing.PreviewChange(t.Context(), id, sagastest.SmallPlan, "monthly")
	w.Must(err)
	w.Equal("what does not fit", preview.Over, "[{sites 2 1}]")
	w.Equal("a yearly one", w.Changes(id, sagastest.SmallPlan, "yearly"), "plan: The plan is too small for what is used: 2 sites of 1.")
	w.Until(id, "billing.change_dropped", 1)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, open 12.10")
	w.Equal("plan", w.Subscription(id).PlanName, "Basic")
	w.Equal("sites", w.SitesAtEngine(id), "5")
	user := w.Provision(id).Job.User
	w.Eventually("the customer is told", func() bool { return strings.Contains(w.Titles(user), "Your plan has not changed") })
	if names := strings.Join(w.Happened(billing.Advance{Order: id}.Stream()), " "); !strings.HasSuffix(
		names, "billing.change_dropped billing.period_invoiced",
	) {
		t.Error(names)
	}
}

// A preview tells the amounts also while the engine does not answer.
func TestAPreviewDoesWithoutTheEngine(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	w.Engine.Tell(func(call, _ string) error {
		if call == "find" {
			return domain.Fail(domain.Transient, "engine_unreachable", errors.New("no answer"))
		}
		return nil
	}, nil)
	preview, calls, err := w.Billing.PreviewChange(t.Context(), id, sagastest.LargePlan, "monthly")
	w.Must(err)
	w.Equal("preview", fmt.Sprint(preview.Silent, len(calls), preview.Invoice.Total), "true 0 12.1")
}

func TestAPlanThatAServiceCannotHaveIsRefused(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	site, server := w.Serves(sagastest.OrderForm{}), w.Serves(sagastest.OrderForm{Kind: "vps"})
	for plan, says := range map[int64]string{
		4: "plan: The plan is for another sort of service.", 6: "plan: The plan has another currency.",
		7: "plan: There is no such plan on offer.", 99: "plan: There is no such plan on offer.",
	} {
		w.Equal("plan", w.Changes(site, plan, "monthly"), says)
	}
	w.Equal(
		"a server", w.Changes(server, 4, "monthly"),
		"plan: The disk of a virtual server cannot shrink: it has 40 GB.",
	)
	w.Equal("no subscription", domain.CodeOf(w.Changes(uuid.New(), sagastest.LargePlan, "monthly")), domain.NotFound)
	w.Must(w.Billing.Cancel(t.Context(), sagastest.Cause(), site))
	w.Equal(
		"a cancelled one", w.Changes(site, sagastest.LargePlan, "monthly"),
		"The subscription is cancelled. Take the cancellation back first.",
	)
}
