//go:build system

package billing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/domain/tax"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	invoicing "hostpanel/sagas/billing"
	"hostpanel/sagas/sagastest"
)

// Many bookings, marks, payouts and reversals at once, in any order and repeated.
func TestNoMoneyIsLostHoweverMuchHappensAtOnce(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("seed %d", seed)
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	a, invoice := w.Account(id), w.Subscription(id).Open
	chance := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // of a test
	acts := make([]func() error, 100)
	for n := range acts {
		amount := decimal.New(1+chance.Int64N(400), -2)
		reference := fmt.Sprint("ST-", n/2)
		payment := w.Transfer(id, amount.String(), reference)
		switch n % 10 {
		case 8:
			acts[n] = func() error {
				return w.Billing.PayCreditOut(
					t.Context(), sagastest.Cause(),
					billing.PayOut{CreditAccount: a, Amount: amount, Reference: reference, Reason: "asked for"},
				)
			}
		case 9:
			acts[n] = func() error {
				booked, err := w.Billing.Book(t.Context(), sagastest.Cause(), payment)
				if err != nil {
					return err
				}
				return w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), a, booked, "wrong")
			}
		case 5:
			acts[n] = func() error { return w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "cash", reference) }
		default:
			acts[n] = func() error { _, err := w.Billing.Book(t.Context(), sagastest.Cause(), payment); return err }
		}
	}
	var all sync.WaitGroup
	for _, n := range chance.Perm(len(acts)) {
		all.Go(func() {
			if err := acts[n](); err != nil && domain.CodeOf(err) != domain.Conflict {
				t.Errorf("%d: %v", n, err)
			}
		})
	}
	all.Wait()
	addsUp(w, a)
	w.Equal("renewals", w.Subscription(id).Period, 1)
	w.Equal("payments of the invoice", w.Often(billing.Pay{ID: invoice}.Stream(), "billing.invoice_paid"), 1)
}

func TestRenewalsAreChargedByTheSavedCard(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	m := methods(w, id)
	w.Equal(
		"saved", fmt.Sprint(m[0].Kind, " ", m[0].Brand, " ", m[0].Last4, " ", m[0].Expires, " ", m[0].Provider),
		"card visa 4242 2099-03 test",
	)
	for n := 1; n <= 2; n++ {
		w.Until(id, "billing.period_renewed", n)
	}
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10, paid 12.10")
	for _, o := range w.Charges(id) {
		w.Equal("charges", w.Pay.Captures(o.ID), 1)
		w.Equal("order", o.Status, order.StatusActive)
	}
	w.Equal("orders that charge", len(w.Charges(id)), 2)
	for _, name := range happenings(w, id) {
		if name == "payment_reminded" || name == "payment_overdue" {
			t.Errorf("A customer whose card is charged gets %s.", name)
		}
	}
}

// A cancellation that comes while the next invoice is being written leaves none open.
func TestACancellationOvertakesTheInvoiceOfTheNextPeriod(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	whileLocked(w.World, "invoices", func() {
		w.Must(w.Store.Clock().Advance(t.Context(), w.Subscription(id).NextAt.Sub(w.Runner.Now())))
	}, func() { w.Must(w.Billing.Cancel(t.Context(), sagastest.Cause(), id)) })
	w.Until(id, "billing.subscription_ended", 1)
	w.Equal("invoices", told(w, id), []string{"paid 12.10"})
}

func TestADeclinedCardIsTriedAgainAndThenTheServiceRests(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, token := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	w.Pay.Will(token, "insufficient_funds")
	w.Until(id, "billing.charge_failed", 2)
	w.Equal("status", w.Subscription(id).Status, billing.PastDue)
	w.Until(id, "billing.subscription_suspended", 1)
	w.Equal("charges", len(w.Charges(id)), 1+len(billing.UsualTerms.Retries))
	w.Pays(id)
	w.Eventually("it goes on", func() bool { return w.Subscription(id).Status == billing.Running })
	w.Pay.Will(token, "")
	w.Until(id, "billing.period_renewed", 2)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10, paid 12.10")
}

