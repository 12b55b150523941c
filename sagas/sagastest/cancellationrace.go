package sagastest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Of a cancellation and the completion of a step at the same time exactly one wins,
// and the log shows which.
// CancellationRace cancels so many orders while a worker completes a step of each. One of the two wins.
func CancellationRace(t *testing.T, orders int) {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 26))
	w := NewWorld(t)
	var mu sync.Mutex
	at, said := map[string]int{}, make(chan error, orders)
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		if left, planned := at[c.Order.String()]; planned && p == sagas.BeforeComplete && c.Direction == sagas.DirectionDo {
			if left > 0 {
				at[c.Order.String()]--
				return nil
			}
			delete(at, c.Order.String())
			go func() { said <- w.Orders.Cancel(t.Context(), Operator, c.Order, "at this very moment") }() // while the step is completed
		}
		return nil
	})
	var ended atomic.Int32
	w.Goes()
	var ids []fmt.Stringer
	for i := range orders {
		id := w.Place(OrderForm{Domain: fmt.Sprintf("race%d.example.com", i)})
		mu.Lock()
		at[id.String()] = min(random.IntN(18), 8) // at the last of nine steps in every second one
		mu.Unlock()
		w.Paid(id)
		ids = append(ids, id)
	}
	for range ids {
		w.Must(<-said)
	}
	for _, s := range ids {
		id := MustParse(s)
		w.Eventually("it has come to an end", func() bool {
			o := w.Order(id)
			return o.Compensated || o.Status == order.StatusCancelled
		})
		run, o := w.Provision(id), w.Order(id)
		if active := w.Often(order.Stream(id), "order.activated") == 1; active {
			ended.Add(1)
			w.Equal("the worker won", fmt.Sprint(run.Status, " ", o.Cause), "done ended")
		} else {
			w.Equal("the operator won", run.Status, sagas.StatusUndone)
			w.Equal("no cancellation is recorded", w.Often(order.Stream(id), "order.cancelled"), 0)
		}
	}
	t.Logf("%d were active first", ended.Load())
	w.Equal("sites without an order", len(w.Engine.All()), w.Count(`
		select count(*) from resources where kind in ('tenant', 'site') and status <> 'gone'`))
}
