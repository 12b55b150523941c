package payments_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/sagas/sagastest"
)

// cancels gives an order up as a person may: the session is expired, then the
// truth is read.
func cancels(w *sagastest.World, id uuid.UUID, by order.CancelReason) error {
	if err := w.Pay.ExpireSession(w.T.Context(), sagastest.SessionOf(id)); err != nil {
		return err
	}
	truth, err := w.Pay.Fetch(w.T.Context(), sagastest.SessionOf(id))
	if err != nil {
		return err
	}
	_, err = w.Store.Execute(w.T.Context(), sagastest.Operator, order.Cancel{
		ID: id, By: by, Reason: "changed their mind", Observe: order.Observe{ID: id, Fetched: truth, At: w.Runner.Now()},
		At: w.Runner.Now(),
	})
	return err
}

func hint(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	w.Must(w.Payments.Hint(w.T.Context(), id, "test"))
}

// comesTo makes an order come to nothing for a reason.
var comesTo = map[order.CancelReason]func(w *sagastest.World, c *sagastest.HandClock, id uuid.UUID){
	order.Expired: func(w *sagastest.World, _ *sagastest.HandClock, id uuid.UUID) { shows(w, id, order.SessionExpired) },
	order.PaymentFailed: func(w *sagastest.World, _ *sagastest.HandClock, id uuid.UUID) {
		shows(w, id, order.SessionComplete, order.Payment{ID: "pay_no", State: order.StateFailed, Minor: 1210, Currency: "EUR"})
	},
	order.ApprovalReversed: func(w *sagastest.World, _ *sagastest.HandClock, id uuid.UUID) {
		agrees(w, id)
		shows(w, id, order.SessionExpired)
	},
	order.CaptureDeadline: func(w *sagastest.World, c *sagastest.HandClock, id uuid.UUID) {
		agrees(w, id)
		c.Move(166 * time.Minute)
	},
	order.ByCustomer: func(w *sagastest.World, _ *sagastest.HandClock, id uuid.UUID) {
		w.Must(cancels(w, id, order.ByCustomer))
	},
	order.ByAdmin: func(w *sagastest.World, _ *sagastest.HandClock, id uuid.UUID) { w.Must(cancels(w, id, order.ByAdmin)) },
}

// shows makes the truth about an order's session what it is from now on.
func shows(w *sagastest.World, id uuid.UUID, state order.SessionState, payments ...order.Payment) {
	w.Pay.Put(order.Fetched{Provider: "test", Session: sagastest.SessionOf(id), Order: id, State: state, Payments: payments})
}

// agrees lets the customer of an order agree to pay.
func agrees(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	w.Pay.Approve(id, w.Runner.Now())
	hint(w, id)
	w.Eventually("the agreement is known", func() bool { return w.Order(id).Approved })
}

// goesBack waits until all the money of an order has gone back, once.
func goesBack(w *sagastest.World, id uuid.UUID) {
	w.T.Helper()
	w.Becomes(id, order.StatusRefunded)
	sagastest.Balance(w, id, 0)
	w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
}

func TestMoneyInAnotherSessionIsForAPerson(t *testing.T) { // F-11, I-10, T11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := bought(w)
	w.Pay.Put(order.Fetched{
		Provider: "test", Session: "cs_second", Order: id, State: order.SessionComplete,
		Payments: []order.Payment{{ID: "pay_second", State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}},
	})
	w.Must(w.Payments.Receive(t.Context(), "test", fmt.Appendf(nil,
		`{"EventID":"evt_second","Type":"paid","ObjectRef":"cs_second","Order":%q,"Handled":true}`, id), sagastest.SignedHeader))
	w.Eventually("it is held", func() bool { return w.Order(id).OnHold() })
	w.Must(w.Back(id, "12.10")) // what the order does not run on goes first
	w.Eventually("the hold ends with it", func() bool { return !w.Order(id).OnHold() })
	w.Equal("status", w.Order(id).Status, order.StatusActive)
	sagastest.Balance(w, id, 1210)
	w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
}

// rounds is how often a random story is told: HOSTPANEL_FAULT_ROUNDS.
func rounds() int {
	n, _ := strconv.Atoi(os.Getenv("HOSTPANEL_FAULT_ROUNDS"))
	return max(1, n)
}

// chances are random choices that many may make at once.
func chances(t *testing.T) func(n int) int {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 7))
	var mu sync.Mutex
	return func(n int) int { mu.Lock(); defer mu.Unlock(); return random.IntN(n) }
}

// What may come to light about one payment, in any order.
var findings = map[string]func(*order.Fetched){
	"completed": func(f *order.Fetched) { f.State = order.SessionComplete },
	"succeeded": func(f *order.Fetched) { f.State, f.Payments[0].State = order.SessionComplete, order.StatePaid },
	"part":      refundFound("re_part", 210),
	"rest":      refundFound("re_rest", 1000),
	"opened":    disputeFound(order.DisputeOpen),
	"won":       disputeFound(order.DisputeWon),
	"lost":      disputeFound(order.DisputeLost),
}

func refundFound(id string, minor int64) func(*order.Fetched) {
	return func(f *order.Fetched) {
		r := order.Refund{ID: id + f.Order.String(), State: order.RefundSucceeded, Minor: minor, Currency: "EUR", At: f.ExpiresAt}
		f.Payments[0].Refunds = append(slices.Clone(f.Payments[0].Refunds), r)
	}
}

func disputeFound(state order.DisputeState) func(*order.Fetched) {
	return func(f *order.Fetched) {
		if old := f.Payments[0].Disputes; len(old) > 0 && old[0].State != order.DisputeOpen {
			return // news of its beginning come late
		}
		f.Payments[0].Disputes = []order.Dispute{
			{ID: "dp_" + f.Order.String(), State: state, Minor: 1000, Currency: "EUR", At: f.ExpiresAt},
		}
	}
}

// comesToLight changes the truth about an order finding by finding, and lets
// news of it come any number of times.
func comesToLight(w *sagastest.World, id uuid.UUID, found []string, chance func(int) int) {
	f := order.Fetched{
		Provider: "test", Session: sagastest.SessionOf(id), Order: id, State: order.SessionOpen, ExpiresAt: time.Now(),
		Payments: []order.Payment{{ID: "pay_" + id.String(), State: order.StatePending, Minor: 1210, Currency: "EUR", At: time.Now()}},
	}
	for _, what := range found {
		f.Payments = slices.Clone(f.Payments)
		findings[what](&f)
		w.Pay.Put(f)
		for range chance(4) {
			if err := w.Webhook(fmt.Sprintf("evt_%s_%d", id, chance(5)), id); err != nil {
				w.T.Error(err)
			}
		}
	}
}
