package sagas_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
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
