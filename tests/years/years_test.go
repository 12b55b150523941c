//go:build system

package years_test

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
	"hostpanel/sagas/sagastest"
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
	if beside((&sagastest.World{T: t}), short) {
		return
	}
	t.Parallel()
	seed := sagastest.FromEnvironment("HOSTPANEL_YEARS_SEED", time.Now().UnixNano())
	services, days := sagastest.FromEnvironment("HOSTPANEL_YEARS_SERVICES", 8), sagastest.FromEnvironment("HOSTPANEL_YEARS_DAYS", 200)
	t.Logf("HOSTPANEL_YEARS_SEED=%d HOSTPANEL_YEARS_SERVICES=%d HOSTPANEL_YEARS_DAYS=%d", seed, services, days)
	asked := &eventstoretest.Statements{}
	y := &years{
		Renewals: sagastest.WithPlans(t, short, sagastest.Traced(t, &eventstoretest.Tracer{Statement: asked.Note})),
		chance:   rand.New(rand.NewPCG(uint64(seed), 16)), death: rand.New(rand.NewPCG(uint64(seed), 17)),
		happened: map[string]int{}, cards: map[uuid.UUID]string{},
	}
	for n := range services {
		o := sagastest.OrderForm{Kind: []string{"saas", "hosting"}[n%2], Language: "en"}
		if n%3 == 0 {
			y.services = append(y.services, y.Serves(o))
			continue
		}
		id, card := y.ServesWithCard(o)
		y.services, y.cards[id] = append(y.services, id), card
	}
	y.mayDie(y.Instance)
	others := &others{World: y.World}
	kill := others.joins()
	for end, n := y.Runner.Now().Add(time.Duration(days)*24*time.Hour), 0; y.Runner.Now().Before(end); n++ {
		y.Must(y.Store.Clock().Advance(t.Context(), time.Duration(1+y.chance.IntN(72))*time.Hour))
		y.keepsUp()
		y.outage()
		for _, id := range y.services {
			y.lives(id)
		}
		if n%20 == 19 {
			y.T.Logf("%.0f days are left", end.Sub(y.Runner.Now()).Hours()/24)
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
	y.Equal("a killed process has done something", others.asked.Load() > 0, true)
	y.everyPeriodIsBilledOnce()
	y.numbersHaveNoGap()
	y.booksAreEqual()
	y.restsWhoHasNotPaid()
	y.limitsAreThoseOfThePlan()
	asked.ReadNoWholeTable(t, y.Pool, small...)
}

type years struct {
	*sagastest.Renewals
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
func (y *years) mayDie(process *sagastest.Instance) {
	process.Fault.To(func(sagas.Point, sagas.Run) error {
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
	outside := map[string]*sagastest.Lies{"provider": &y.Pay.Lies, "engine": &y.Engine.Lies, "mail server": &y.Mail.Lies}
	who := []string{"provider", "engine", "mail server", "", "", ""}[y.chance.IntN(6)]
	if away, is := outside[who]; is {
		y.did("the " + who + " was away")
		away.Tell(func(string, string) error { return domain.Fail(domain.Transient, "away", sagastest.ErrLie) }, nil)
	}
}

// operatorsMend does what operators are asked for after an outage: parked runs go on, and
// refunds that have failed are asked for again.
func (y *years) operatorsMend() {
	y.T.Helper()
	const why = "the outage is over"
	for _, id := range y.ids(`select id from saga_run where status = 'parked'`) {
		y.did("an operator let a run go on")
		y.may(y.Runner.Operators.RetryRun(y.T.Context(), sagastest.Operator, id, why))
	}
	for _, id := range y.ids(`select id from orders where 'refund_failed' = any(holds)`) {
		y.did("an operator asked for a refund again")
		y.may(y.Payments.Refund(y.T.Context(), sagastest.Operator, id, nil, why))
	}
}

func (y *years) ids(query string) []uuid.UUID {
	y.T.Helper()
	rows, err := y.Pool.Query(y.T.Context(), query)
	y.Must(err)
	all, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	y.Must(err)
	return all
}

func (y *years) outageEnds() {
	for _, outside := range []*sagastest.Lies{&y.Pay.Lies, &y.Engine.Lies, &y.Mail.Lies} {
		outside.Tell(nil, nil)
	}
}

// keepsUp waits until no step is due, and nothing that is removed waits for the engine: a
// clock that jumps by days would end the patience of such a run.
func (y *years) keepsUp() {
	y.T.Helper()
	y.falls("subscriptions that are due, and removals", func() int {
		return y.Count(`select (select count(*) from subscriptions where next_at <= business_now())
			+ (select count(*) from saga_run where split_part(key, ':', 1) = 'deprovision' and status not in ('done', 'parked')
				and (steps -> step ->> 'name' <> 'grace' or run_at <= business_now()))
			+ (select count(*) from orders where kept_method is not null and status in ('pending', 'payment_processing'))`)
	})
}

// falls waits until a count is 0, and has patience as long as events are recorded: a night
// of many services takes longer than one state. It counts seldom, for a count costs what
// some of the work does.
func (y *years) falls(what string, count func() int) {
	y.T.Helper()
	for left := count(); left > 0; left = count() {
		head := y.head()
		y.Eventually(fmt.Sprintf("there are no %s any more, of which %d are left", what, left), func() bool {
			time.Sleep(20 * time.Millisecond)
			return y.head() > head || count() == 0
		})
	}
}

func (y *years) head() int { return y.Count(`select max(position) from events`) }

func (y *years) did(what string) { y.happened[what]++ }

// lives lets something happen to a service, or nothing.
func (y *years) lives(id uuid.UUID) {
	y.T.Helper()
	what := y.chance.IntN(100)
	if card, kept := y.cards[id]; kept && y.chance.IntN(12) == 0 {
		does := []string{"", "", "insufficient_funds", order.NeedsCustomer, order.MethodGone}[y.chance.IntN(5)]
		y.did("the card " + cmp.Or(does, "is good again"))
		y.Pay.Will(card, does)
	}
	if what >= 40 {
		return // as on most days
	}
	switch s := y.Subscription(id); {
	case s.Status == billing.Over:
	case s.Status == billing.Cancelling && what < 30:
		y.did("kept on")
		y.may(y.Billing.KeepOn(y.T.Context(), sagastest.Cause(), id))
	case s.Open == uuid.Nil && what < 2:
		y.did("cancelled")
		y.may(y.Billing.Cancel(y.T.Context(), sagastest.Cause(), id))
	case s.Change != nil && s.Change.Invoice != uuid.Nil && what < 40:
		y.customerPays(s.Change.Invoice)
	case s.Open == uuid.Nil && what < 10:
		y.did("plan changed")
		isHosted := y.Order(id).Status == order.StatusActive && y.Provision(id).Job.Type == "hosting"
		plans := map[bool][]int64{true: {sagastest.BasicPlan, sagastest.LargePlan, sagastest.SmallPlan}, false: {5, 8}}[isHosted]
		y.may(y.Changes(id, plans[y.chance.IntN(len(plans))], []string{"monthly", "monthly", "yearly"}[y.chance.IntN(3)]))
	case s.Open == uuid.Nil:
	case what < 25:
		y.customerPays(s.Open)
	case what < 28:
		y.did("bank transfer")
		y.may(y.Billing.MarkPaid(y.T.Context(), sagastest.Cause(), s.Open, "bank_transfer", "statement"))
	case what < 29:
		y.did("waived")
		y.may(y.Billing.Waive(y.T.Context(), sagastest.Cause(), s.Open, "goodwill"))
	case what < 30 && len(y.payments) > 0:
		y.did("refunded")
		paid := y.payments[y.chance.IntN(len(y.payments))]
		if y.Order(paid).Status == order.StatusActive {
			y.Pay.GiveAll(paid)
			y.Must(y.Payments.Hint(y.T.Context(), paid, "refund"))
		}
	}
}

// may forgives what the state of an invoice forbids by now, and what has to be tried again:
// people come back.
func (y *years) may(err error) {
	y.T.Helper()
	away, outside := errors.AsType[*domain.Failure](err)
	again := domain.CodeOf(err) == domain.Conflict || domain.CodeOf(err) == domain.Unavailable || outside && away.Class == domain.Transient
	if err != nil && !again {
		y.T.Fatal(err)
	}
}

// customerPays goes to the payment page of an invoice, and does one of the things that
// customers do there.
func (y *years) customerPays(invoice uuid.UUID) {
	y.T.Helper()
	page, err := y.Orders.PayInvoice(y.T.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice})
	if err != nil {
		y.may(err)
		return
	}
	if !slices.Contains(y.payments, page.ID) {
		y.payments = append(y.payments, page.ID)
	}
	tells := func(copies int) {
		for n := range copies {
			y.Must(y.Webhook(fmt.Sprintf("evt_%s_%d_%d", page.ID, len(y.happened), n), page.ID))
		}
	}
	minor, _ := money.Minor(y.Invoice(invoice).Total, "EUR")
	pays := func() { y.Pay.RaceOver(page.ID, minor) }
	switch y.chance.IntN(6) {
	case 0:
		y.did("left the page")
	case 1:
		y.did("declined")
		y.Pay.Pay(page.ID, func(p *order.Payment) { p.ID, p.State = "no_"+p.ID, order.StateDeclined })
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
		y.may(y.Billing.MarkPaid(y.T.Context(), sagastest.Cause(), invoice, "cash", "till"))
	default:
		y.did("paid")
		pays()
		tells(1)
	}
}
