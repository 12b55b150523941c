package assembly_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// Stories of money that arrives without a provider: in parts, too much, twice, or at the
// same time as a payment at one.

// account is the balance of the tenant of a service that was bought with test money.
func (w *renewing) account(id uuid.UUID) billing.CreditAccount {
	return billing.CreditAccount{Tenant: w.subscription(id).Tenant, Currency: "EUR", Test: true}
}

// books books a transfer for the tenant of a service.
func (w *renewing) books(id uuid.UUID, amount, reference string) uuid.UUID {
	w.t.Helper()
	booked, err := w.Billing.Book(w.t.Context(), caused(), w.transfer(id, amount, reference))
	w.must(err)
	return booked
}

func (w *renewing) transfer(id uuid.UUID, amount, reference string) billing.BookPayment {
	return billing.BookPayment{CreditAccount: w.account(id), Amount: decimal.RequireFromString(amount), Method: "bank_transfer", Reference: reference, Received: w.Now()}
}

func (w *renewing) balance(a billing.CreditAccount) billing.Balance {
	w.t.Helper()
	b, _, err := eventstore.Fold(w.t.Context(), w.store, billing.Balances, a.Stream())
	w.must(err)
	return b
}

// left waits until a balance has an amount.
func (w *renewing) left(id uuid.UUID, amount string) {
	w.t.Helper()
	w.eventually("the balance is "+amount, func() bool { return w.balance(w.account(id)).Left.StringFixed(2) == amount })
}

// dues are what invoices have been paid of, and what is due: "open 5.00+7.10".
func (w *renewing) dues(id uuid.UUID) string {
	w.t.Helper()
	var all []string
	for _, i := range w.invoices(id) {
		all = append(all, fmt.Sprintf("%s %s+%s", i.Status, i.AmountPaid().StringFixed(2), i.AmountDue.StringFixed(2)))
	}
	return strings.Join(all, ", ")
}

// adds up holds a balance against the log: what was booked is applied, left or paid out, and
// no invoice has more than its total.
func (w *renewing) addsUp(a billing.CreditAccount) {
	w.t.Helper()
	history, err := w.store.Read(w.t.Context(), a.Stream())
	w.must(err)
	var booked, out decimal.Decimal
	for _, r := range history {
		switch e := r.Event.(type) {
		case billing.PaymentBooked:
			booked = booked.Add(e.Amount)
		case billing.BookingReversed:
			booked = booked.Sub(e.Amount)
		case billing.CreditPaidOut:
			out = out.Add(e.Amount)
		}
	}
	b := w.balance(a)
	sum := b.Left.Add(out)
	for id, part := range b.Applied {
		i := w.invoice(uuid.MustParse(id))
		sum = sum.Add(part)
		if !i.FromCredit.Equal(part) || part.GreaterThan(i.Total) || part.IsNegative() {
			w.t.Errorf("invoice %s over %s has %s by its own account, and %s by that of the balance", i.Number, i.Total, i.FromCredit, part)
		}
	}
	if !sum.Equal(booked) || b.Left.IsNegative() {
		w.t.Errorf("%s are booked, and %s are accounted for, with %s left", booked, sum, b.Left)
	}
	shown, err := w.tables.For(projections.System).CreditBalance(w.t.Context(), projections.CreditBalanceID(a))
	w.must(err)
	w.equal("balance that is shown", shown.Balance.StringFixed(2), b.Left.StringFixed(2))
}

// paysRest pays what an order asks for at the provider.
func (w *renewing) paysRest(id uuid.UUID) {
	w.t.Helper()
	w.pay.pay(id, func(p *order.Payment) { p.Minor = w.order(id).Minor })
	w.must(w.webhook("evt_"+id.String(), id))
}

func TestAnInvoiceIsPaidInPartsAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{domain: "parts.example"})
	tenant := hosting.Ref{Kind: "tenant", ID: w.provision(id).Job.Tenant}
	w.until(id, "billing.period_invoiced", 1)
	first := w.books(id, "5.00", "ST-1")
	w.equal("the same again", w.books(id, "5.00", " ST-1 "), first)
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, open 5.00+7.10")
	w.until(id, "billing.subscription_suspended", 1)
	w.eventually("the tenant rests", func() bool { return slices.Contains(w.reasons(tenant), hosting.ByInvoice) })
	w.books(id, "20.00", "ST-2")
	w.equal("paid", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00")
	w.eventually("the tenant is in service", func() bool { return len(w.reasons(tenant)) == 0 })
	w.left(id, "12.90")
	w.until(id, "billing.period_renewed", 2)
	w.equal("the next one is paid from the balance", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00, paid 12.10+0.00")
	w.left(id, "0.80")
	w.until(id, "billing.period_invoiced", 3)
	w.equal("and the one after it in part", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00, paid 12.10+0.00, open 0.80+11.30")
	user := w.provision(id).Job.User
	w.eventually("the customer is told of the rest", func() bool {
		return w.count(`select count(*) from notifications where user_id = $1 and (message like '%7,10%' or message like '%11,30%')`, user) >= 2
	})
	page, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Open})
	w.must(err)
	w.equal("the page asks for the rest in cents", w.order(page.ID).Minor, 1130)
	w.paysRest(page.ID)
	w.becomes(page.ID, order.StatusActive)
	w.addsUp(w.account(id))
}

// The oldest invoice of all services of a tenant is paid first.
func TestTheOldestInvoiceOfATenantIsPaidFirst(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	older := w.subscription(id)
	newer := uuid.New()
	w.must(func() error {
		_, err := w.store.Execute(t.Context(), caused(),
			billing.Issue{ID: newer, Order: id, Tenant: older.Tenant, Lines: []billing.Line{{Text: "Domain"}}, Total: decimal.New(10, 0), Subtotal: decimal.New(10, 0), Currency: "EUR", Test: true, DueAt: w.Now().Add(day), At: w.Now()})
		return err
	}())
	w.books(id, "15.00", "ST-1")
	w.equal("oldest first", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00, open 2.90+7.10")
	w.addsUp(w.account(id))
}

// A payment of the whole at the provider, begun before a part was booked, pays the invoice.
// The part is kept for the next one.
func TestAPaymentOfTheWholeGivesABookedPartBack(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	invoice := w.subscription(id).Open
	whole, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: invoice})
	w.must(err)
	w.books(id, "5.00", "ST-1")
	rest, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: invoice})
	w.must(err)
	w.equal("another page", rest.ID != whole.ID && w.order(rest.ID).Minor == 710, true)
	w.paid(whole.ID)
	w.becomes(whole.ID, order.StatusActive)
	w.left(id, "5.00")
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00")
	w.repeats(billing.Pay{ID: invoice}.Stream(), "billing.invoice_paid")
	w.paysRest(rest.ID)
	w.becomes(rest.ID, order.StatusRefunded)
	w.left(id, "5.00")
	w.addsUp(w.account(id))
}

// A payment of the rest, whose booked part was reversed in the meantime, goes back.
func TestAPaymentOfLessThanIsDueGoesBack(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	booked := w.books(id, "5.00", "ST-1")
	rest, err := w.orders.PayInvoice(t.Context(), caused, order.BillPayment{Invoice: w.subscription(id).Open})
	w.must(err)
	w.must(w.Billing.ReverseBooking(t.Context(), caused(), w.account(id), booked, "of another customer"))
	w.must(w.Billing.ReverseBooking(t.Context(), caused(), w.account(id), booked, "once more"))
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, open 0.00+12.10")
	w.left(id, "0.00")
	w.paysRest(rest.ID)
	w.becomes(rest.ID, order.StatusRefunded)
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, open 0.00+12.10")
	_, err = w.Billing.Book(t.Context(), caused(), w.transfer(id, "5.00", "ST-1"))
	w.equal("the statement once more", domain.CodeOf(err), domain.Conflict)
	w.addsUp(w.account(id))
}

