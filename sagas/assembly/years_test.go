package assembly_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/projections"
)

// Services live for years: customers pay early, late, twice or never, webhooks are lost or
// come twice, payments are declined, cancelled services are kept on, operators waive and
// take bank transfers, money is refunded, plans are changed there and back, the provider is
// away, and processes go and come. In the end each period was billed once, limits are those of the plan, the books of panel and provider are equal, and
// nothing is stuck. HOSTPANEL_YEARS_SEED, _SERVICES and _DAYS choose what happens.
func TestServicesLiveForYears(t *testing.T) {
	t.Parallel()
	seed := fromEnvironment("HOSTPANEL_YEARS_SEED", time.Now().UnixNano())
	services, days := fromEnvironment("HOSTPANEL_YEARS_SERVICES", 8), fromEnvironment("HOSTPANEL_YEARS_DAYS", 200)
	t.Logf("HOSTPANEL_YEARS_SEED=%d HOSTPANEL_YEARS_SERVICES=%d HOSTPANEL_YEARS_DAYS=%d", seed, services, days)
	y := &years{renewing: withPlans(t), chance: rand.New(rand.NewPCG(uint64(seed), 16)), happened: map[string]int{}, cards: map[uuid.UUID]string{}}
	for n := range services {
		o := ordering{kind: []string{"saas", "hosting"}[n%2], language: "en"}
		if n%3 == 0 {
			y.services = append(y.services, y.serves(o))
			continue
		}
		id, card := y.servesWithCard(o)
		y.services, y.cards[id] = append(y.services, id), card
	}
	stop := y.joins()
	for end, n := y.Now().Add(time.Duration(days)*24*time.Hour), 0; y.Now().Before(end); n++ {
		y.must(y.store.Clock().Advance(t.Context(), time.Duration(1+y.chance.IntN(72))*time.Hour))
		y.keepsUp()
		for _, id := range y.services {
			y.lives(id)
		}
		if n%20 == 19 { // one process goes, and another comes
			stop()
			stop = y.joins()
		}
	}
	y.pay.reset()
	y.keepsUp()
	t.Logf("happened: %v", y.happened)
	y.settles()
	y.everyPeriodIsBilledOnce()
	y.numbersHaveNoGap()
	y.booksAreEqual()
	y.restsWhoHasNotPaid()
	y.limitsAreThoseOfThePlan()
}

type years struct {
	*renewing
	chance   *rand.Rand
	services []uuid.UUID
	payments []uuid.UUID          // orders that pay invoices
	cards    map[uuid.UUID]string // that renewals are charged by
	happened map[string]int
}

// joins starts another process.
func (y *years) joins() (stop func()) {
	y.t.Helper()
	other := y.node(y.url())
	y.follow(other)
	return y.passing(other)
}

// keepsUp waits until no step is due, and nothing that is removed waits for the engine: a
// clock that jumps by days would end the patience of such a run.
func (y *years) keepsUp() {
	y.t.Helper()
	y.eventually("no subscription is due, and nothing is being removed", func() bool {
		return y.count(`select (select count(*) from subscriptions where next_at <= business_now())
			+ (select count(*) from saga_run where key like 'deprovision:%' and status not in ('done', 'parked')
				and (steps -> step ->> 'name' <> 'grace' or run_at <= business_now()))
			+ (select count(*) from orders where kept_method is not null and status in ('pending', 'payment_processing'))`) == 0
	})
}

func (y *years) did(what string) { y.happened[what]++ }

