package sagas

import (
	"testing"
	"time"

	"hostpanel/domain/order"
)

// Wake-ups alone carry an order from its webhook to active: polls are far
// apart here. A wake-up that is sent before the row it is about can be seen is
// lost, and shows as an order that waits for the next poll.
func TestEveryHopIsWokenWithoutPolling(t *testing.T) {
	patient := quick
	patient.Poll = 10 * time.Second
	w := newWorld(t, func(o *Options) { o.Times = patient }).goes()
	for range 40 {
		begun := time.Now()
		w.becomes(w.buy(ordering{}), order.StatusActive)
		if took := time.Since(begun); took > patient.Poll/2 {
			t.Fatalf("an order took %v: a wake-up was lost", took)
		}
	}
}

func TestADrillGoesThroughItsSteps(t *testing.T) {
	w := newWorld(t).goes()
	w.must(w.Drill(t.Context(), "one"))
	w.must(w.Drill(t.Context(), "one"))
	w.eventually("the drill is over", func() bool { return w.runOf("drill:one").Status == Done })
	w.equal("runs", w.count(`select count(*) from saga_run`), 1)
}
