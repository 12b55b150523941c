//go:build system

package faults_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// A worker dies once at each point of a refund and of a capture.
func TestAWorkerMayDieAnywhereOnTheWayOfMoney(t *testing.T) { // F-1, N-9, S-6
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Lease = 500 * time.Millisecond })
	deaths := sagastest.NewDeaths[uuid.UUID](w)
	w.Fault.To(func(p sagas.Point, c sagas.Run) error { return deaths.At(c.Order, c.At().Name, p, false) })
	w.Pay.Tell(nil, func(call, about string) error {
		switch call {
		case "capture":
			return deaths.At(uuid.MustParse(about[len("cs_"):]), call, sagas.Sent, true)
		case "refund":
			return deaths.At(uuid.MustParse(about[len("order/"):][:36]), call, sagas.Sent, true)
		}
		return nil
	})
	var ids []uuid.UUID
	for _, step := range []string{"capture", "refund"} {
		for _, c := range []sagastest.Crash{
			{At: sagas.BeforeIntent},
			{At: sagas.AfterIntent},
			{At: sagas.Sent},
			{At: sagas.Sent, Made: true},
			{At: sagas.Answered, Made: true},
			{At: sagas.BeforeComplete, Made: true},
			{At: sagas.AfterComplete, Made: true},
		} {
			c.Step = step
			id := w.Place(sagastest.OrderForm{Kind: "saas"})
			w.Pay.Approve(id, w.Runner.Now())
			deaths.Plan(id, c)
			ids = append(ids, id)
		}
	}
	w.Goes()
	for _, id := range ids {
		w.Must(w.Webhook("evt_"+id.String(), id))
	}
	for _, id := range ids {
		w.Becomes(id, order.StatusActive)
		w.Must(w.Back(id, "2.10"))
	}
	for _, id := range ids {
		w.Eventually("its refund is booked", func() bool { return w.Order(id).Net()["EUR"] == 1000 })
		w.Eventually("its runs are done", func() bool {
			return w.RunOf("capture:"+id.String()).Status == sagas.StatusDone && w.RunOf("refund:"+id.String()+
				"/1").Status == sagas.StatusDone
		})
		w.Equal("captures", w.Pay.Captures(id), 1)
		w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
	}
	deaths.Came()
}