// lives lets something happen to a service, or nothing.
func (y *years) lives(id uuid.UUID) {
	y.t.Helper()
	s := y.subscription(id)
	what := y.chance.IntN(100)
	if card, kept := y.cards[id]; kept && y.chance.IntN(12) == 0 {
		does := []string{"", "", "insufficient_funds", order.NeedsCustomer, order.MethodGone}[y.chance.IntN(5)]
		y.did("the card " + cmp.Or(does, "is good again"))
		y.pay.will(card, does)
	}
	switch {
	case s.Status == billing.Over:
	case s.Status == billing.Cancelling && what < 30:
		y.did("kept on")
		y.may(y.Billing.KeepOn(y.t.Context(), caused(), id))
	case s.Open == uuid.Nil && what < 2:
		y.did("cancelled")
		y.may(y.Billing.Cancel(y.t.Context(), caused(), id))
	case s.Change != nil && s.Change.Invoice != uuid.Nil && what < 40:
		y.customerPays(s.Change.Invoice)
	case s.Open == uuid.Nil && what < 10:
		y.did("plan changed")
		plans := map[bool][]int64{true: {basicPlan, largePlan, smallPlan}, false: {5, 8}}[y.order(id).Status == order.StatusActive && y.provision(id).Job.Type == "hosting"]
		y.may(y.changes(id, plans[y.chance.IntN(len(plans))], []string{"monthly", "monthly", "yearly"}[y.chance.IntN(3)]))
	case s.Open == uuid.Nil:
	case what < 25:
		y.customerPays(s.Open)
	case what < 28:
		y.did("bank transfer")
		y.may(y.Billing.MarkPaid(y.t.Context(), caused(), s.Open, "bank_transfer", "statement"))
	case what < 29:
		y.did("waived")
		y.may(y.Billing.Waive(y.t.Context(), caused(), s.Open, "goodwill"))
	case what < 30 && len(y.payments) > 0:
		y.did("refunded")
		paid := y.payments[y.chance.IntN(len(y.payments))]
		if y.order(paid).Status == order.StatusActive {
			y.pay.giveAll(paid)
			y.must(y.Payments.Hint(y.t.Context(), paid, "refund"))
		}
	}
}

// may forgives what the state of an invoice forbids by now, and what has to be tried again:
// people come back.
func (y *years) may(err error) {
	y.t.Helper()
	if err != nil && domain.CodeOf(err) != domain.Conflict {
		y.t.Fatal(err)
	}
}

// customerPays goes to the payment page of an invoice, and does one of the things that
// customers do there.
func (y *years) customerPays(invoice uuid.UUID) {
	y.t.Helper()
	page, err := y.orders.PayInvoice(y.t.Context(), caused, order.BillPayment{Invoice: invoice})
	if err != nil {
		y.may(err)
		return
	}
	if !slices.Contains(y.payments, page.ID) {
		y.payments = append(y.payments, page.ID)
	}
	tells := func(copies int) {
		for n := range copies {
			y.must(y.webhook(fmt.Sprintf("evt_%s_%d_%d", page.ID, len(y.happened), n), page.ID))
		}
	}
	minor, _ := money.Minor(y.invoice(invoice).Total, "EUR")
	pays := func() { y.pay.raceOver(page.ID, minor) }
	switch y.chance.IntN(6) {
	case 0:
		y.did("left the page")
	case 1:
		y.did("declined")
		y.pay.pay(page.ID, func(p *order.Payment) { p.ID, p.State = "no_"+p.ID, order.StateDeclined })
		tells(1)
	case 2:
		y.did("paid, webhook lost")
		pays()
	case 3:
		y.did("paid, told three times")
		pays()
		tells(3)
	case 4:
		y.did("paid while an operator takes a transfer")
		pays()
		tells(1)
		y.may(y.Billing.MarkPaid(y.t.Context(), caused(), invoice, "cash", "till"))
	default:
		y.did("paid")
		pays()
		tells(1)
	}
}

// settles lets every payment come to its end.
func (y *years) settles() {
	y.t.Helper()
	y.eventually("every payment has come to its end", func() bool {
		waiting := y.count(`select count(*) from orders where invoice is not null and status not in ('active', 'refunded', 'cancelled')`)
		if waiting > 0 {
			y.must(y.store.Clock().Advance(y.t.Context(), time.Hour))
		}
		return waiting == 0
	})
	y.keepsUp()
	y.eventually("every invoice of what has ended is closed", func() bool {
		return y.count(`select count(*) from invoices i join subscriptions s on s.order_id = i.order_id where i.status = 'open' and s.status in ('ended', 'cancelling')`) == 0
	})
	y.eventually("no run is on its way", func() bool {
		return y.count(`select count(*) from saga_run where status in ('ready', 'running') and not (key like 'deprovision:%')`) == 0
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
	rows, err := y.store.Pool().Query(y.t.Context(), `select id from orders where invoice is not null`)
	y.must(err)
	paying, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	y.must(err)
	for _, id := range paying {
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

// raceOver is [fakePayments.race] over an amount.
func (p *fakePayments) raceOver(id uuid.UUID, minor int64) {
	p.mu.Lock()
	open := p.sessions[sessionOf(id)].State == order.SessionOpen
	p.mu.Unlock()
	if open {
		p.pay(id, func(pay *order.Payment) { pay.Minor = minor })
	}
}
