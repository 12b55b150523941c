package assembly_test

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// Services live for years: customers pay early, late, twice or never, webhooks are lost or
// come twice, payments are declined, cancelled services are kept on, operators waive and
// take bank transfers, money is refunded, plans are changed there and back. Provider, engine
// and mail server are away at times, workers die, and processes are killed. In the end each
// period was billed once, limits are those of the plan, the books of panel and provider are
// equal, nothing is stuck, and no statement has read a whole table. HOSTPANEL_YEARS_SEED,
// _SERVICES and _DAYS choose what happens.
func TestServicesLiveForYears(t *testing.T) {
	short := func(o *assembly.Options) { o.Times.Lease, o.Times.DownCap = 700*time.Millisecond, time.Second }
	if (&world{t: t}).beside(short) {
		return
	}
	t.Parallel()
	seed := fromEnvironment("HOSTPANEL_YEARS_SEED", time.Now().UnixNano())
	services, days := fromEnvironment("HOSTPANEL_YEARS_SERVICES", 8), fromEnvironment("HOSTPANEL_YEARS_DAYS", 200)
	t.Logf("HOSTPANEL_YEARS_SEED=%d HOSTPANEL_YEARS_SERVICES=%d HOSTPANEL_YEARS_DAYS=%d", seed, services, days)
	asked := &eventstoretest.Statements{}
	y := &years{renewing: withPlans(t, short, heard(t, &eventstoretest.Tracer{Statement: asked.Note})), chance: rand.New(rand.NewPCG(uint64(seed), 16)), death: rand.New(rand.NewPCG(uint64(seed), 17)), happened: map[string]int{}, cards: map[uuid.UUID]string{}}
	for n := range services {
		o := ordering{kind: []string{"saas", "hosting"}[n%2], language: "en"}
		if n%3 == 0 {
			y.services = append(y.services, y.serves(o))
			continue
		}
		id, card := y.servesWithCard(o)
		y.services, y.cards[id] = append(y.services, id), card
	}
	y.mayDie(y.instance)
	others := &others{world: y.world}
	kill := others.joins()
	for end, n := y.Now().Add(time.Duration(days)*24*time.Hour), 0; y.Now().Before(end); n++ {
		y.must(y.store.Clock().Advance(t.Context(), time.Duration(1+y.chance.IntN(72))*time.Hour))
		y.keepsUp()
		y.outage()
		for _, id := range y.services {
			y.lives(id)
		}
		if n%20 == 19 {
			y.t.Logf("%.0f days are left", end.Sub(y.Now()).Hours()/24)
			y.did("a process was killed")
			kill()
			kill = others.joins()
		}
		y.outageEnds()
	}
	kill()
	y.calm.Store(true)
	y.keepsUp()
	y.settles()
	t.Logf("happened: %v; killed processes asked %d times", y.happened, others.asked.Load())
	y.equal("a killed process has done something", others.asked.Load() > 0, true)
	y.everyPeriodIsBilledOnce()
	y.numbersHaveNoGap()
	y.booksAreEqual()
	y.restsWhoHasNotPaid()
	y.limitsAreThoseOfThePlan()
	asked.ReadNoWholeTable(t, y.pool, small...)
}

type years struct {
	*renewing
	chance   *rand.Rand
	services []uuid.UUID
	payments []uuid.UUID          // orders that pay invoices
	cards    map[uuid.UUID]string // that renewals are charged by
	happened map[string]int
	calm     atomic.Bool // no worker dies any more
	dying    sync.Mutex
	death    *rand.Rand
}

// mayDie lets workers of a process die in moments that are worse than others.
func (y *years) mayDie(process *instance) {
	process.fault.to(func(sagas.Point, sagas.Run) error {
		y.dying.Lock()
		defer y.dying.Unlock()
		if !y.calm.Load() && y.death.IntN(200) == 0 {
			return sagas.ErrKilled
		}
		return nil
	})
}

