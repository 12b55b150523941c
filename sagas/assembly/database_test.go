package assembly_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
)

func TestADatabaseThatCrashesCostsTimeAndNothingElse(t *testing.T) { // F-15, F-16, N-14
	t.Parallel()
	cluster := eventstoretest.Private(t, nil)
	owner := eventstoretest.Owner(t, cluster.URL())
	if err := errors.Join(eventstore.Migrate(t.Context(), owner, migrations...), readTables(t.Context(), t, owner)); err != nil {
		t.Fatal(err)
	}
	w := worldOn(t, cluster.URL(), func(o *assembly.Options) { o.Times.Lease = time.Second })
	var ids []uuid.UUID
	for i := range 60 {
		id := w.place(ordering{kind: []string{"hosting", "vps", "saas"}[i%3]})
		w.pay.pay(id, nil)
		w.must(w.webhook("evt_"+id.String(), id))
		ids = append(ids, id)
	}
	w.goes()
	for crash := 1; crash <= 3; crash++ {
		w.reached(t, ids, crash*len(ids)/4)
		eventstoretest.Restart(t, cluster)
	}
	w.reached(t, ids, len(ids))
	for _, id := range ids {
		w.settled(id)
		w.onlyOnce(id)
	}
	w.equal("orders that failed", w.count(`select count(*) from events where name = 'order.provisioning_parked'`), 0)
}

// reached waits until so many orders are active, over a database that may be away.
func (w *world) reached(t *testing.T, ids []uuid.UUID, want int) {
	t.Helper()
	for deadline := time.Now().Add(2 * patience); ; {
		active := 0
		for _, id := range ids {
			if o, _, err := eventstore.Fold(t.Context(), w.store, order.Decider, order.Stream(id)); err == nil && o.Status == order.StatusActive {
				active++
			}
		}
		if active >= want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d orders are active", active, want)
		}
		select {
		case <-w.store.Changed():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
