package billing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func balance(w *sagastest.Renewals, a billing.CreditAccount) billing.Balance {
	w.T.Helper()
	b, _, err := eventstore.Fold(w.T.Context(), w.Store, billing.Balances, a.Stream())
	w.Must(err)
	return b
}

// left waits until a balance has an amount.
func left(w *sagastest.Renewals, id uuid.UUID, amount string) {
	w.T.Helper()
	w.Eventually("the balance is "+amount, func() bool { return balance(w, w.Account(id)).Left.StringFixed(2) == amount })
}

// dues are what invoices have been paid of, and what is due: "open 5.00+7.10".
func dues(w *sagastest.Renewals, id uuid.UUID) string {
	w.T.Helper()
	var all []string
	for _, i := range w.Invoices(id) {
		all = append(all, fmt.Sprintf("%s %s+%s", i.Status, i.AmountPaid().StringFixed(2), i.AmountDue.StringFixed(2)))
	}
	return strings.Join(all, ", ")
}

// adds up holds a balance against the log: what was booked is applied, left or paid out, and
// no invoice has more than its total.
func addsUp(w *sagastest.Renewals, a billing.CreditAccount) {
	w.T.Helper()
	history, err := w.Store.Read(w.T.Context(), a.Stream())
	w.Must(err)
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
	b := balance(w, a)
	sum := b.Left.Add(out)
	for id, part := range b.Applied {
		i := w.Invoice(uuid.MustParse(id))
		sum = sum.Add(part)
		if !i.FromCredit.Equal(part) || part.GreaterThan(i.Total) || part.IsNegative() {
			w.T.Errorf("invoice %s over %s has %s by its own account, and %s by that of the balance", i.Number, i.Total, i.FromCredit, part)
		}
	}
	if !sum.Equal(booked) || b.Left.IsNegative() {
		w.T.Errorf("%s are booked, and %s are accounted for, with %s left", booked, sum, b.Left)
	}
	shown, err := w.Tables.For(projections.System).Billing().CreditBalance(w.T.Context(), projections.CreditBalanceID(a))
	w.Must(err)
	w.Equal("balance that is shown", shown.Balance.StringFixed(2), b.Left.StringFixed(2))
}

// paysRest pays what an order asks for at the provider.
func paysRest(w *sagastest.Renewals, id uuid.UUID) {
	w.T.Helper()
	w.Pay.Pay(id, func(p *order.Payment) { p.Minor = w.Order(id).Minor })
	w.Must(w.Webhook("evt_"+id.String(), id))
}

func TestAnInvoiceIsPaidInPartsAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Domain: "parts.example"})
	tenant := hosting.Ref{Kind: "tenant", ID: w.Provision(id).Job.Tenant}
	w.Until(id, "billing.period_invoiced", 1)
	first := w.Books(id, "5.00", "ST-1")
	w.Equal("the same again", w.Books(id, "5.00", " ST-1 "), first)
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, open 5.00+7.10")
	w.Until(id, "billing.subscription_suspended", 1)
	w.Eventually("the tenant rests", func() bool { return slices.Contains(w.Reasons(tenant), hosting.ByInvoice) })
	w.Books(id, "20.00", "ST-2")
	w.Equal("paid", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00")
	w.Eventually("the tenant is in service", func() bool { return len(w.Reasons(tenant)) == 0 })
	left(w, id, "12.90")
	w.Until(id, "billing.period_renewed", 2)
	w.Equal("the next one is paid from the balance", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00, paid 12.10+0.00")
	left(w, id, "0.80")
	w.Until(id, "billing.period_invoiced", 3)
	w.Equal("and the one after it in part", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00, paid 12.10+0.00, open 0.80+11.30")
	user := w.Provision(id).Job.User
	w.Eventually("the customer is told of the rest", func() bool {
		return w.Count(
			`select count(*) from notifications where user_id = $1 and (message like '%7,10%' or message like '%11,30%')`,
			user,
		) >= 2
	})
	page, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Subscription(id).Open})
	w.Must(err)
	w.Equal("the page asks for the rest in cents", w.Order(page.ID).Minor, 1130)
	paysRest(w, page.ID)
	w.Becomes(page.ID, order.StatusActive)
	addsUp(w, w.Account(id))
}

// The oldest invoice of all services of a tenant is paid first.
func TestTheOldestInvoiceOfATenantIsPaidFirst(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	older := w.Subscription(id)
	newer := uuid.New()
	w.Must(func() error {
		_, err := w.Store.Execute(t.Context(), sagastest.Cause(),
			billing.Issue{
				ID: newer, Order: id, Tenant: older.Tenant, Lines: []billing.Line{{Text: "Domain"}},
				Total: decimal.New(10, 0), Subtotal: decimal.New(10, 0), Currency: "EUR", Test: true,
				DueAt: w.Runner.Now().Add(sagastest.Day), At: w.Runner.Now(),
			})
		return err
	}())
	w.Books(id, "15.00", "ST-1")
	w.Equal("oldest first", dues(w, id), "paid 12.10+0.00, paid 12.10+0.00, open 2.90+7.10")
	addsUp(w, w.Account(id))
}

// A payment of the rest, whose booked part was reversed in the meantime, goes back.
func TestAPaymentOfLessThanIsDueGoesBack(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	booked := w.Books(id, "5.00", "ST-1")
	rest, err := w.Orders.PayInvoice(t.Context(), sagastest.Cause, order.BillPayment{Invoice: w.Subscription(id).Open})
	w.Must(err)
	w.Must(w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), w.Account(id), booked, "of another customer"))
	w.Must(w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), w.Account(id), booked, "once more"))
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, open 0.00+12.10")
	left(w, id, "0.00")
	paysRest(w, rest.ID)
	w.Becomes(rest.ID, order.StatusRefunded)
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, open 0.00+12.10")
	_, err = w.Billing.Book(t.Context(), sagastest.Cause(), w.Transfer(id, "5.00", "ST-1"))
	w.Equal("the statement once more", domain.CodeOf(err), domain.Conflict)
	addsUp(w, w.Account(id))
}

func TestAWithdrawnInvoiceGivesItsPartBack(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas"})
	w.Until(id, "billing.period_invoiced", 1)
	invoice := w.Subscription(id).Open
	w.Books(id, "5.00", "ST-1")
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), invoice, "an outage"))
	left(w, id, "5.00")
	w.Equal("invoices", dues(w, id), "paid 12.10+0.00, withdrawn 0.00+0.00")
	repeats(w, billing.Pay{ID: invoice}.Stream(), "billing.credit_note_issued")
	left(w, id, "5.00")
	out := billing.PayOut{CreditAccount: w.Account(id), Amount: decimal.New(4, 0), Reference: "OUT-1", Reason: "asked for"}
	w.Must(w.Billing.PayCreditOut(t.Context(), sagastest.Cause(), out))
	w.Must(w.Billing.PayCreditOut(t.Context(), sagastest.Cause(), out))
	left(w, id, "1.00")
	out.Reference = "OUT-2"
	w.Equal("more than there is", fmt.Sprint(w.Billing.PayCreditOut(t.Context(), sagastest.Cause(), out)), billing.ErrCreditUsed.Message)
	w.Until(id, "billing.period_invoiced", 2)
	w.Must(w.Billing.Cancel(t.Context(), sagastest.Cause(), id))
	left(w, id, "1.00")
	addsUp(w, w.Account(id))
}