func TestAServiceThatIsNotPaidRestsUntilItIs(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Domain: "unpaid.example"})
	tenant := hosting.Ref{Kind: "tenant", ID: w.Provision(id).Job.Tenant}
	w.Until(id, "billing.subscription_suspended", 1)
	w.Eventually("the tenant rests", func() bool { return slices.Contains(w.Reasons(tenant), hosting.ByInvoice) })
	w.Eventually("the site rests", func() bool { return sagastest.Value(w.Has("site", "unpaid.example"), "is_active") == "false" })
	w.Must(w.Billing.Extend(t.Context(), sagastest.Cause(), id, w.Runner.Now().Add(10*sagastest.Day), "a new card is on its way"))
	w.Eventually("the tenant is in service for a while", func() bool { return len(w.Reasons(tenant)) == 0 })
	w.Until(id, "billing.subscription_suspended", 2)
	w.Eventually("the tenant rests again", func() bool { return slices.Contains(w.Reasons(tenant), hosting.ByInvoice) })
	w.Pays(id)
	w.Eventually("the tenant is in service", func() bool { return len(w.Reasons(tenant)) == 0 })
	w.Eventually("the site is served", func() bool { return sagastest.Value(w.Has("site", "unpaid.example"), "is_active") == "true" })
	w.Equal("status", w.Subscription(id).Status, billing.Running)
}

// A hundred clicks lead to one page, and a second payment goes back.
func TestAnInvoiceIsPaidOnceHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	invoice := w.Subscription(id).Open
	pages := make([]order.Payable, 100)
	var clicks sync.WaitGroup
	for i := range pages {
		clicks.Go(func() {
			page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice, Method: "test"})
			if err != nil {
				t.Error(err)
			}
			pages[i] = page
		})
	}
	clicks.Wait()
	for _, page := range pages {
		if page != pages[0] {
			t.Errorf("%+v and %+v", page, pages[0])
		}
	}
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "bank_transfer", "statement 7"))
	w.Equal("period", w.Subscription(id).Period, 1)
	w.Paid(pages[0].ID)
	w.Becomes(pages[0].ID, order.StatusRefunded)
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10")
	w.Equal("credit notes", w.Count(`select count(*) from credit_notes`), 0)
	w.Equal("paid by", w.Invoices(id)[1].PaymentMethod+" "+w.Invoices(id)[1].Reference, "bank_transfer statement 7")
	w.Equal("service", w.Order(id).Status, order.StatusActive)
	err := w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "cash", "")
	w.Equal("another payment", fmt.Sprint(err), billing.ErrNotOpen.Message)
}