func TestAWithdrawnInvoiceGivesItsPartBack(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	invoice := w.subscription(id).Open
	w.books(id, "5.00", "ST-1")
	w.must(w.Billing.Waive(t.Context(), caused(), invoice, "an outage"))
	w.left(id, "5.00")
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, withdrawn 0.00+0.00")
	w.repeats(billing.Pay{ID: invoice}.Stream(), "billing.credit_note_issued")
	w.left(id, "5.00")
	out := billing.PayOut{CreditAccount: w.account(id), Amount: decimal.New(4, 0), Reference: "OUT-1", Reason: "asked for"}
	w.must(w.Billing.PayCreditOut(t.Context(), caused(), out))
	w.must(w.Billing.PayCreditOut(t.Context(), caused(), out))
	w.left(id, "1.00")
	out.Reference = "OUT-2"
	w.equal("more than there is", fmt.Sprint(w.Billing.PayCreditOut(t.Context(), caused(), out)), billing.ErrCreditUsed.Message)
	w.until(id, "billing.period_invoiced", 2)
	w.must(w.Billing.Cancel(t.Context(), caused(), id))
	w.left(id, "1.00")
	w.addsUp(w.account(id))
}

// A change of the plan is paid from the balance with its invoice.
func TestAChangeOfThePlanIsPaidFromTheBalance(t *testing.T) {
	t.Parallel()
	w := withPlans(t)
	id := w.serves(ordering{domain: "larger.example"})
	w.books(id, "100.00", "ST-1")
	w.left(id, "100.00")
	w.must(w.changes(id, largePlan, "monthly"))
	s := w.subscription(id)
	w.equal("it counts at once", s.Plan == largePlan && s.Change == nil, true)
	w.addsUp(w.account(id))
}

// A process dies between the booking and its application: the reaction applies it.
func TestABookingIsAppliedAfterACrash(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	payment := w.transfer(id, "12.60", "ST-1")
	payment.ID, payment.At = uuid.New(), w.Now()
	_, err := w.store.Execute(t.Context(), caused(), payment) // and nothing more
	w.must(err)
	w.left(id, "0.50")
	w.equal("invoices", w.dues(id), "paid 12.10+0.00, paid 12.10+0.00")
	w.equal("the import is repeated", w.books(id, "12.60", "ST-1"), payment.ID)
	w.repeats(w.account(id).Stream(), "billing.payment_booked")
	w.equal("bookings", w.often(w.account(id).Stream(), "billing.payment_booked"), 1)
	w.equal("applications", w.often(w.account(id).Stream(), "billing.credit_applied"), 1)
	w.addsUp(w.account(id))
}

// Many bookings, marks, payouts and reversals at once, in any order and repeated.
func TestNoMoneyIsLostHoweverMuchHappensAtOnce(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number
	t.Logf("seed %d", seed)
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas"})
	w.until(id, "billing.period_invoiced", 1)
	a, invoice := w.account(id), w.subscription(id).Open
	chance := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // of a test
	acts := make([]func() error, 100)
	for n := range acts {
		amount := decimal.New(1+chance.Int64N(400), -2)
		reference := fmt.Sprint("ST-", n/2)
		payment := w.transfer(id, amount.String(), reference)
		switch n % 10 {
		case 8:
			acts[n] = func() error {
				return w.Billing.PayCreditOut(t.Context(), caused(), billing.PayOut{CreditAccount: a, Amount: amount, Reference: reference, Reason: "asked for"})
			}
		case 9:
			acts[n] = func() error {
				booked, err := w.Billing.Book(t.Context(), caused(), payment)
				if err != nil {
					return err
				}
				return w.Billing.ReverseBooking(t.Context(), caused(), a, booked, "wrong")
			}
		case 5:
			acts[n] = func() error { return w.Billing.MarkPaid(t.Context(), caused(), invoice, "cash", reference) }
		default:
			acts[n] = func() error { _, err := w.Billing.Book(t.Context(), caused(), payment); return err }
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
	w.addsUp(a)
	w.equal("renewals", w.subscription(id).Period, 1)
	w.equal("payments of the invoice", w.often(billing.Pay{ID: invoice}.Stream(), "billing.invoice_paid"), 1)
}
