package notices_test

import (
	"strings"
	"testing"

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
