package order_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
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
		for _, p := range s.payments {
			if p.State == order.StatePending || len(p.Refunds)+len(p.Disputes) > 0 {
				return false // the first of two is the order's own; and one that is refunded stays so, whatever comes later
			}
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
	"refund a part":   refunds(order.RefundSucceeded, 1000),
	"give all":        gives(order.RefundSucceeded),
	"begin a refund":  refunds(order.RefundPending, 2870),
	"refund the rest": refunds(order.RefundSucceeded, 1870),
	"finish a refund": func(s *session) bool {
		return s.change(func(p *order.Payment) bool {
			i := slices.IndexFunc(p.Refunds, func(r order.Refund) bool { return r.State == order.RefundPending })
			if i < 0 {
				return false
			}
			p.Refunds = slices.Clone(p.Refunds)
			p.Refunds[i].State = order.RefundSucceeded
			return true
		})
	},
	"dispute": func(s *session) bool {
		return s.change(func(p *order.Payment) bool {
			if p.State != order.StatePaid || len(p.Refunds) > 0 {
				return false
			}
			p.Disputes = []order.Dispute{{ID: "dp_" + p.ID, State: order.DisputeOpen, Minor: p.Minor, Currency: "eur", At: s.at}}
			return true
		})
	},
	"win the dispute":  decided(order.DisputeWon),
	"lose the dispute": decided(order.DisputeLost),
}

// change is something that happens to the first payment for which it can.
func (s *session) change(do func(*order.Payment) bool) bool {
	s.payments = slices.Clone(s.payments)
	for i := range s.payments {
		if do(&s.payments[i]) {
			return true
		}
	}
	return false
}

// refunds are refunds made at the provider itself; never more than was paid,
// and not while the bank claims it.
func refunds(state order.RefundState, minor int64) func(*session) bool {
	return func(s *session) bool {
		return s.change(func(p *order.Payment) bool {
			sum := minor
			for _, r := range p.Refunds {
				sum += r.Minor
			}
			if p.State != order.StatePaid || len(p.Disputes) > 0 || sum > p.Minor {
				return false
			}
			s.at = s.at.Add(time.Minute)
			r := order.Refund{ID: fmt.Sprintf("re_%s_%d", p.ID, len(p.Refunds)), State: state, Minor: minor, Currency: "eur", At: s.at}
			p.Refunds = append(slices.Clone(p.Refunds), r)
			return true
		})
	}
}

func decided(state order.DisputeState) func(*session) bool {
	return func(s *session) bool {
		return s.change(func(p *order.Payment) bool {
			if len(p.Disputes) == 0 || p.Disputes[0].State != order.DisputeOpen {
				return false
			}
			p.Disputes = slices.Clone(p.Disputes)
			p.Disputes[0].State = state
			return true
		})
	}
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

// truths are the snapshots that could have been fetched along the way.
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

// settle lets the provider carry out what is pending and every refund that was
// asked for, until nothing is left to do.
func settle(t *rapid.T, o order.Order, last order.Observe) order.Order {
	s := session{payments: last.Fetched.Payments}
	for acts["finish a refund"](&s) {
	}
	for range 5 {
		last.Fetched.Payments = s.payments
		facts, err := order.Decider.Decide(o, last)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range facts {
			o = order.Decider.Evolve(o, e)
		}
		for _, a := range o.Open() {
			s.change(func(p *order.Payment) bool {
				if a.Payment != p.ID {
					return false
				}
				r := order.Refund{
					ID: fmt.Sprint("re_", a.N), State: order.RefundSucceeded,
					Minor: min(a.Minor, p.Minor-o.Returned(p.ID)), Currency: "eur", Reference: a.Reference(id),
				}
				p.Refunds = append(slices.Clone(p.Refunds), r)
				return true
			})
		}
	}
	if open := o.Open(); len(open) > 0 {
		t.Fatalf("%v are never done", open)
	}
	return o
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
		straight, mixed = settle(t, straight, list[len(list)-1]), settle(t, mixed, list[len(list)-1])

		if !maps.Equal(straight.Received(), mixed.Received()) || !maps.Equal(straight.Net(), mixed.Net()) {
			t.Fatalf("received %v or %v, left %v or %v", straight.Received(), mixed.Received(), straight.Net(), mixed.Net())
		}
		if straight.Status != mixed.Status {
			t.Fatalf("%s or %s\n%+v", straight.Status, mixed.Status, history)
		}
		if len(straight.Payments) > 0 && straight.OnHold() != mixed.OnHold() && straight.Status != order.StatusPaid {
			t.Fatalf("held for %v or %v", straight.Holds, mixed.Holds)
		}
		again, _ := tell(t, append(slices.Clone(told), told...))
		again = settle(t, again, list[len(list)-1])
		if !maps.Equal(again.Received(), straight.Received()) || again.Status != straight.Status {
			t.Fatalf("twice: %s %v", again.Status, again.Received())
		}
	})
}

