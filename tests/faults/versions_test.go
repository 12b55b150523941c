//go:build system

package faults_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

// Runs, messages to tenants and journals of people, by chance: workers die, endpoints
// answer with errors. Whatever becomes of them, the state as of every version is what the
// fold said then.
func TestTheStateOfEveryVersionOfARunIsWhatTheFoldSaidThen(t *testing.T) {
	t.Parallel()
	w, tenants := sagastest.ListeningWorld(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a test
	chance := func(of int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(of)
	}
	w.Fault.To(func(sagas.Point, sagas.Run) error {
		if chance(100) < 3 {
			return sagas.ErrKilled
		}
		return nil
	})
	for endpoint := range int64(3) {
		sagastest.Listens(w, 1+endpoint, 7)
		tenants.Answers(sagastest.URLOf(1+endpoint), func(context.Context, int) (int, error) {
			return sagastest.Answer([]int{200, 500, 503}[chance(3)])
		})
	}
	w.Goes()
	acts := []func(n int){
		func(n int) {
			w.Buy(sagastest.OrderForm{Domain: fmt.Sprintf("site%d.example.com", n), Email: fmt.Sprintf("ana%d@example.com", n)})
		},
		func(int) { sagastest.Sends(w, 1+int64(chance(3)), 7) },
		func(n int) {
			w.Does(
				account.NoteSignIn{
					User: 1 + int64(chance(2)), SubjectID: uuid.NewSHA1(uuid.Nil, []byte("ana")),
					IP: fmt.Sprintf("192.0.2.%d", n), Through: account.ThroughPage, At: w.Runner.Now(),
				},
			)
		},
	}
	for n := range 24 {
		act := n
		if n >= len(acts) {
			act = chance(len(acts))
		}
		acts[act](n)
	}
	w.Eventually("all orders are active", func() bool {
		return w.Count(`select count(*) from orders where status <> $1`, string(order.StatusActive)) == 0
	})
	categories := eventstoretest.EveryVersion(t, w.Store)
	for _, wanted := range []string{sagas.Category, webhook.DeliveryCategory, account.SecurityCategory} {
		if !categories[wanted] {
			t.Errorf("%s is not among %v", wanted, categories)
		}
	}
	histories := w.Count(`select count(*) from (select stream from events where stream like 'saga-%' group by 1,
		correlation having count(*) > 4) runs`)
	w.Equal("runs have long histories", histories > 0, true)
}
