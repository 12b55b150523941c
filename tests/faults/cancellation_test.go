//go:build system

package faults_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/notices"
	"hostpanel/sagas/sagastest"
)

func TestManyCancellationsAndWorkersCannotBothWin(t *testing.T) { // F-26
	t.Parallel()
	sagastest.CancellationRace(t, 24)
}

// A worker may die in every step that is taken back.
func TestAWorkerMayDieWhileItTakesBack(t *testing.T) { // F-2
	t.Parallel()
	points := []sagas.Point{sagas.BeforeIntent, sagas.AfterIntent, sagas.Sent, sagas.Answered, sagas.BeforeComplete, sagas.AfterComplete}
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 400 * time.Millisecond })
	refuse := func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/broken") {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}
	w.Engine.Tell(refuse, nil)
	var mu sync.Mutex
	plans, died := map[string]bool{}, 0
	w.Fault.To(func(p sagas.Point, c sagas.Run) error {
		mu.Lock()
		defer mu.Unlock()
		plan := fmt.Sprint(c.Order, c.At().Name, p)
		if c.Direction == sagas.DirectionUndo && plans[plan] {
			delete(plans, plan)
			died++
			return sagas.ErrKilled
		}
		return nil
	})
	w.Pauses(notices.MailQueue)
	w.Goes()
	var hosted, machines []fmt.Stringer
	planned := 0
	plan := func(id fmt.Stringer, step string, p sagas.Point) {
		mu.Lock()
		defer mu.Unlock()
		plans[fmt.Sprint(id, step, p)] = true
		planned++
	}
	for i, p := range points {
		h, v := w.Buy(sagastest.OrderForm{Domain: fmt.Sprintf("back%d.example.com", i)}), w.Buy(sagastest.OrderForm{Kind: "vps"})
		hosted, machines = append(hosted, h), append(machines, v)
		plan(h, "tenant.engine", p)
		plan(h, "site", p)
		plan(v, "vm", p)
		if p == sagas.BeforeComplete || p == sagas.AfterComplete {
			for _, step := range []string{"billing", "tenant", "account"} {
				plan(h, step, p)
			}
		}
	}
	for _, id := range append(hosted, machines...) {
		sagastest.StandsAt(w, sagastest.MustParse(id), "welcome")
		w.Must(w.Orders.Cancel(t.Context(), sagastest.Operator, sagastest.MustParse(id), "the customer changed their mind"))
	}
	sagastest.GoesOn(w)
	for _, id := range append(hosted, machines...) {
		w.Eventually("it is taken back", func() bool { return w.Order(sagastest.MustParse(id)).Compensated })
		w.Equal("taken back", w.Often(order.Stream(sagastest.MustParse(id)), "order.compensation_completed"), 1)
		w.Equal("refunds asked for", len(w.Order(sagastest.MustParse(id)).Asked), 1)
	}
	sagastest.Untouched(w)
	w.Eventually("every worker has died as planned", func() bool { mu.Lock(); defer mu.Unlock(); return died == planned })
}
