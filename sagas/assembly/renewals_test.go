package assembly_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/money"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/orders"
)

// A renewing world has a clock that a test moves, as a demo has.
type renewing struct {
	*world
	orders *orders.Service
}

func newRenewing(t *testing.T) *renewing {
	t.Helper()
	return renewingOn(newWorld(t))
}

func renewingOn(w *world) *renewing {
	w.t.Helper()
	w.moves()
	w.goes()
	return &renewing{w, orders.New(orders.Options{
		Tables: w.tables, Commands: w.store, Subjects: w.store, Payments: w.Payments, Now: w.store.Clock().Now,
		Offers: testOffers,
	})}
}

// testOffers are the payment methods of a world.
var testOffers = order.Offers{{Method: order.Method{Name: "test", Test: true, Currencies: money.Currencies()}, Configured: true}}

// serves sells a service that runs.
func (w *renewing) serves(o ordering) uuid.UUID {
	w.t.Helper()
	id := w.buy(o)
	w.becomes(id, order.StatusActive)
	return id
}

func (w *renewing) subscription(id uuid.UUID) billing.Subscription {
	w.t.Helper()
	s, _, err := eventstore.Fold(w.t.Context(), w.store, billing.Subscriptions, billing.Advance{Order: id}.Stream())
	w.must(err)
	return s
}

// until waits for an event of a subscription to have happened so often, moving the clock
// from deadline to deadline. Both are told by one reading of its history.
func (w *renewing) until(id uuid.UUID, name string, times int) {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s has happened %d times", name, times), func() bool {
		history, err := w.store.Read(w.t.Context(), billing.Advance{Order: id}.Stream())
		w.must(err)
		var s billing.Subscription
		left := times
		for _, r := range history {
			s = billing.Subscriptions.Evolve(s, r.Event.(billing.SubscriptionEvent)) //nolint:forcetypeassert // of such a stream
			if r.Name == name {
				left--
			}
		}
		if wait := s.NextAt.Sub(w.Now()); left > 0 && wait > 0 && !s.NextAt.IsZero() && !s.Pending { // a charge comes to its end first
			w.must(w.store.Clock().Advance(w.t.Context(), wait))
		}
		return left <= 0
	})
}

// pays pays the open invoice of a subscription at the provider.
func (w *renewing) pays(id uuid.UUID) uuid.UUID {
	w.t.Helper()
	page, err := w.orders.PayInvoice(w.t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Open})
	w.must(err)
	w.paid(page.ID)
	return page.ID
}

func caused() domain.Metadata { return domain.Metadata{ID: uuid.New(), Actor: "user:1"} }

func (w *renewing) invoice(id uuid.UUID) billing.Invoice {
	w.t.Helper()
	i, _, err := eventstore.Fold(w.t.Context(), w.store, billing.Invoices, billing.Pay{ID: id}.Stream())
	w.must(err)
	return i
}

func (w *renewing) invoices(id uuid.UUID) []projections.Invoice {
	w.t.Helper()
	all, err := w.tables.For(projections.System).Invoices(w.t.Context(), projections.Listing{Limit: 100, Filters: []projections.Filter{{Field: "order", Op: "=", Value: id}}})
	w.must(err)
	slices.Reverse(all.Rows)
	return all.Rows
}

func (w *renewing) told(id uuid.UUID) (all []string) {
	w.t.Helper()
	for _, i := range w.invoices(id) {
		all = append(all, fmt.Sprintf("%s %s", i.Status, i.Total.StringFixed(2)))
	}
	return all
}

