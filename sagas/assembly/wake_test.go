package assembly_test

import (
	"context"
	"testing"
	"time"

	"hostpanel/domain/order"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// Wake-ups alone carry an order from its webhook to active: polls are far
// apart here. A wake-up that is sent before the row it is about can be seen is
// lost, and shows as an order that waits for the next poll.
func TestEveryHopIsWokenWithoutPolling(t *testing.T) {
	t.Parallel()
	patient := quick
	patient.Poll = 10 * time.Second
	w := newWorld(t, func(o *assembly.Options) { o.Times = patient }).goes()
	for range 40 {
		begun := time.Now()
		w.becomes(w.buy(ordering{}), order.StatusActive)
		if took := time.Since(begun); took > patient.Poll/2 {
			t.Fatalf("an order took %v: a wake-up was lost", took)
		}
	}
}

func TestADrillGoesThroughItsSteps(t *testing.T) {
	t.Parallel()
	w := newWorld(t).goes()
	w.must(w.Drill(t.Context(), "one"))
	w.must(w.Drill(t.Context(), "one"))
	w.eventually("the drill is over", func() bool { return w.runOf("drill:one").Status == sagas.StatusDone })
	w.equal("runs", w.count(`select count(*) from saga_run`), 1)
	w.must(w.JoinedDrill(t.Context(), "two"))
	w.eventually("the other drill is over", func() bool { return w.runOf("drill:two").Status == sagas.StatusDone })
	for name, appends := range map[string]int{"one": 6, "two": 2} {
		w.equal("appends of drill "+name, w.count(`select count(distinct xmin::text) from events where stream = $1`, sagas.StreamOf("drill:"+name).String()), appends)
	}
}

// A hesitant provider looks, and takes its time to answer.
type hesitant struct {
	*fakePayments
	asked, answer chan struct{}
}

func (h hesitant) Fetch(ctx context.Context, session string) (order.Fetched, error) {
	f, err := h.fakePayments.Fetch(ctx, session)
	h.asked <- struct{}{}
	<-h.answer
	return f, err
}

// News that comes while the provider is being asked causes one more question,
// at once.
func TestNewsDuringACheckIsLookedAtRightAfterIt(t *testing.T) {
	t.Parallel()
	patient := quick
	patient.Poll, patient.CheckCall, patient.CheckLease = 10*time.Second, 5*time.Second, 6*time.Second
	slow := hesitant{asked: make(chan struct{}), answer: make(chan struct{})}
	w := newWorld(t, func(o *assembly.Options) {
		slow.fakePayments = o.Payments["test"].(*fakePayments)
		o.Times, o.Payments = patient, map[string]order.Provider{"test": slow}
	})
	w.silent.to(true) // no echo of a NOTIFY helps
	w.goes()
	id := w.place(ordering{})
	w.must(w.Payments.Hint(t.Context(), id, "return"))
	<-slow.asked // not paid, it will say
	w.paid(id)
	w.eventually("the webhook has been matched", func() bool { return w.inboxState("evt_"+id.String()) == "done" })
	begun := time.Now()
	slow.answer <- struct{}{}
	<-slow.asked
	slow.answer <- struct{}{}
	w.becomes(id, order.StatusActive)
	if took := time.Since(begun); took > patient.Poll/2 {
		t.Errorf("the second look came after %v", took)
	}
}

// A process that tells the others nothing may still append, and a hint may get lost. So
// every reader of the log also looks by itself.
func TestReadersFindByPollingWhatTheyWereNotToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.passing(w.node(w.url())) // it works; the one that appends does not tell it
	w.opens(1, "ana@example.com", "en")
	w.eventually("the readers have begun", func() bool { return w.count(`select count(*) from readers where position > 0`) == 2 })
	w.opens(2, "eva@example.com", "en")
	w.eventually("all have come to the end", func() bool {
		return w.count(`select count(*) from readers where position < (select max(position) from events)`) == 0
	})
}
