package assembly_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// The plans of these stories: the one that orders have, a larger one, and a smaller one.
const (
	basicPlan = 1
	largePlan = 2
	smallPlan = 3
)

const unlimited = `,"quota_databases":-1,"quota_mailboxes":-1,"quota_domains":-1,"quota_ftp_users":-1`

// withPlans is a world in which plans can be changed.
func withPlans(t *testing.T, change ...func(*assembly.Options)) *renewing {
	t.Helper()
	w := newWorld(t, change...)
	for id, body := range map[int64]string{
		basicPlan: `{"name":"Basic","price":"12.10","resource_type":"hosting","quota_sites":5,"quota_storage_gb":10` + unlimited + `}`,
		largePlan: `{"name":"Large","price":"24.20","resource_type":"hosting","quota_sites":10,"quota_storage_gb":10` + unlimited + `}`,
		smallPlan: `{"name":"Small","price":"6.05","resource_type":"hosting","quota_sites":1,"quota_storage_gb":10` + unlimited + `}`,
		4:         `{"name":"Server","price":"6.05","resource_type":"vps"}`,
		5:         `{"name":"Agency","price":"48.40","resource_type":"saas","saas_max_vms":9}`,
		6:         `{"name":"Dollars","price":"6.05","currency":"USD","resource_type":"hosting"}`,
		8:         `{"name":"Studio","price":"12.10","resource_type":"saas","saas_max_vms":3}`,
		7:         `{"name":"Gone","price":"6.05","resource_type":"hosting","is_active":false}`,
	} {
		var p storefront.Plan
		_, err := p.Fields().DecodeJSON([]byte(body), field.Create)
		w.must(err)
		w.do(storefront.OfferPlan{Plan: id, Spec: p.Fields().Values(), At: w.Now()})
	}
	return renewingOn(w)
}

func (w *renewing) changes(id uuid.UUID, plan int64, cycle string) error {
	return w.Billing.ChangePlan(w.t.Context(), caused(), id, plan, cycle)
}

// paysChange pays the open invoice of a change at the provider.
func (w *renewing) paysChange(id uuid.UUID) uuid.UUID {
	w.t.Helper()
	page, err := w.orders.PayInvoice(w.t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Change.Invoice})
	w.must(err)
	w.paysTotal(page.ID, w.subscription(id).Change.Invoice)
	return page.ID
}

// paysTotal pays the total of an invoice by an order.
func (w *renewing) paysTotal(id, invoice uuid.UUID) {
	w.t.Helper()
	minor, _ := money.Minor(w.invoice(invoice).Total, "EUR")
	w.pay.pay(id, func(p *order.Payment) { p.Minor = minor })
	w.must(w.webhook("evt_"+id.String(), id))
}

// client is the engine's name for the tenant of a service.
func (w *renewing) client(id uuid.UUID) string {
	return "tenant/" + hosting.CustomerNumber(w.subscription(id).Tenant)
}

func (w *renewing) sitesAtEngine(id uuid.UUID) string {
	return string(w.engine.all()[w.client(id)].Values["max_sites"])
}