// A person buys in two years and is erased. Ten years after the end of each year its
// invoices lose their buyer, and the later one stands until then.
func TestBuyersAreForgottenWithTheYearOfIssue(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorldWithClock(t, plainly)
	ctx, ana, first := t.Context(), uuid.New(), w.Runner.Now().UTC().Year()
	until := func(year int) {
		w.Must(w.Store.Clock().Advance(ctx, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC).Sub(w.Runner.Now())+time.Second))
	}
	earlier := issuedFor(w, ana, buyer.Details{Country: "ES"})
	until(first + 1)
	later := issuedFor(w, ana, buyer.Details{Country: "ES"})
	_, err := w.Billing.MakeDocuments(ctx)
	w.Must(err)
	_, err = w.Store.ExecuteWith(ctx, sagastest.Cause(), eventstore.EraseRows(ana), account.EraseSubject{Subject: ana, At: w.Runner.Now()})
	w.Must(err)
	until(first + 10)
	years, err := w.Billing.DestroyFiscalKeys(ctx)
	w.Must(err)
	w.Equal("years that are due too early", years, 0)
	holdsDocuments(w, []uuid.UUID{earlier, later}, 3)

	until(first + 11)
	stopped, stop := context.WithCancel(ctx)
	stop()
	years, _ = w.Billing.DestroyFiscalKeys(stopped)
	w.Equal("years of a process that was stopped", years, 0)
	var all sync.WaitGroup
	var done atomic.Int32
	for range 10 {
		all.Go(func() {
			n, err := w.Billing.DestroyFiscalKeys(ctx)
			if done.Add(int32(n)); err != nil { //nolint:gosec // few
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.Equal("years, by ten at once", done.Load(), 1)
	w.Equal("times that it is told", w.Count(`select count(*) from events where name = 'billing.fiscal_keys_destroyed'`), 1)

	forgets(w, earlier)
	clear, err := w.Billing.Document(ctx, later, invoiced(w, later).Number(), "pdf")
	if w.Must(err); !bytes.Contains(clear, []byte("Ana Canary")) {
		t.Errorf("%s", clear)
	}
	named := func() int {
		return w.Count(`select count(*) from invoices where customer_name = 'Ana Canary' and id = $1 and not erased`, later)*10 +
			w.Count(`select count(*) from invoices where customer_name = '' and customer_country = '' and total = 12.10
				and number <> '' and status = 'paid' and id = $1 and erased`, earlier)
	}
	w.Equal("rows", named(), 11)
	_, err = projections.Rebuild(
		ctx, w.Owner(), eventstore.Open(w.Owner(), sagastest.Catalogue, eventstoretest.Keys(t)).Reader(),
		[]string{"billing"}, projections.Options{},
	)
	w.Must(err)
	w.Equal("rows that are built anew", named(), 11)
	if verdict, err := w.Store.Reader().Verify(ctx, nil); err != nil || !verdict.Intact {
		t.Error(verdict, err)
	}

	until(first + 12) // on a database that was restored, whose recovery mode is on
	_, err = w.Owner().Exec(ctx, `insert into recovery (number, head, reason, is_ready) values (1, 1, 'restored', true)`)
	w.Must(err)
	years, err = w.Billing.DestroyFiscalKeys(ctx)
	w.Must(err)
	w.Equal("years, one year later", years, 1)
	forgets(w, later)
}

func TestAServiceThatIsNeverPaidEnds(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.subscription_ended", 1)
	w.Becomes(id, order.StatusCancelled)
	w.Eventually("its invoice is withdrawn", func() bool { return slices.Equal(told(w, id), []string{"paid 12.10", "withdrawn 12.10"}) })
	w.Eventually("its service ends", func() bool { return w.RunOf("deprovision:"+id.String()).Status != "" })
	late, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Invoices(id)[1].ID})
	w.Equal("a payment", fmt.Sprint(late, err), fmt.Sprint(order.Payable{}, billing.ErrNotOpen))
}

// Two processes that find the same deadline take one step.
func TestADeadlineIsTakenOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	var processes []func()
	for range 2 {
		other := w.Node(w.URL())
		processes = append(processes, w.Passing(other))
	}
	w.Until(id, "billing.subscription_suspended", 1)
	for _, stop := range processes {
		stop()
	}
	w.Equal("steps", strings.Join(w.Happened(billing.Advance{Order: id}.Stream()), " "),
		"billing.subscription_started billing.period_invoiced "+
			"billing.payment_reminded billing.payment_overdue billing.payment_reminded "+
			"billing.payment_reminded billing.subscription_suspended")
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, open 12.10")
	w.Equal("runs that are stuck", w.Count(`select count(*) from saga_run where status = $1`, sagas.StatusParked), 0)
}

// A consumer pays the same everywhere. The tax inside is that of the day and of the country
// where the mode says so.
func TestAConsumerPaysTheSamePriceWithTheTaxOfTheirCountryInside(t *testing.T) {
	t.Parallel()
	for mode, want := range map[tax.Mode][2]string{
		tax.Seller: {`standard ES 21 % of 12.10: 10.00 + 2.10, accepted by ""`, `standard ES 21 % of 12.10: 10.00 + 2.10, accepted by ""`},
		tax.OSS:    {`oss FI 25.5 % of 12.10: 9.64 + 2.46, accepted by ""`, `oss FI 25.5 % of 12.10: 9.64 + 2.46, accepted by ""`},
	} {
		w, policy := taxedBy(t, mode)
		id := w.Serves(sagastest.OrderForm{Kind: "saas", Details: buyer.Details{Country: "FI"}, Taxes: policy})
		w.Until(id, "billing.period_invoiced", 1)
		for n, i := range w.Invoices(id) {
			w.Equal(fmt.Sprint(mode, " ", n), taxOf(i), want[n])
		}
	}
}

