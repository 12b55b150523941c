package payments_test

import (
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/sagas"
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

func TestAServiceInItsGraceFitsAndOneThatStaysAfterItDoesNot(t *testing.T) { // J-4, V3
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	refuses := func(call, name string) error {
		if call == "remove" && name == "site/own.example.com" {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}
	b.Engine.Tell(refuses, nil)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "does not pay any more"))
	b.Off()
	b.Eventually("its grace begins", func() bool { return b.RunOf("deprovision:"+b.ID.String()).At().Name == "grace" })
	b.Clock.Pass(6 * sagastest.Day)
	b.Equal("in its grace", stillLive(b), []string{})
	b.Clock.Pass(2 * sagastest.Day)
	b.Eventually("it is not gone", func() bool { return b.RunOf("deprovision:"+b.ID.String()).At().Name == "verify" })
	b.Equal("after its grace", stillLive(b), []string{"release"})
	var runs []sagas.RunView
	b.Eventually("the removal of the site waits for a person", func() (stopped bool) {
		var err error
		runs, err = b.Runner.Operators.Runs(t.Context(), sagas.RunFilter{About: b.Own.Stream().String(), Status: sagas.StatusParked})
		b.Must(err)
		return len(runs) > 0
	})
	b.Engine.Tell(nil, nil)
	b.Must(b.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, runs[0].ID, "the engine is well again"))
	b.Removed()
	b.Equal("when it is gone", stillLive(b), []string{})
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