// outage lets one of those outside be away until its end, or none.
func (y *years) outage() {
	outside := map[string]*lies{"provider": &y.pay.lies, "engine": &y.engine.lies, "mail server": &y.mail.lies}
	who := []string{"provider", "engine", "mail server", "", "", ""}[y.chance.IntN(6)]
	if away, is := outside[who]; is {
		y.did("the " + who + " was away")
		away.tell(func(string, string) error { return domain.Fail(domain.Transient, "away", errLie) }, nil)
	}
}

// operatorsMend does what operators are asked for after an outage: parked runs go on, and
// refunds that have failed are asked for again.
func (y *years) operatorsMend() {
	y.t.Helper()
	const why = "the outage is over"
	for _, id := range y.ids(`select id from saga_run where status = 'parked'`) {
		y.did("an operator let a run go on")
		y.may(y.RetryRun(y.t.Context(), operator, id, why))
	}
	for _, id := range y.ids(`select id from orders where 'refund_failed' = any(holds)`) {
		y.did("an operator asked for a refund again")
		y.may(y.Payments.Refund(y.t.Context(), operator, id, nil, why))
	}
}

func (y *years) ids(query string) []uuid.UUID {
	y.t.Helper()
	rows, err := y.pool.Query(y.t.Context(), query)
	y.must(err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	y.must(err)
	return all
}

func (y *years) outageEnds() {
	for _, outside := range []*lies{&y.pay.lies, &y.engine.lies, &y.mail.lies} {
		outside.tell(nil, nil)
	}
}

// keepsUp waits until no step is due, and nothing that is removed waits for the engine: a
// clock that jumps by days would end the patience of such a run.
func (y *years) keepsUp() {
	y.t.Helper()
	y.falls("subscriptions that are due, and removals", func() int {
		return y.count(`select (select count(*) from subscriptions where next_at <= business_now())
			+ (select count(*) from saga_run where split_part(key, ':', 1) = 'deprovision' and status not in ('done', 'parked')
				and (steps -> step ->> 'name' <> 'grace' or run_at <= business_now()))
			+ (select count(*) from orders where kept_method is not null and status in ('pending', 'payment_processing'))`)
	})
}

// falls waits until a count is 0, and has patience as long as events are recorded: a night
// of many services takes longer than one state. It counts seldom, for a count costs what
// some of the work does.
func (y *years) falls(what string, count func() int) {
	y.t.Helper()
	for left := count(); left > 0; left = count() {
		head := y.head()
		y.eventually(fmt.Sprintf("there are no %s any more, of which %d are left", what, left), func() bool {
			time.Sleep(20 * time.Millisecond)
			return y.head() > head || count() == 0
		})
	}
}

func (y *years) head() int { return y.count(`select max(position) from events`) }

func (y *years) did(what string) { y.happened[what]++ }

// lives lets something happen to a service, or nothing.
func (y *years) lives(id uuid.UUID) {
	y.t.Helper()
	what := y.chance.IntN(100)
	if card, kept := y.cards[id]; kept && y.chance.IntN(12) == 0 {
		does := []string{"", "", "insufficient_funds", order.NeedsCustomer, order.MethodGone}[y.chance.IntN(5)]
		y.did("the card " + cmp.Or(does, "is good again"))
		y.pay.will(card, does)
	}
	if what >= 40 {
		return // as on most days
	}
	switch s := y.subscription(id); {
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
	away, outside := errors.AsType[*domain.Failure](err)
	again := domain.CodeOf(err) == domain.Conflict || domain.CodeOf(err) == domain.Unavailable || outside && away.Class == domain.Transient
	if err != nil && !again {
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

// raceOver is [fakePayments.race] over an amount.
func (p *fakePayments) raceOver(id uuid.UUID, minor int64) {
	p.mu.Lock()
	open := p.sessions[sessionOf(id)].State == order.SessionOpen
	p.mu.Unlock()
	if open {
		p.pay(id, func(pay *order.Payment) { pay.Minor = minor })
	}
}