// Of many changes at once one comes, with one open invoice at most.
func TestManyChangesAtOnceAreOne(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			err := w.Changes(id, []int64{sagastest.LargePlan, sagastest.SmallPlan}[i%2], []string{"monthly", "yearly"}[i/2%2])
			if err != nil && domain.CodeOf(err) != domain.Conflict {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := w.Subscription(id)
	w.Eventually("the others are withdrawn", func() bool {
		var open []uuid.UUID
		for _, i := range w.Invoices(id) {
			if i.Status == billing.Open {
				open = append(open, i.ID)
			}
		}
		return len(open) == 0 && s.Change.Invoice == uuid.Nil || len(open) == 1 && open[0] == s.Change.Invoice
	})
	names := w.Happened(billing.Advance{Order: id}.Stream())
	asked := w.Often(billing.Advance{Order: id}.Stream(), "billing.change_invoiced") + w.Often(
		billing.Advance{Order: id}.Stream(), "billing.change_planned",
	)
	w.Equal("changes that were replaced", w.Often(billing.Advance{Order: id}.Stream(), "billing.change_withdrawn"), asked-1)
	w.Equal("the last event", slices.Contains([]string{"billing.change_invoiced", "billing.change_planned"}, names[len(names)-1]), true)
}

// A process that stops between writing and storing has stored nothing. A document that
// cannot be written stops no other, and is made once it can be.
func TestADocumentIsStoredWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	broken := errors.New("out of ink")
	var fails atomic.Bool
	var first string
	w := sagastest.NewWorld(t, plainly, func(o *assembly.Options) {
		write := o.Documents.PDF
		o.Documents.PDF = func(d document.Document) ([]byte, error) {
			if !fails.Load() && ctx.Err() == nil {
				stop() // the process ends while it writes
				return nil, ctx.Err()
			}
			if fails.Load() && d.Number == first {
				return nil, broken
			}
			return write(d)
		}
	})
	invoices := []uuid.UUID{issuedTo(w, buyer.Details{Country: "ES"}), issuedTo(w, buyer.Details{Country: "ES"})}
	first = invoiced(w, invoices[0]).Number()
	if n, _ := w.Billing.MakeDocuments(ctx); n != 0 || w.Count(`select count(*) from invoice_documents`) != 0 {
		t.Errorf("%d are stored by a process that was stopped", n)
	}
	fails.Store(true)
	if n, err := w.Billing.MakeDocuments(t.Context()); n != 3 || !errors.Is(err, broken) {
		t.Errorf("%d made, %v", n, err)
	}
	if _, err := w.Billing.Document(t.Context(), invoices[0], first, "html"); !errors.Is(err, billing.ErrNotMade) {
		t.Errorf("a document that is not stored: %v", err)
	}
	fails.Store(false)
	n, err := w.Billing.MakeDocuments(t.Context())
	w.Must(err)
	w.Equal("made in the end", n, 1)
	holdsDocuments(w, invoices, 3)
}

// From a month to a year a period begins now, and the unused time is taken off. Back to
// months it goes when the year is over.
func TestAYearBeginsNowAndMonthsAfterIt(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	w.Must(w.Store.Clock().Advance(t.Context(), 3*sagastest.Day))
	asked := w.Runner.Now()
	w.Must(w.Changes(id, sagastest.BasicPlan, "yearly"))
	i := w.Invoices(id)[1]
	year, unused := i.Lines[0], i.Lines[1]
	w.Equal("the year", year.Text+" "+year.Total.StringFixed(2), "Basic (anual) 116.16") //nolint:misspell // Spanish
	w.Equal("less than a month", unused.Total.IsNegative() && unused.Total.GreaterThan(w.Invoices(id)[0].Total.Neg()), true)
	w.Equal("total", i.Total, year.Total.Add(unused.Total))
	w.Becomes(w.PaysChange(id), order.StatusActive)
	w.Planned(id, "Basic", "5")
	s := w.Subscription(id)
	w.Equal("cycle", s.Cycle, "yearly")
	w.Equal(
		"the year is from now on",
		!s.PeriodStart.Before(asked) && s.PeriodEnd.Equal(billing.PeriodStart(s.PeriodStart, "yearly", 1)), true,
	)
	w.Must(w.Changes(id, sagastest.BasicPlan, "monthly"))
	w.Until(id, "billing.plan_changed", 2)
	months := w.Subscription(id)
	w.Equal("cycle", months.Cycle, "monthly")
	start, end := months.NextPeriod()
	w.Equal("the first month", fmt.Sprint(start, end), fmt.Sprint(s.PeriodEnd, billing.PeriodStart(s.PeriodEnd, "monthly", 1)))
	w.Equal("its invoice", w.Invoices(id)[2].Total.StringFixed(2), "12.10")
}

