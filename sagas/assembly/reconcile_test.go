package assembly_test

import (
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/sagas"
)

// stillLive are the orders that have ended and are not gone, with what repairs
// them.
func (b bought) stillLive() (actions []string) {
	b.t.Helper()
	found, err := b.Payments.Reconcile(b.t.Context())
	b.must(err)
	for _, f := range found.RefundedStillLive {
		b.equal("whose service is live", f.Order, b.id)
		actions = append(actions, f.Action)
	}
	return actions
}

func TestAServiceInItsGraceFitsAndOneThatStaysAfterItDoesNot(t *testing.T) { // J-4, V3
	t.Parallel()
	b := newBought(t, "hosting")
	refuses := func(call, name string) error {
		if call == "remove" && name == "site/own.example.com" {
			return domain.Fail(domain.Permanent, "broken", errLie)
		}
		return nil
	}
	b.engine.tell(refuses, nil)
	b.must(b.Cancel(t.Context(), operator, b.id, "does not pay any more"))
	b.off()
	b.eventually("its grace begins", func() bool { return b.runOf("deprovision:"+b.id.String()).At().Name == "grace" })
	b.clock.pass(6 * day)
	b.equal("in its grace", b.stillLive(), []string{})
	b.clock.pass(2 * day)
	b.eventually("it is not gone", func() bool { return b.runOf("deprovision:"+b.id.String()).At().Name == "verify" })
	b.equal("after its grace", b.stillLive(), []string{"release"})
	var runs []sagas.RunView
	b.eventually("the removal of the site waits for a person", func() (stopped bool) {
		var err error
		runs, err = b.Runs(t.Context(), sagas.RunFilter{About: b.own.Stream().String(), Status: sagas.StatusParked})
		b.must(err)
		return len(runs) > 0
	})
	b.engine.tell(nil, nil)
	b.must(b.RetryRun(t.Context(), operator, runs[0].ID, "the engine is well again"))
	b.removed()
	b.equal("when it is gone", b.stillLive(), []string{})
}

func TestWhatDoesNotFitIsReportedOnceADay(t *testing.T) { // J-4
	t.Parallel()
	w := newWorld(t)
	id := w.place(ordering{})
	w.pay.pay(id, nil)
	w.must(w.Cancel(t.Context(), operator, id, "asked for by mail")) // and its money is on its way back
	reported := func() int { return strings.Count(w.logged.String(), "money and service do not fit together") }
	w.must(w.Payments.ReconcileDaily(t.Context()))
	w.equal("told", reported(), 1)
	w.must(w.Payments.ReconcileDaily(t.Context()))
	w.equal("told twice a day", reported(), 1)
	_, err := w.pool.Exec(t.Context(), `update saga_daily set at = at - interval '25 hours'`)
	w.must(err)
	w.must(w.Payments.ReconcileDaily(t.Context()))
	w.equal("told on the next day", reported(), 2)
}
