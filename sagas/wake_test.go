package sagas_test

import (
	"context"
	"testing"
	"time"

	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Wake-ups alone carry an order from its webhook to active: polls are far
// apart here. A wake-up that is sent before the row it is about can be seen is
// lost, and shows as an order that waits for the next poll.
func TestEveryHopIsWokenWithoutPolling(t *testing.T) {
	t.Parallel()
	patient := sagastest.Quick
	patient.Poll = 10 * time.Second
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times = patient }).Goes()
	for range 8 {
		begun := time.Now()
		w.Becomes(w.Buy(sagastest.OrderForm{}), order.StatusActive)
		if took := time.Since(begun); took > patient.Poll/2 {
			t.Fatalf("an order took %v: a wake-up was lost", took)
		}
	}
}

func TestADrillGoesThroughItsSteps(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Must(w.Runner.Drill(t.Context(), "one"))
	w.Must(w.Runner.Drill(t.Context(), "one"))
	w.Eventually("the drill is over", func() bool { return w.RunOf("drill:one").Status == sagas.StatusDone })
	w.Equal("runs", w.Count(`select count(*) from saga_run`), 1)
	w.Must(w.Runner.JoinedDrill(t.Context(), "two"))
	w.Eventually("the other drill is over", func() bool { return w.RunOf("drill:two").Status == sagas.StatusDone })
	for name, appends := range map[string]int{"one": 6, "two": 2} {
		w.Equal(
			"appends of drill "+name,
			w.Count(`select count(distinct xmin::text) from events where stream = $1`, sagas.StreamOf("drill:"+name).String()),
			appends,
		)
	}
}

// A hesitant provider looks, and takes its time to answer.
type hesitant struct {
	*sagastest.Payments
	asked, answer chan struct{}
}

func (h hesitant) Fetch(ctx context.Context, session string) (order.Fetched, error) {
	f, err := h.Payments.Fetch(ctx, session)
	h.asked <- struct{}{}
	<-h.answer
	return f, err
}

// News that comes while the provider is being asked causes one more question,
// at once.
func TestNewsDuringACheckIsLookedAtRightAfterIt(t *testing.T) {
	t.Parallel()
	patient := sagastest.Quick
	patient.Poll, patient.CheckCall, patient.CheckLease = 10*time.Second, 5*time.Second, 6*time.Second
	slow := hesitant{asked: make(chan struct{}), answer: make(chan struct{})}
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		slow.Payments = o.Payments["test"].(*sagastest.Payments)
		o.Times, o.Payments = patient, map[string]order.Provider{"test": slow}
	})
	w.Silent.To(true) // no echo of a NOTIFY helps
	w.Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Must(w.Payments.Hint(t.Context(), id, "return"))
	<-slow.asked // not paid, it will say
	w.Paid(id)
	w.Eventually("the webhook has been matched", func() bool { return sagastest.InboxState(w, "evt_"+id.String()) == "done" })
	begun := time.Now()
	slow.answer <- struct{}{}
	<-slow.asked
	slow.answer <- struct{}{}
	w.Becomes(id, order.StatusActive)
	if took := time.Since(begun); took > patient.Poll/2 {
		t.Errorf("the second look came after %v", took)
	}
}