// An invoice that is paid by other means while its charge is under way is not paid twice:
// the money of the charge goes back.
func TestAChargeOfAnInvoiceThatIsPaidMeanwhileGoesBack(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	marked := make(chan struct{})
	w.Pay.Tell(func(call, _ string) error {
		if call == "capture" {
			<-marked
		}
		return nil
	}, nil)
	w.Until(id, "billing.charge_started", 1)
	invoice := w.Subscription(id).Open
	w.Eventually("the charge is under way", func() bool {
		return len(w.Charges(id)) == 1 && w.Charges(id)[0].Status == order.StatusPaymentProcessing
	})
	_, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice})
	w.Equal("a page beside the charge", fmt.Sprint(err), "The saved payment method is being charged.")
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), invoice, "bank_transfer", "statement 7"))
	close(marked)
	w.Becomes(w.Charges(id)[0].ID, order.StatusRefunded)
	w.Equal("kept by the provider", w.Pay.Kept(w.Charges(id)[0].ID), int64(0))
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10")
	if slices.Contains(happenings(w, id), "charge_failed") {
		t.Error("A charge that was paid by other means has failed.")
	}
}

// The answer to a charge is lost, and the process that waits for it dies.
func TestAChargeWithoutAnAnswerIsMadeOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id, _ := w.ServesWithCard(sagastest.OrderForm{Kind: "saas"})
	var lost atomic.Int32
	w.Pay.Tell(nil, func(call, _ string) error {
		if (call == "capture" || call == "open") && lost.Add(1) <= 3 {
			return domain.Fail(domain.Unknown, "no_answer", errors.New("cut"))
		}
		return nil
	})
	w.Until(id, "billing.period_renewed", 1)
	for _, o := range w.Charges(id) {
		w.Equal("charges", w.Pay.Captures(o.ID), 1)
		w.Equal("sessions", w.Pay.Openings(o.ID), 1)
	}
	w.Equal("kept by the provider", w.Pay.Kept(w.Charges(id)[0].ID), int64(1210))
}

// An engine that refuses the limits parks the run, where operators see it. The plan stays
// changed, because it is paid for, and the run goes on when they say so.
func TestARefusedLimitWaitsForAnOperator(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{})
	client := w.Client(id)
	var refuses sync.Map
	refuses.Store("now", true)
	w.Engine.Tell(func(call, name string) error {
		if _, now := refuses.Load("now"); now && call == "change" && name == client {
			return domain.Fail(domain.Permanent, "invalid", errors.New("no"))
		}
		return nil
	}, nil)
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), w.Subscription(id).Change.Invoice, "cash", "till"))
	var parked string
	w.Eventually("the run is parked", func() bool {
		parked = w.Text(
			`select coalesce(max(id::text), '') from saga_run where key like 'change-plan:%' and status = $1`,
			sagas.StatusParked,
		)
		return parked != ""
	})
	w.Equal("plan", w.Subscription(id).PlanName, "Large")
	refuses.Delete("now")
	w.Does(hosting.Push{Ref: hosting.Ref{Kind: "tenant", ID: w.Subscription(id).Tenant}})
	w.Eventually("the engine has the limits", func() bool { return w.SitesAtEngine(id) == "10" })
	w.Must(w.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, uuid.MustParse(parked), "it takes them now"))
	w.Planned(id, "Large", "10")
}

// A change of the plan is paid from the balance with its invoice.
func TestAChangeOfThePlanIsPaidFromTheBalance(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Domain: "larger.example"})
	w.Books(id, "100.00", "ST-1")
	left(w, id, "100.00")
	w.Must(w.Changes(id, sagastest.LargePlan, "monthly"))
	s := w.Subscription(id)
	w.Equal("it counts at once", s.Plan == sagastest.LargePlan && s.Change == nil, true)
	addsUp(w, w.Account(id))
}

