//go:build system

package faults_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestADatabaseThatCrashesCostsTimeAndNothingElse(t *testing.T) { // F-15, F-16, N-14
	t.Parallel()
	cluster := eventstoretest.Private(t, nil)
	owner := eventstoretest.Owner(t, cluster.URL())
	if err := errors.Join(
		eventstore.Migrate(t.Context(), owner, sagastest.Migrations...), sagastest.ReadTables(t.Context(), t, owner),
	); err != nil {
		t.Fatal(err)
	}
	w := sagastest.WorldOn(t, cluster.URL(), func(o *assembly.Options) { o.Times.Lease = time.Second })
	var ids []uuid.UUID
	for i := range 60 {
		id := w.Place(sagastest.OrderForm{Kind: []string{"hosting", "vps", "saas"}[i%3]})
		w.Pay.Pay(id, nil)
		w.Must(w.Webhook("evt_"+id.String(), id))
		ids = append(ids, id)
	}
	w.Goes()
	for crash := 1; crash <= 3; crash++ {
		reached(w, t, ids, crash*len(ids)/4)
		eventstoretest.Restart(t, cluster)
	}
	reached(w, t, ids, len(ids))
	for _, id := range ids {
		w.Settled(id)
		w.OnlyOnce(id)
	}
	w.Equal("orders that failed", w.Count(`select count(*) from events where name = 'order.provisioning_parked'`), 0)
}

// reached waits until so many orders are active, over a database that may be away.
func reached(w *sagastest.World, t *testing.T, ids []uuid.UUID, want int) {
	t.Helper()
	for deadline := time.Now().Add(2 * sagastest.Patience); ; {
		active := 0
		for _, id := range ids {
			if o, _, err := eventstore.Fold(t.Context(), w.Store, order.Decider, order.Stream(id)); err == nil &&
				o.Status == order.StatusActive {
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
		case <-w.Store.Changed():
		case <-time.After(20 * time.Millisecond):
		}
	}
}