// planned waits until the engine has the limit of a plan.
func (w *renewing) planned(id uuid.UUID, plan, sites string) {
	w.t.Helper()
	w.eventually("the plan is "+plan, func() bool { return w.subscription(id).PlanName == plan })
	w.eventually("the engine has its limit", func() bool { return w.sitesAtEngine(id) == sites })
	w.eventually("its run is done", func() bool {
		return w.count(`select count(*) from saga_run where key like 'change-plan:%' and status <> 'done'`) == 0
	})
}

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
	w := withPlans(t)
	id := w.serves(ordering{domain: "grows.example"})
	const written = `select count(*) from events where name like 'billing.%' or name like 'hosting.%'`
	head := w.count(written)
	before, calls, err := w.Billing.PreviewChange(t.Context(), id, largePlan, "monthly")
	w.must(err)
	w.equal("events of a preview", w.count(written), head)
	w.equal("lines", invoicesOf(before), "[Large, resto del periodo 24.20 Tiempo no utilizado de Basic -12.10 total 12.10]")
	w.equal("it counts now", before.Now, true)
	w.equal("calls", calls, fmt.Sprintf("[{change %s [{max_sites 5 10}]}]", strings.Replace(w.client(id), "/", " ", 1)))
	w.equal("what does not fit", len(before.Over), 0)

	changed := w.engine.changes(w.client(id))
	w.must(w.changes(id, largePlan, "monthly"))
	w.equal("a repeat", w.changes(id, largePlan, "monthly"), nil)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, open 12.10")
	w.equal("plan until it is paid", w.subscription(id).PlanName, "Basic")
	row, err := w.tables.For(projections.System).Subscription(t.Context(), id)
	w.must(err)
	w.equal("what is shown", fmt.Sprint(*row.ChangePlanName, " ", *row.ChangeInvoice == w.subscription(id).Change.Invoice), "Large true")
	paidBy := w.paysChange(id)
	w.becomes(paidBy, order.StatusActive)
	w.planned(id, "Large", "10")
	w.equal("changes at the engine", w.engine.changes(w.client(id))-changed, 1)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10")
	w.until(id, "billing.period_invoiced", 1)
	w.equal("the next period", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10, open 24.20")
	refused := w.changes(id, smallPlan, "monthly")
	w.equal("a change beside an open invoice", fmt.Sprint(refused), "The next period is billed already. Pay its invoice first.")
}

func TestAnUpgradeThatIsPaidTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{})
	w.must(w.changes(id, largePlan, "monthly"))
	invoice := w.subscription(id).Change.Invoice
	page, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: invoice})
	w.must(err)
	w.must(w.Billing.MarkPaid(t.Context(), caused(), invoice, "bank_transfer", "statement 7"))
	w.paid(page.ID)
	w.becomes(page.ID, order.StatusRefunded)
	w.planned(id, "Large", "10")
	w.equal("changes of the plan", w.often(billing.Advance{Order: id}.Stream(), "billing.plan_changed"), 1)
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'change-plan:%'`), 1)
	w.equal("credit notes", w.count(`select count(*) from credit_notes`), 0)
}

// A change that is not paid lapses. What is paid for it later goes back, and the
// subscription is renewed as it was.
func TestAnUnpaidUpgradeLapses(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{email: "late@example.com", language: "en"})
	w.must(w.changes(id, largePlan, "monthly"))
	page, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Change.Invoice})
	w.must(err)
	w.until(id, "billing.change_withdrawn", 1)
	w.eventually("its invoice is withdrawn", func() bool { return strings.Join(w.told(id), ", ") == "paid 12.10, withdrawn 12.10" })
	w.paid(page.ID)
	w.becomes(page.ID, order.StatusRefunded)
	w.until(id, "billing.period_invoiced", 1)
	w.equal("the next period", strings.Join(w.told(id), ", "), "paid 12.10, withdrawn 12.10, open 12.10")
	w.equal("sites", w.sitesAtEngine(id), "5")
	w.equal("runs", w.count(`select count(*) from saga_run where key like 'change-plan:%'`), 0)
	user := w.provision(id).Job.User
	for _, title := range []string{"An invoice for your new plan", "Your plan has not changed"} {
		w.eventually("the customer is told: "+title, func() bool { return strings.Contains(w.titles(user), title) })
	}
}

// Of many changes at once one comes, with one open invoice at most.
func TestManyChangesAtOnceAreOne(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			err := w.changes(id, []int64{largePlan, smallPlan}[i%2], []string{"monthly", "yearly"}[i/2%2])
			if err != nil && domain.CodeOf(err) != domain.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := w.subscription(id)
	w.eventually("the others are withdrawn", func() bool {
		var open []uuid.UUID
		for _, i := range w.invoices(id) {
			if i.Status == billing.Open {
				open = append(open, i.ID)
			}
		}
		return len(open) == 0 && s.Change.Invoice == uuid.Nil || len(open) == 1 && open[0] == s.Change.Invoice
	})
	names := w.happened(billing.Advance{Order: id}.Stream())
	asked := w.often(billing.Advance{Order: id}.Stream(), "billing.change_invoiced") + w.often(billing.Advance{Order: id}.Stream(), "billing.change_planned")
	w.equal("changes that were replaced", w.often(billing.Advance{Order: id}.Stream(), "billing.change_withdrawn"), asked-1)
	w.equal("the last event", slices.Contains([]string{"billing.change_invoiced", "billing.change_planned"}, names[len(names)-1]), true)
}

// A downgrade counts from the end of the period on, with its price and its limits. Until
// then it can be taken back.
func TestADowngradeComesWithTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{domain: "shrinks.example", email: "less@example.com", language: "en"})
	preview, _, err := w.Billing.PreviewChange(t.Context(), id, smallPlan, "monthly")
	w.must(err)
	w.equal("lines", invoicesOf(preview), "[Small (monthly) 6.05 total 6.05]")
	w.equal("it counts now", preview.Now, false)
	w.must(w.changes(id, smallPlan, "monthly"))
	w.must(w.changes(id, basicPlan, "monthly")) // taken back
	w.equal("planned", w.subscription(id).Change == nil, true)
	w.must(w.changes(id, smallPlan, "monthly"))
	end := w.subscription(id).PeriodEnd
	w.until(id, "billing.plan_changed", 1)
	w.equal("not before the end", w.Now().Before(end), false)
	w.planned(id, "Small", "1")
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, open 6.05")
	page, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Open})
	w.must(err)
	w.paysTotal(page.ID, w.subscription(id).Open)
	w.eventually("it is paid", func() bool { return w.subscription(id).Open == uuid.Nil })
	w.equal("paid until", w.subscription(id).PeriodEnd, billing.PeriodStart(w.subscription(id).Anchor, "monthly", 2))
	user := w.provision(id).Job.User
	w.eventually("the customer is told", func() bool { return strings.Contains(w.titles(user), "Your plan has changed") })
}

// A plan that is too small is refused. If it has become too small by the end of the
// period, the subscription goes on with its plan and price, and people are told.
func TestADowngradeThatDoesNotFitDoesNotCome(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{domain: "first.example", email: "full@example.com", language: "en"})
	tenant := w.subscription(id).Tenant
	w.must(w.changes(id, smallPlan, "monthly"))
	site := hosting.Site{Domain: "second.example", IPAddress: "*", IsActive: true}
	w.do(hosting.Request{Ref: hosting.Ref{Kind: "site", ID: w.draw("site")}, Tenant: tenant, Spec: site.Fields().Values()})
	preview, _, err := w.Billing.PreviewChange(t.Context(), id, smallPlan, "monthly")
	w.must(err)
	w.equal("what does not fit", preview.Over, "[{sites 2 1}]")
	w.equal("a yearly one", w.changes(id, smallPlan, "yearly"), "plan: The plan is too small for what is used: 2 sites of 1.")
	w.until(id, "billing.change_dropped", 1)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, open 12.10")
	w.equal("plan", w.subscription(id).PlanName, "Basic")
	w.equal("sites", w.sitesAtEngine(id), "5")
	user := w.provision(id).Job.User
	w.eventually("the customer is told", func() bool { return strings.Contains(w.titles(user), "Your plan has not changed") })
	if names := strings.Join(w.happened(billing.Advance{Order: id}.Stream()), " "); !strings.HasSuffix(names, "billing.change_dropped billing.period_invoiced") {
		t.Error(names)
	}
}

// A preview tells the amounts also while the engine does not answer.
func TestAPreviewDoesWithoutTheEngine(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{})
	w.engine.tell(func(call, _ string) error {
		if call == "find" {
			return domain.Fail(domain.Transient, "engine_unreachable", errors.New("no answer"))
		}
		return nil
	}, nil)
	preview, calls, err := w.Billing.PreviewChange(t.Context(), id, largePlan, "monthly")
	w.must(err)
	w.equal("preview", fmt.Sprint(preview.Silent, len(calls), preview.Invoice.Total), "true 0 12.1")
}

// From a month to a year a period begins now, and the unused time is taken off. Back to
// months it goes when the year is over.
func TestAYearBeginsNowAndMonthsAfterIt(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{})
	w.must(w.store.Clock().Advance(t.Context(), 3*day))
	asked := w.Now()
	w.must(w.changes(id, basicPlan, "yearly"))
	i := w.invoices(id)[1]
	year, unused := i.Lines[0], i.Lines[1]
	w.equal("the year", year.Text+" "+year.Total.StringFixed(2), "Basic (anual) 116.16") //nolint:misspell // Spanish
	w.equal("less than a month", unused.Total.IsNegative() && unused.Total.GreaterThan(w.invoices(id)[0].Total.Neg()), true)
	w.equal("total", i.Total, year.Total.Add(unused.Total))
	w.becomes(w.paysChange(id), order.StatusActive)
	w.planned(id, "Basic", "5")
	s := w.subscription(id)
	w.equal("cycle", s.Cycle, "yearly")
	w.equal("the year is from now on", !s.PeriodStart.Before(asked) && s.PeriodEnd.Equal(billing.PeriodStart(s.PeriodStart, "yearly", 1)), true)
	w.must(w.changes(id, basicPlan, "monthly"))
	w.until(id, "billing.plan_changed", 2)
	months := w.subscription(id)
	w.equal("cycle", months.Cycle, "monthly")
	start, end := months.NextPeriod()
	w.equal("the first month", fmt.Sprint(start, end), fmt.Sprint(s.PeriodEnd, billing.PeriodStart(s.PeriodEnd, "monthly", 1)))
	w.equal("its invoice", w.invoices(id)[2].Total.StringFixed(2), "12.10")
}

// The tenant of a SaaS plan gets its new maxima, and no place at the engine because of them.
func TestMaximaChangeWithoutThePlaceAtTheEngine(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{kind: "saas"})
	_, calls, err := w.Billing.PreviewChange(t.Context(), id, 5, "monthly")
	w.must(err)
	w.equal("calls", len(calls), 0)
	w.must(w.changes(id, 5, "monthly"))
	w.must(w.Billing.Waive(t.Context(), caused(), w.subscription(id).Change.Invoice, "a gift"))
	ref := hosting.Ref{Kind: "tenant", ID: w.subscription(id).Tenant}
	w.eventually("it may have more", func() bool { return string(w.resource(ref).Spec["saas_max_vms"]) == "9" })
	w.eventually("its run is done", func() bool {
		return w.count(`select count(*) from saga_run where key like 'change-plan:%' and status = 'done'`) == 1
	})
	w.equal("clients made", w.engine.creations(w.client(id)), 0)
}

func TestAPlanThatAServiceCannotHaveIsRefused(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	site, server := w.serves(ordering{}), w.serves(ordering{kind: "vps"})
	for plan, says := range map[int64]string{
		4: "plan: The plan is for another sort of service.", 6: "plan: The plan has another currency.",
		7: "plan: There is no such plan on offer.", 99: "plan: There is no such plan on offer.",
	} {
		w.equal("plan", w.changes(site, plan, "monthly"), says)
	}
	w.equal("a server", w.changes(server, 4, "monthly"), "plan: A virtual server cannot get another size. Only its billing period can be changed.")
	w.equal("no subscription", domain.CodeOf(w.changes(uuid.New(), largePlan, "monthly")), domain.NotFound)
	w.must(w.Billing.Cancel(t.Context(), caused(), site))
	w.equal("a cancelled one", w.changes(site, largePlan, "monthly"), "The subscription is cancelled. Take the cancellation back first.")
}