// A process dies between the booking and its application: the reaction applies it.
func TestABookingIsAppliedAfterACrash(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	payment := w.Transfer(id, "12.60", "ST-1")
	payment.ID, payment.At = uuid.New(), w.Runner.Now()
	_, err := w.Store.Execute(t.Context(), sagastest.Cause(), payment) // and nothing more
	w.Must(err)
	left(w, id, "0.50")
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00")
	w.Equal("the import is repeated", w.Books(id, "12.60", "ST-1"), payment.ID)
	repeats(w, w.Account(id).Stream(), "billing.payment_booked")
	w.Equal("bookings", w.Often(w.Account(id).Stream(), "billing.payment_booked"), 1)
	w.Equal("applications", w.Often(w.Account(id).Stream(), "billing.credit_applied"), 1)
	addsUp(w, w.Account(id))
}

// A payment of the whole at the provider, begun before a part was booked, pays the invoice.
// The part is kept for the next one.
func TestAPaymentOfTheWholeGivesABookedPartBack(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	invoice := w.Subscription(id).Open
	whole, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice})
	w.Must(err)
	w.Books(id, "5.00", "ST-1")
	rest, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: invoice})
	w.Must(err)
	w.Equal("another page", rest.ID != whole.ID && w.Order(rest.ID).Minor == 710, true)
	w.Paid(whole.ID)
	w.Becomes(whole.ID, order.StatusActive)
	left(w, id, "5.00")
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00")
	repeats(w, billing.Pay{ID: invoice}.Stream(), "billing.invoice_paid")
	paysRest(w, rest.ID)
	w.Becomes(rest.ID, order.StatusRefunded)
	left(w, id, "5.00")
	addsUp(w, w.Account(id))
}

// The tenant of a SaaS plan gets its new maxima, and no place at the engine because of them.
func TestMaximaChangeWithoutThePlaceAtTheEngine(t *testing.T) {
	t.Parallel()
	w := sagastest.WithPlans(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	_, calls, err := w.Billing.PreviewChange(t.Context(), id, 5, "monthly")
	w.Must(err)
	w.Equal("calls", len(calls), 0)
	w.Must(w.Changes(id, 5, "monthly"))
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), w.Subscription(id).Change.Invoice, "a gift"))
	ref := hosting.Ref{Kind: "tenant", ID: w.Subscription(id).Tenant}
	w.Eventually("it may have more", func() bool { return string(w.Resource(ref).Spec["saas_max_vms"]) == "9" })
	w.Eventually("its run is done", func() bool {
		return w.Count(`select count(*) from saga_run where key like 'change-plan:%' and status = 'done'`) == 1
	})
	w.Equal("clients made", w.Engine.Creations(w.Client(id)), 0)
}

// The clock is advanced while the panel looks which subscriptions are due: it looks again.
func TestAnAdvanceOfTheClockDuringALookIsNotMissed(t *testing.T) {
	t.Parallel()
	w := lookingHourly(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	due := w.Subscription(id).NextAt.Sub(w.Runner.Now())
	whileLocked(w.World, "subscriptions", func() {
		w.Must(w.Store.Clock().Advance(t.Context(), due/2))
	}, func() { w.Must(w.Store.Clock().Advance(t.Context(), due/2+time.Minute)) })
	w.Eventually("the next invoice is issued", func() bool { return slices.Equal(told(w, id), []string{"paid 12.10", "open 12.10"}) })
}

// Many workers of several processes make each document once.
func TestEachDocumentIsStoredOnceByManyWorkers(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t, plainly)
	var invoices []uuid.UUID
	for range 10 {
		invoices = append(invoices, issuedTo(w, buyer.Details{Country: "ES"}))
	}
	workers := []*invoicing.Service{w.Billing, w.Billing, w.Node(w.URL(), plainly).Billing, w.Node(w.URL(), plainly).Billing}
	var all sync.WaitGroup
	for _, one := range workers {
		all.Go(func() {
			if _, err := one.MakeDocuments(w.T.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	holdsDocuments(w, invoices, 3)
	again, err := w.Billing.MakeDocuments(t.Context())
	w.Must(err)
	w.Equal("made again", again, 0)
}

// One line of a bank statement may pay two invoices of the same amount.
func TestOneReferencePaysTwoInvoices(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	for n := 1; n <= 2; n++ {
		w.Until(id, "billing.period_invoiced", n)
		w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "bank_transfer", "statement 7"))
		w.Until(id, "billing.period_renewed", n)
	}
	w.Equal("invoices", strings.Join(told(w, id), ", "), "paid 12.10, paid 12.10, paid 12.10")
}
