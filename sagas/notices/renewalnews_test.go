package notices_test

import (
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/sagas/sagastest"
)

func TestACustomerIsToldOfEachStep(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas", Email: "payer@example.com", Language: "en"})
	user := w.Provision(id).Job.User
	told := func(what, title string) { // once: what was sold is told meanwhile
		t.Helper()
		w.Eventually(what, func() bool { return strings.Count(w.Titles(user), title) == 1 })
	}
	for _, step := range []struct{ event, title string }{
		{"billing.period_invoiced", "An invoice to pay"},
		{"billing.payment_reminded", "A reminder of your invoice"},
		{"billing.payment_overdue", "Your payment is overdue"},
	} {
		w.Until(id, step.event, 1)
		told(step.event, step.title)
	}
	w.Pays(id)
	told("it is paid", "Your payment has arrived")
	w.Until(id, "billing.subscription_suspended", 1)
	told("it is suspended", "Your plan is suspended")
	w.Eventually("it was reminded of again", func() bool { return strings.Count(w.Titles(user), "A reminder of your invoice") > 1 })
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "an outage"))
	told("it is waived", "Your plan is renewed")
	w.Must(w.Billing.Cancel(t.Context(), sagastest.Cause(), id))
	w.Until(id, "billing.subscription_ended", 1)
	told("it is cancelled", "Your plan is cancelled")
	told("it has ended", "Your plan has ended")
}

// What only becomes credit, or is credit no more, is told too. Money that an operator books
// for one invoice is told with that invoice.
func TestACustomerIsToldOfCredit(t *testing.T) {
	t.Parallel()
	w := sagastest.NewRenewals(t)
	id := w.Serves(sagastest.OrderForm{Kind: "saas", Email: "payer@example.com", Language: "en"})
	user := w.Provision(id).Job.User
	told := func(what string, times int) {
		t.Helper()
		w.Eventually(what, func() bool { return strings.Count(w.Titles(user), what) == times })
	}
	mistake := w.Books(id, "5.00", "ST-1")
	told("A payment was received", 1)
	w.Must(w.Billing.ReverseBooking(t.Context(), sagastest.Cause(), w.Account(id), mistake, "of another customer"))
	told("A payment was taken back", 1)
	w.Books(id, "7.00", "ST-2")
	told("A payment was received", 2)
	w.Must(
		w.Billing.PayCreditOut(
			t.Context(), sagastest.Cause(),
			billing.PayOut{
				CreditAccount: w.Account(id), Amount: decimal.RequireFromString("3.00"), Reference: "OUT-1",
				Reason: "asked for",
			},
		),
	)
	told("Credit was paid out", 1)
	w.Equal("messages", w.Text(`select string_agg(message, ' ' order by message) from notifications where user_id = $1
		and title = 'Credit was paid out'`, user), "€3.00 of your credit was paid out to you. €4.00 is left.")

	w.Until(id, "billing.period_invoiced", 1) // 4.00 of it are paid by what is left
	told("A part of your invoice is paid", 1)
	w.Must(w.Billing.Waive(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "an outage"))
	told("You have credit again", 1)

	w.Until(id, "billing.period_invoiced", 2)
	w.Must(w.Billing.MarkPaid(t.Context(), sagastest.Cause(), w.Subscription(id).Open, "cash", "till"))
	told("Your payment has arrived", 1)
	told("A payment was received", 2)
}
