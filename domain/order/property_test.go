package order_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostpanel/domain/order"
)

// A provider's session, as it may go on. What it takes back it never had: it
// does not both let a session expire and take wrong money in it, and a payment
// that has failed for good stays failed.
type session struct {
	state    order.SessionState
	payments []order.Payment
	at       time.Time
	failed   bool
}

func (s *session) pay(id string, state order.PaymentState, minor int64) {
	s.at = s.at.Add(time.Minute)
	s.payments = append(s.payments, order.Payment{ID: id, State: state, Minor: minor, Currency: "eur", At: s.at})
}

// acts are what may happen at the provider next; each tells whether it could.
var acts = map[string]func(*session) bool{
	"decline": func(s *session) bool {
		if s.state == order.SessionOpen {
			s.pay("declined", order.StateDeclined, 2870)
		}
		return s.state == order.SessionOpen
	},
	"unpaid":        completes(order.StatePending, 2870),
	"pay":           completes(order.StatePaid, 2870),
	"pay too much":  completes(order.StatePaid, 2871),
	"pay too much!": completes(order.StatePaid, 100_000),
	"settle":        settles(order.StatePaid),
	"fail":          settles(order.StateFailed),
	"pay again": func(s *session) bool {
		if s.state != order.SessionComplete || s.failed || len(s.payments) > 3 {
			return false
		}
		s.pay("again", order.StatePaid, 2870)
		return true
	},
	"expire": func(s *session) bool {
		if s.state != order.SessionOpen {
			return false
		}
		s.state = order.SessionExpired
		return true
	},
	"pay late": func(s *session) bool {
		if s.state != order.SessionExpired {
			return false
		}
		s.pay("late", order.StatePaid, 2870)
		return true
	},
}

func completes(state order.PaymentState, minor int64) func(*session) bool {
	return func(s *session) bool {
		if s.state != order.SessionOpen {
			return false
		}
		s.state = order.SessionComplete
		s.pay("pay_1", state, minor)
		return true
	}
}

func settles(state order.PaymentState) func(*session) bool {
	return func(s *session) bool {
		i := slices.IndexFunc(s.payments, func(p order.Payment) bool { return p.State == order.StatePending })
		if i < 0 || state == order.StateFailed && len(s.payments) > i+1 {
			return false
		}
		s.payments = slices.Clone(s.payments)
		s.payments[i].State, s.failed = state, state == order.StateFailed
		return true
	}
}

// truths are the snapshots that somebody could have fetched along the way.
func truths(t *rapid.T) []order.Observe {
	s := &session{state: order.SessionOpen, at: noon}
	list := []order.Observe{truth(s.state)}
	names := slices.Sorted(maps.Keys(acts))
	once := map[string]bool{}
	for range rapid.IntRange(1, 12).Draw(t, "acts") {
		name := rapid.SampledFrom(names).Draw(t, "act")
		if !once[name] && acts[name](s) {
			once[name] = true
			list = append(list, truth(s.state, slices.Clone(s.payments)...))
		}
	}
	return list
}

// tell plays observations to an order and returns what it has become.
func tell(t *rapid.T, observations []order.Observe) (order.Order, []order.Event) {
	history := events(placed, opened)
	o := order.Decider.Replay(history...)
	for i, c := range observations {
		c.At = noon.Add(time.Hour + time.Duration(i)*time.Minute)
		facts, err := order.Decider.Decide(o, c)
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		for _, e := range facts {
			history, o = append(history, e), order.Decider.Evolve(o, e)
		}
	}
	return o, history
}

// V6: the same truths lead to the same end, in whatever order and however
// often they are told.
func TestTheOrderOfNewsDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := truths(t)
		told := append(slices.Clone(list), rapid.SliceOfN(rapid.SampledFrom(list), 0, 5).Draw(t, "copies")...)
		straight, _ := tell(t, list)
		mixed, history := tell(t, rapid.Permutation(told).Draw(t, "order of news"))

		if !maps.Equal(straight.Received(), mixed.Received()) {
			t.Fatalf("received %v or %v", straight.Received(), mixed.Received())
		}
		if straight.Status != mixed.Status {
			t.Fatalf("%s or %s\n%+v", straight.Status, mixed.Status, history)
		}
		if len(straight.Payments) > 0 && straight.OnHold() != mixed.OnHold() && straight.Status != order.StatusPaid {
			t.Fatalf("held for %v or %v", straight.Holds, mixed.Holds)
		}
		again, _ := tell(t, append(slices.Clone(told), told...))
		if !maps.Equal(again.Received(), straight.Received()) || again.Status != straight.Status {
			t.Fatalf("twice: %s %v", again.Status, again.Received())
		}
	})
}

// V1, V2, V4, V9 at every point of every history.
func TestMoneyAndStatusAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, history := tell(t, rapid.Permutation(truths(t)).Draw(t, "order of news"))
		starts, booked := 0, map[string]int{}
		var o order.Order
		for _, e := range history {
			o = order.Decider.Evolve(o, e)
			switch e := e.(type) {
			case order.PaymentConfirmed:
				starts++
				booked[e.Payment.ID]++
			case order.Reopened:
				starts++
			case order.PaymentMismatchFound:
				booked[e.Payment.ID]++
			case order.DuplicatePaymentFound:
				booked[e.Payment.ID]++
			case order.LatePaymentFound:
				booked[e.Payment.ID]++
				continue // Reopened follows in the same breath, or a hold stands
			}
			received := o.Received()["eur"]
			if paid := o.Status == order.StatusPaid; paid != (starts == 1) || paid && received < 2870 {
				t.Fatalf("%s with %d starts and %d received", o.Status, starts, received)
			}
			if o.Status == order.StatusCancelled && received > 0 && !o.OnHold() {
				t.Fatalf("cancelled, %d received, and nobody looks", received)
			}
		}
		for id, n := range booked {
			if n != 1 {
				t.Fatalf("%s was booked %d times", id, n)
			}
		}
		if starts > 1 {
			t.Fatalf("%d starts", starts)
		}
	})
}

// I-15: what is known of a payment is never lowered.
func TestARankIsNeverLowered(t *testing.T) {
	ranks := []order.PaymentState{order.StatePending, order.StateDeclined, order.StateFailed, order.StatePaid}
	rapid.Check(t, func(t *rapid.T) {
		highest, o := -1, order.Decider.Replay(placed, opened)
		for range rapid.IntRange(1, 8).Draw(t, "fetches") {
			i := rapid.IntRange(0, len(ranks)-1).Draw(t, "rank")
			facts, err := order.Decider.Decide(o, truth(order.SessionComplete, payment("pay_1", ranks[i])))
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range facts {
				o = order.Decider.Evolve(o, e)
			}
			if known := slices.Index(ranks, o.Payments["pay_1"].State); known < highest {
				t.Fatalf("%s after %s", o.Payments["pay_1"].State, ranks[highest])
			} else {
				highest = known
			}
		}
	})
}
