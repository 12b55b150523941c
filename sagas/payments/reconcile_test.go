package payments_test

import (
	"strings"
	"testing"

	"hostpanel/sagas/sagastest"
)

// stillLive are the orders that have ended and are not gone, with what repairs
// them.
func stillLive(b sagastest.Purchase) (actions []string) {
	b.T.Helper()
	found, err := b.Payments.Reconcile(b.T.Context())
	b.Must(err)
	for _, f := range found.RefundedStillLive {
		b.Equal("whose service is live", f.Order, b.ID)
		actions = append(actions, f.Action)
	}
	return actions
}

func TestWhatDoesNotFitIsReportedOnceADay(t *testing.T) { // J-4
	t.Parallel()
	w := sagastest.NewWorld(t)
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, id, "asked for by mail")) // and its money is on its way back
	reported := func() int { return strings.Count(w.Logged.String(), "money and service do not fit together") }
	w.Must(w.Payments.ReconcileDaily(t.Context()))
	w.Equal("told", reported(), 1)
	w.Must(w.Payments.ReconcileDaily(t.Context()))
	w.Equal("told twice a day", reported(), 1)
	_, err := w.Pool.Exec(t.Context(), `update saga_daily set at = at - interval '25 hours'`)
	w.Must(err)
	w.Must(w.Payments.ReconcileDaily(t.Context()))
	w.Equal("told on the next day", reported(), 2)
}
