package sagastest

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// TurnedRun lets an operator turn a run, and its worker die at a point of the way back; "": nowhere.
func TurnedRun(t *testing.T, at sagas.Point) {
	t.Helper()
	w := NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 300 * time.Millisecond })
	w.Engine.Tell(func(call, name string) error {
		if call == "create" && strings.HasPrefix(name, "site/") {
			return domain.Fail(domain.Permanent, "broken", ErrLie)
		}
		return nil
	}, nil)
	var dead atomic.Bool
	w.Fault.To(func(p sagas.Point, r sagas.Run) error {
		if r.Direction == sagas.DirectionUndo && p == at && r.At().Name == "tenant.engine" && dead.CompareAndSwap(false, true) {
			return sagas.ErrKilled
		}
		return nil
	})
	w.Goes()
	id := w.Buy(OrderForm{Domain: "back.example.com"})
	w.Becomes(id, order.StatusFailed)
	w.Must(w.Runner.Operators.TakeBack(t.Context(), Operator, sagas.RunID("provision:"+id.String()), "the customer changed their mind"))
	w.Eventually("it is undone", func() bool { return w.Provision(id).Status == sagas.StatusUndone })
	w.Equal("objects left outside", len(w.Engine.All()), 0)
	w.Equal("effects of the run that are left", w.Count(`select count(*) from effect where state not in ('undone',
		'absent') and saga_id = $1`, sagas.RunID("provision:"+id.String())), 0)
	w.Equal("claims left", w.Count(`select count(*) from external_claim where kind = 'tenant'`), 0)
	w.Equal("tenants left", w.Count(`select count(*) from resources where status <> 'gone'`), 0)
	w.Equal("died", dead.Load(), at != "")
	w.End()
}