// V1 to V4 and V9 at the end of every append of every history; V7 at every event.
func TestMoneyAndStatusAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, history := tell(t, rapid.Permutation(truths(t)).Draw(t, "order of news"))
		starts, booked := 0, map[string]int{}
		var o order.Order
		for i, e := range history {
			before := o.Status
			o = order.Decider.Evolve(o, e)
			if before != o.Status && !order.MayMove(before, o.Status) {
				t.Fatalf("%s became %s", before, o.Status)
			}
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
			}
			if i+1 == len(history) || at(history[i+1]) != at(e) {
				agree(t, o, starts)
			}
		}
		for id, n := range booked {
			if n != 1 {
				t.Fatalf("%s was booked %d times", id, n)
			}
		}
	})
}

// agree holds what stands of the money against the status.
func agree(t *rapid.T, o order.Order, starts int) {
	net := o.Net()["eur"]
	switch {
	case starts > 1, (starts == 1) != (o.Confirmed != ""):
		t.Fatalf("%d starts for payment %q", starts, o.Confirmed) // V1
	case o.Status == order.StatusPaid && net <= 0:
		t.Fatalf("paid with %d left", net) // V2
	case o.Status == order.StatusRefunded && net != 0 && len(o.Open()) == 0 && !o.OnHold():
		t.Fatalf("refunded with %d left", net) // V3
	case o.Status == order.StatusCancelled && net > 0 && len(o.Open()) == 0 && !o.OnHold():
		t.Fatalf("cancelled, %d left, and no check is due", net) // V4
	case o.Returned("pay_1") < 0, net < 0, net > o.Received()["eur"]:
		t.Fatalf("%d of %d left", net, o.Received()["eur"])
	}
}

// at is the moment of an event; those of one append share it.
func at(e order.Event) time.Time {
	return reflect.ValueOf(e).FieldByName("At").Interface().(time.Time)
}

// V6, I-15: whatever the operator decides meanwhile, money that could go back
// is never more than what came.
func TestNoMoreGoesBackThanCame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o, _ := tell(t, truths(t))
		for range rapid.IntRange(1, 4).Draw(t, "refunds") {
			c := order.RequestRefund{ID: id, Reason: "goodwill", At: later}
			if rapid.Bool().Draw(t, "a part") {
				amount := decimal.New(rapid.Int64Range(1, 3000).Draw(t, "cents"), -2)
				c.Amount = &amount
			}
			left := int64(0)
			for payment := range o.Payments {
				left += o.Left(payment)
			}
			facts, err := order.Decider.Decide(o, c)
			for _, e := range facts {
				left -= e.(order.RefundRequested).Refund.Minor
				o = order.Decider.Evolve(o, e)
			}
			if left < 0 {
				t.Fatalf("%d more than what was left are to go back (%v)", -left, err)
			}
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
