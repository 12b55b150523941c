package sagas_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

func TestAnAnswerThatGotLostIsFoundByLookingUp(t *testing.T) { // F-12
	t.Parallel()
	w := sagastest.NewWorld(t)
	lost := map[string]bool{}
	var mu sync.Mutex
	once := func(_, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if lost[name] {
			return nil
		}
		lost[name] = true
		return domain.Fail(domain.Unknown, "timeout", errors.New("no answer"))
	}
	w.Engine.Tell(nil, once)
	w.Compute.Tell(nil, once)
	w.Goes()
	a, b := w.Buy(sagastest.OrderForm{Domain: "lost.example.com"}), w.Buy(sagastest.OrderForm{Kind: "vps"})
	for _, id := range []uuid.UUID{a, b} {
		w.Becomes(id, order.StatusActive)
		w.Settled(id)
		w.OnlyOnce(id)
	}
	w.Equal("sites made", w.Engine.Creations("site/lost.example.com"), 1)
	w.Equal("adopted", w.Count(`select count(*) from events where name = 'saga.step_completed' and (data ->> 'found')::boolean`), 3)
}

// A worker dies before its call, after its call, and after its step: nothing is made twice.
func TestAWorkerThatDiesLeavesOneOfEach(t *testing.T) { // F-1
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	deaths := sagastest.NewDeaths[uuid.UUID](w)
	w.Fault.To(func(p sagas.Point, r sagas.Run) error { return deaths.At(r.Order, r.At().Name, p, false) })
	w.Goes()
	var ids []uuid.UUID
	for _, c := range []sagastest.Crash{
		{Kind: "hosting", Step: "tenant.engine", At: sagas.Answered},
		{Kind: "hosting", Step: "activate", At: sagas.AfterComplete},
		{Kind: "vps", Step: "vm", At: sagas.AfterIntent},
	} {
		id := w.Place(sagastest.OrderForm{Kind: c.Kind})
		deaths.Plan(id, c)
		w.Paid(id)
		ids = append(ids, id)
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		w.Eventually("its run is done", func() bool { return w.Provision(id).Status == sagas.StatusDone })
		w.Settled(id)
		w.OnlyOnce(id)
	}
	deaths.Came()
}
