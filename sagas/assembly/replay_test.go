package assembly_test

import (
	"fmt"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/projections"
)

// Read tables that are built anew, and a log that is read from its first event, cause
// no mail, no call and no webhook, though all workers run.
func TestReplayingTheWholeLogReachesNothingOutside(t *testing.T) {
	t.Parallel()
	w, tenants := listeningWorld(t)
	w.goes()
	const address = "replayed@example.com"
	id := w.buy(ordering{kind: "hosting", domain: "ana.example.com", email: address})
	w.becomes(id, order.StatusActive)
	w.settled(id)
	tenant := w.provision(id).Job.Tenant
	w.listens(1, tenant)
	w.sends(1, tenant)
	w.eventually("the tenant's message has arrived", func() bool { return len(tenants.heard(urlOf(1))) > 0 })
	w.allTold()
	outside := func() string {
		opened := w.pay.openings(id)
		w.pay.mu.Lock()
		defer w.pay.mu.Unlock()
		return fmt.Sprint(len(w.mail.to(address)), w.engine.creations("site/ana.example.com"), opened,
			w.pay.captured[sessionOf(id)], len(w.pay.refunded), len(tenants.heard(urlOf(1))))
	}
	before := outside()

	log := eventstore.Open(w.owner(), facts, eventstoretest.Keys(t))
	for _, o := range []projections.Options{{Check: true}, {KeepOld: true}} {
		result, err := projections.Rebuild(t.Context(), w.owner(), log, projections.Names(), o)
		w.must(err)
		w.equal("rows that are not what the log says", result.Different, int64(0))
	}
	events := 0
	w.must(w.store.Replay(t.Context(), 0, func(eventstore.RecordedEvent) error { events++; return nil }))
	if events < 20 {
		t.Errorf("the log has %d events", events)
	}

	// What follows from a later event has been done, and so would that from earlier ones.
	later := w.buy(ordering{kind: "hosting", domain: "eva.example.com"})
	w.becomes(later, order.StatusActive)
	w.settled(later)
	w.allTold()
	w.equal("mails, objects, sessions and webhooks of the first order", outside(), before)
}