func TestAServiceIsRenewedForAsLongAsItIsPaid(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	begun := w.subscription(id)
	for n := 1; n <= 3; n++ {
		w.until(id, "billing.period_invoiced", n)
		w.equal("open invoices", strings.Join(w.told(id), ", "), strings.Repeat("paid 12.10, ", n)+"open 12.10")
		paidBy := w.pays(id)
		w.becomes(paidBy, order.StatusActive)
		s := w.subscription(id)
		w.equal("period", s.Period, n)
		w.equal("paid until", s.PeriodEnd, billing.PeriodStart(begun.PeriodStart, "monthly", n+1))
	}
	numbers := map[string]bool{}
	for n, i := range w.invoices(id) {
		numbers[i.Number] = true
		w.equal("period of the invoice", i.Lines[0].PeriodStart, billing.PeriodStart(begun.PeriodStart, "monthly", n))
		w.equal("text of the invoice", i.Lines[0].Text, "Basic (mensual)")
	}
	w.equal("numbers", len(numbers), 4)
	w.equal("runs that provision", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

// What comes of a renewal has a correlation of its own, and its cause is the deadline.
func TestARenewalIsCausedByItsDeadline(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	history, err := w.store.Read(t.Context(), billing.Advance{Order: id}.Stream())
	w.must(err)
	invoice, err := w.store.Read(t.Context(), billing.Pay{ID: w.subscription(id).Open}.Stream())
	w.must(err)
	for _, r := range []eventstore.RecordedEvent{history[len(history)-1], invoice[0]} {
		w.equal("cause of "+r.Name, r.Metadata.Cause, domain.DeadlineCause(history[0].Stream, 1))
		w.equal("a correlation of its own", r.Metadata.Correlation != uuid.Nil && r.Metadata.Correlation != id, true)
		w.equal("one correlation", r.Metadata.Correlation, invoice[0].Metadata.Correlation)
	}
}

func TestAServiceThatIsNotPaidRestsUntilItIs(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{domain: "unpaid.example"})
	tenant := hosting.Ref{Kind: "tenant", ID: w.provision(id).Job.Tenant}
	w.until(id, "billing.subscription_suspended", 1)
	w.eventually("the tenant rests", func() bool { return slices.Contains(w.reasons(tenant), hosting.ByInvoice) })
	w.eventually("the site rests", func() bool { return value(w.has("site", "unpaid.example"), "is_active") == "false" })
	w.must(w.Billing.Extend(t.Context(), caused(), id, w.Now().Add(10*day), "a new card is on its way"))
	w.eventually("the tenant is in service for a while", func() bool { return len(w.reasons(tenant)) == 0 })
	w.until(id, "billing.subscription_suspended", 2)
	w.eventually("the tenant rests again", func() bool { return slices.Contains(w.reasons(tenant), hosting.ByInvoice) })
	w.pays(id)
	w.eventually("the tenant is in service", func() bool { return len(w.reasons(tenant)) == 0 })
	w.eventually("the site is served", func() bool { return value(w.has("site", "unpaid.example"), "is_active") == "true" })
	w.equal("status", w.subscription(id).Status, billing.Running)
}

func TestAServiceThatIsNeverPaidEnds(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.subscription_ended", 1)
	w.becomes(id, order.StatusCancelled)
	w.eventually("its invoice is withdrawn", func() bool { return slices.Equal(w.told(id), []string{"paid 12.10", "withdrawn 12.10"}) })
	w.eventually("its service ends", func() bool { return w.runOf("deprovision:"+id.String()).Status != "" })
	late, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: w.invoices(id)[1].ID})
	w.equal("a payment", fmt.Sprint(late, err), fmt.Sprint(order.Payable{}, billing.ErrNotOpen))
}

// A hundred clicks lead to one page, and a second payment goes back.
func TestAnInvoiceIsPaidOnceHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	invoice := w.subscription(id).Open
	pages := make([]order.Payable, 100)
	var clicks sync.WaitGroup
	for i := range pages {
		clicks.Go(func() {
			page, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: invoice, Method: "test"})
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
	w.must(w.Billing.MarkPaid(t.Context(), caused(), invoice, "bank_transfer", "statement 7"))
	w.equal("period", w.subscription(id).Period, 1)
	w.paid(pages[0].ID)
	w.becomes(pages[0].ID, order.StatusRefunded)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, paid 12.10")
	w.equal("credit notes", w.count(`select count(*) from credit_notes`), 0)
	w.equal("paid by", w.invoices(id)[1].PaymentMethod+" "+w.invoices(id)[1].Reference, "bank_transfer statement 7")
	w.equal("service", w.order(id).Status, order.StatusActive)
	err := w.Billing.MarkPaid(t.Context(), caused(), invoice, "cash", "")
	w.equal("another payment", fmt.Sprint(err), billing.ErrNotOpen.Message)
}

