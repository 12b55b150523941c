package sagas_test

import (
	"fmt"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

// Read tables that are built anew, and a log that is read from its first event, cause
// no mail, no call and no webhook, though all workers run.
func TestReplayingTheWholeLogReachesNothingOutside(t *testing.T) {
	t.Parallel()
	w, tenants := sagastest.ListeningWorld(t)
	w.Goes()
	const address = "replayed@example.com"
	id := w.Buy(sagastest.OrderForm{Kind: "hosting", Domain: "ana.example.com", Email: address})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	tenant := w.Provision(id).Job.Tenant
	sagastest.Listens(w, 1, tenant)
	sagastest.Sends(w, 1, tenant)
	w.Eventually("the tenant's message has arrived", func() bool { return len(tenants.Heard(sagastest.URLOf(1))) > 0 })
	w.AllTold()
	outside := func() string {
		opened := w.Pay.Openings(id)
		w.Pay.Mu.Lock()
		defer w.Pay.Mu.Unlock()
		return fmt.Sprint(len(w.Mail.To(address)), w.Engine.Creations("site/ana.example.com"), opened,
			w.Pay.Captured[sagastest.SessionOf(id)], len(w.Pay.Refunded), len(tenants.Heard(sagastest.URLOf(1))))
	}
	before := outside()

	log := eventstore.Open(w.Owner(), sagastest.Catalogue, eventstoretest.Keys(t)).Reader()
	for _, o := range []projections.Options{{Check: true}, {KeepOld: true}} {
		result, err := projections.Rebuild(t.Context(), w.Owner(), log, projections.Names(), o)
		w.Must(err)
		w.Equal("rows that are not what the log says", result.Different, int64(0))
	}
	events := 0
	w.Must(w.Store.Reader().Replay(t.Context(), 0, func(eventstore.RecordedEvent) error { events++; return nil }))
	if events < 20 {
		t.Errorf("the log has %d events", events)
	}

	// What follows from a later event has been done, and so would that from earlier ones.
	later := w.Buy(sagastest.OrderForm{Kind: "hosting", Domain: "eva.example.com"})
	w.Becomes(later, order.StatusActive)
	w.Settled(later)
	w.AllTold()
	w.Equal("mails, objects, sessions and webhooks of the first order", outside(), before)
}
