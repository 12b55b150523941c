package assembly_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
)

// titles are those of the notifications of a user, the oldest first. Those of different
// streams come in any order: reactions to streams run at once.
func (w *renewing) titles(user int64) string {
	w.t.Helper()
	return w.text(`select coalesce(string_agg(title, ', ' order by created_at, title), '') from notifications where user_id = $1`, user)
}

func TestACustomerIsToldOfEachStep(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas", email: "payer@example.com", language: "en"})
	user := w.provision(id).Job.User
	told := func(what, title string) { // once: what was sold is told meanwhile
		t.Helper()
		w.eventually(what, func() bool { return strings.Count(w.titles(user), title) == 1 })
	}
	for _, step := range []struct{ event, title string }{
		{"billing.period_invoiced", "An invoice to pay"},
		{"billing.payment_reminded", "A reminder of your invoice"},
		{"billing.payment_overdue", "Your payment is overdue"},
	} {
		w.until(id, step.event, 1)
		told(step.event, step.title)
	}
	w.pays(id)
	told("it is paid", "Your payment has arrived")
	w.until(id, "billing.subscription_suspended", 1)
	told("it is suspended", "Your plan is suspended")
	w.eventually("it was reminded of again", func() bool { return strings.Count(w.titles(user), "A reminder of your invoice") > 1 })
	w.must(w.Billing.Waive(t.Context(), caused(), w.subscription(id).Open, "an outage"))
	told("it is waived", "Your plan is renewed")
	w.must(w.Billing.Cancel(t.Context(), caused(), id))
	w.until(id, "billing.subscription_ended", 1)
	told("it is cancelled", "Your plan is cancelled")
	told("it has ended", "Your plan has ended")
}

// What only becomes credit, or is credit no more, is told too. Money that an operator books
// for one invoice is told with that invoice.
func TestACustomerIsToldOfCredit(t *testing.T) {
	t.Parallel()
	w := newRenewing(t)
	id := w.serves(ordering{kind: "saas", email: "payer@example.com", language: "en"})
	user := w.provision(id).Job.User
	told := func(what string, times int) {
		t.Helper()
		w.eventually(what, func() bool { return strings.Count(w.titles(user), what) == times })
	}
	mistake := w.books(id, "5.00", "ST-1")
	told("A payment was received", 1)
	w.must(w.Billing.ReverseBooking(t.Context(), caused(), w.account(id), mistake, "of another customer"))
	told("A payment was taken back", 1)
	w.books(id, "7.00", "ST-2")
	told("A payment was received", 2)
	w.must(w.Billing.PayCreditOut(t.Context(), caused(), billing.PayOut{CreditAccount: w.account(id), Amount: decimal.RequireFromString("3.00"), Reference: "OUT-1", Reason: "asked for"}))
	told("Credit was paid out", 1)
	w.equal("messages", w.text(`select string_agg(message, ' ' order by message) from notifications where user_id = $1 and title = 'Credit was paid out'`, user), "€3.00 of your credit was paid out to you. €4.00 is left.")

	w.until(id, "billing.period_invoiced", 1) // 4.00 of it are paid by what is left
	told("A part of your invoice is paid", 1)
	w.must(w.Billing.Waive(t.Context(), caused(), w.subscription(id).Open, "an outage"))
	told("You have credit again", 1)

	w.until(id, "billing.period_invoiced", 2)
	w.must(w.Billing.MarkPaid(t.Context(), caused(), w.subscription(id).Open, "cash", "till"))
	told("Your payment has arrived", 1)
	told("A payment was received", 2)
}

func TestTenantsHearOfTheirRenewals(t *testing.T) {
	t.Parallel()
	listening, r := listeningWorld(t)
	w := renewingOn(listening)
	id := w.serves(ordering{kind: "saas"})
	tenant := w.provision(id).Job.Tenant
	w.listens(1, tenant, "subscription.*", "invoice.*")
	heard := func(names ...string) {
		t.Helper()
		w.eventually(fmt.Sprint("the endpoint has heard ", names), func() bool {
			var all []string
			for _, one := range r.heard(urlOf(1)) {
				all = append(all, one.message.Type)
			}
			slices.Sort(all)
			return slices.Equal(all, slices.Sorted(slices.Values(names)))
		})
	}
	w.until(id, "billing.period_invoiced", 1)
	heard("invoice.created") // before the clock goes on: messages have their time
	w.until(id, "billing.payment_overdue", 1)
	heard("invoice.created", "subscription.past_due")
	invoice := w.subscription(id).Open
	w.must(w.Billing.MarkPaid(t.Context(), caused(), invoice, "cash", "till"))
	heard("invoice.created", "subscription.past_due", "invoice.paid", "subscription.renewed")
	for _, one := range r.heard(urlOf(1)) {
		about := map[string]string{"invoice": "invoices/" + invoice.String(), "subscription": "subscriptions/" + id.String()}
		kind, _, _ := strings.Cut(one.message.Type, ".")
		if url := fmt.Sprintf(`"url":"/billing/api/v1/%s/"`, about[kind]); !strings.Contains(string(one.message.Data), url) {
			t.Errorf("%s is about %s, not about %s", one.message.Type, one.message.Data, url)
		}
	}
}