// The refund of a renewal is credited on its own invoice, and ends nothing by itself.
func TestTheRefundOfARenewalIsCredited(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	invoice := w.subscription(id).Open
	paidBy := w.pays(id)
	w.becomes(paidBy, order.StatusActive)
	w.pay.giveAll(paidBy)
	w.must(w.Payments.Hint(t.Context(), paidBy, "refund"))
	w.becomes(paidBy, order.StatusRefunded)
	w.eventually("it is credited", func() bool {
		i := w.invoice(invoice)
		return i.Credited.Total.Equal(i.Total)
	})
	w.equal("service", w.order(id).Status, order.StatusActive)
	err := w.Cancel(t.Context(), caused(), paidBy, "no")
	w.equal("a cancellation", domain.CodeOf(err), domain.Conflict)
	w.equal("runs that end it", w.count(`select count(*) from saga_run where key like 'deprovision:%'`), 0)
}

func TestAnInvoiceIsWaivedWithAReason(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.payment_overdue", 1)
	invoice := w.subscription(id).Open
	w.equal("without a reason", fmt.Sprint(w.Billing.Waive(t.Context(), caused(), invoice, "")), "reason: This field is required.")
	w.must(w.Billing.Waive(t.Context(), caused(), invoice, "an outage"))
	w.equal("period", w.subscription(id).Period, 1)
	w.equal("status", w.subscription(id).Status, billing.Running)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, withdrawn 12.10")
}

func TestASubscriptionThatCannotGoOnStopsNoOther(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	broken, sound := w.serves(ordering{kind: "saas"}), w.serves(ordering{kind: "saas"})
	_, err := w.owner().Exec(t.Context(), `delete from invoices where order_id = $1`, broken)
	w.must(err)
	w.until(sound, "billing.period_invoiced", 1)
	w.eventually("operators are told", func() bool {
		return w.warned("subscriptions were not renewed") && w.warned("advance subscription "+broken.String())
	})
	w.equal("steps of the other", w.often(billing.Advance{Order: broken}.Stream(), "billing.period_invoiced"), 0)
}

// What costs nothing is renewed without a payment, and no customer is asked for one.
func TestAFreePlanIsRenewedByItself(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.place(ordering{kind: "saas", price: "0"})
	w.pay.pay(id, func(p *order.Payment) { p.Minor = 0 })
	w.must(w.webhook("evt_"+id.String(), id))
	w.becomes(id, order.StatusActive)
	w.until(id, "billing.period_renewed", 2)
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 0.00, paid 0.00, paid 0.00")
	s := w.subscription(id)
	w.equal("open", s.Open, uuid.Nil)
	w.equal("period", s.Period, 2)
	user := w.provision(id).Job.User
	w.eventually("the customer is told of each invoice", func() bool {
		return w.count(`select count(*) from notifications where user_id = $1 and url like '/panel/%' and notification_type = 'billing'`, user) == 3
	})
	w.equal("calls to pay", w.count(`select count(*) from notifications where user_id = $1 and url like '/billing/invoices/%'`, user), 0)
}

// Two processes that find the same deadline take one step.
func TestADeadlineIsTakenOnceByManyProcesses(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	var processes []func()
	for range 2 {
		other := w.node(w.url())
		processes = append(processes, w.passing(other))
	}
	w.until(id, "billing.subscription_suspended", 1)
	for _, stop := range processes {
		stop()
	}
	w.equal("steps", strings.Join(w.happened(billing.Advance{Order: id}.Stream()), " "), "billing.subscription_started billing.period_invoiced "+
		"billing.payment_reminded billing.payment_overdue billing.payment_reminded billing.payment_reminded billing.subscription_suspended")
	w.equal("invoices", strings.Join(w.told(id), ", "), "paid 12.10, open 12.10")
	w.equal("runs that are stuck", w.count(`select count(*) from saga_run where status = $1`, sagas.StatusParked), 0)
}
