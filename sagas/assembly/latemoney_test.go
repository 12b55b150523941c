package assembly_test

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

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/sagas/assembly"
)

// offersItsPlan puts the plan of all orders on offer, at their price.
func (w *world) offersItsPlan() {
	w.t.Helper()
	var p storefront.Plan
	_, err := p.Fields().DecodeJSON([]byte(`{"name":"Basic","slug":"basic","price":"12.10","currency":"EUR","resource_type":"hosting"}`), field.Create)
	w.must(err)
	_, err = w.store.Execute(w.t.Context(), operator, storefront.OfferPlan{Plan: 1, Spec: p.Fields().Values(), At: w.Now()})
	w.must(err)
}

// cancels gives an order up as a person may: the session is expired, then the
// truth is read.
func (w *world) cancels(id uuid.UUID, by order.CancelReason) error {
	if err := w.pay.ExpireSession(w.t.Context(), sessionOf(id)); err != nil {
		return err
	}
	truth, err := w.pay.Fetch(w.t.Context(), sessionOf(id))
	if err != nil {
		return err
	}
	_, err = w.store.Execute(w.t.Context(), operator, order.Cancel{
		ID: id, By: by, Reason: "changed their mind", Observe: order.Observe{ID: id, Fetched: truth, At: w.Now()}, At: w.Now(),
	})
	return err
}

func (w *world) hint(id uuid.UUID) {
	w.t.Helper()
	w.must(w.Payments.Hint(w.t.Context(), id, "test"))
}

// comesTo makes an order come to nothing for a reason.
var comesTo = map[order.CancelReason]func(w *world, c *handClock, id uuid.UUID){
	order.Expired: func(w *world, _ *handClock, id uuid.UUID) { w.shows(id, order.SessionExpired) },
	order.PaymentFailed: func(w *world, _ *handClock, id uuid.UUID) {
		w.shows(id, order.SessionComplete, order.Payment{ID: "pay_no", State: order.StateFailed, Minor: 1210, Currency: "EUR"})
	},
	order.ApprovalReversed: func(w *world, _ *handClock, id uuid.UUID) {
		w.agrees(id)
		w.shows(id, order.SessionExpired)
	},
	order.CaptureDeadline: func(w *world, c *handClock, id uuid.UUID) {
		w.agrees(id)
		c.move(166 * time.Minute)
	},
	order.ByCustomer: func(w *world, _ *handClock, id uuid.UUID) { w.must(w.cancels(id, order.ByCustomer)) },
	order.ByAdmin:    func(w *world, _ *handClock, id uuid.UUID) { w.must(w.cancels(id, order.ByAdmin)) },
}

// shows makes the truth about an order's session what it is from now on.
func (w *world) shows(id uuid.UUID, state order.SessionState, payments ...order.Payment) {
	w.pay.put(order.Fetched{Provider: "test", Session: sessionOf(id), Order: id, State: state, Payments: payments})
}

// agrees lets the customer of an order agree to pay.
func (w *world) agrees(id uuid.UUID) {
	w.t.Helper()
	w.pay.approve(id, w.Now())
	w.hint(id)
	w.eventually("the agreement is known", func() bool { return w.order(id).Approved })
}

func TestLateMoneyReopensWhatOnlyExpiredAndGoesBackOtherwise(t *testing.T) { // F-11, T20, T24
	t.Parallel()
	var c *handClock
	w := newWorld(t, func(o *assembly.Options) { c = clocked(o) })
	w.pay.tell(func(call, _ string) error {
		if call == "capture" {
			return domain.Fail(domain.Transient, "down", errLie)
		}
		return nil
	}, nil)
	w.goes()
	w.offersItsPlan()
	soon, late := map[order.CancelReason]uuid.UUID{}, map[order.CancelReason]uuid.UUID{}
	for _, reason := range []order.CancelReason{ // the deadline first: the others are given up when its time has passed
		order.CaptureDeadline, order.Expired, order.PaymentFailed, order.ApprovalReversed, order.ByCustomer, order.ByAdmin,
	} {
		for _, orders := range []map[order.CancelReason]uuid.UUID{soon, late} {
			id := w.place(ordering{})
			comesTo[reason](w, c, id)
			w.hint(id)
			w.becomes(id, order.StatusCancelled)
			w.equal("reason", w.order(id).Cause, reason)
			orders[reason] = id
		}
	}
	pay := func(orders map[order.CancelReason]uuid.UUID) {
		for _, id := range orders {
			w.pay.pay(id, func(p *order.Payment) { p.At = w.Now() })
			w.hint(id)
		}
	}
	c.move(65 * time.Hour) // the deadlines took some hours
	pay(soon)
	c.move(9 * time.Hour)
	pay(late)
	for reason, id := range soon {
		if reason != order.Expired {
			w.goesBack(id)
		}
	}
	for _, id := range late {
		w.goesBack(id)
	}
	w.becomes(soon[order.Expired], order.StatusActive)
	w.equal("reopened", w.often(order.Stream(soon[order.Expired]), "order.reopened"), 1)
	w.balance(soon[order.Expired], 1210)
	w.equal("provisioned", w.count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

// goesBack waits until all the money of an order has gone back, once.
func (w *world) goesBack(id uuid.UUID) {
	w.t.Helper()
	w.becomes(id, order.StatusRefunded)
	w.balance(id, 0)
	w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
}

func TestMoneyInAnotherSessionIsForAPerson(t *testing.T) { // F-11, I-10, T11
	t.Parallel()
	w := newWorld(t).goes()
	id := w.bought()
	w.pay.put(order.Fetched{
		Provider: "test", Session: "cs_second", Order: id, State: order.SessionComplete,
		Payments: []order.Payment{{ID: "pay_second", State: order.StatePaid, Minor: 1210, Currency: "EUR", At: time.Now()}},
	})
	w.must(w.Payments.Receive(t.Context(), "test", fmt.Appendf(nil,
		`{"EventID":"evt_second","Type":"paid","ObjectRef":"cs_second","Order":%q,"Handled":true}`, id), signed))
	w.eventually("it is held", func() bool { return w.order(id).OnHold() })
	w.must(w.back(id, "12.10")) // what the order does not run on goes first
	w.eventually("the hold ends with it", func() bool { return !w.order(id).OnHold() })
	w.equal("status", w.order(id).Status, order.StatusActive)
	w.balance(id, 1210)
	w.equal("refunds", w.pay.refunds(reference(id, 1)), 1)
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

func TestACancellationThatRacesWithThePaymentLosesNoMoney(t *testing.T) { // F-11, T10, V2, V4
	t.Parallel()
	w := newWorld(t).goes()
	w.pauses("local") // what is paid for stays so: what comes of it is told elsewhere
	chance := chances(t)
	ids := make([]uuid.UUID, 40*rounds())
	for i := range ids {
		ids[i] = w.place(ordering{kind: "saas"})
	}
	var racing sync.WaitGroup
	for _, id := range ids {
		acts := []func(){
			func() {
				w.pay.race(id, chance(4) == 0)
				for range 1 + chance(3) {
					if err := w.webhook(fmt.Sprintf("evt_%s_%d", id, chance(2)), id); err != nil {
						t.Error(err)
					}
				}
			},
			func() {
				if err := w.cancels(id, order.ByAdmin); err != nil && domain.CodeOf(err) != domain.Conflict {
					t.Error(err)
				}
			},
		}
		if chance(2) == 0 {
			slices.Reverse(acts)
		}
		for _, act := range acts {
			racing.Go(act)
		}
	}
	racing.Wait()
	ends := map[string]int{}
	for _, id := range ids {
		w.hint(id)
		w.eventually("the order knows what is true", func() bool {
			o := w.order(id)
			net := o.Net()["EUR"]
			switch o.Status {
			case order.StatusPaid:
				return net == 1210 || o.CancelRequested
			case order.StatusCancelled, order.StatusRefunded:
				return net == 0 && len(o.Open()) == 0 && w.pay.kept(id) == 0
			default:
				return false
			}
		})
		ends[string(w.order(id).Status)]++
		w.equal("confirmations", w.often(order.Stream(id), "order.payment_confirmed") <= 1, true)
	}
	t.Logf("ends: %v", ends)
}

// race pays in a session that may be over; a stubborn customer pays all the same.
func (p *fakePayments) race(id uuid.UUID, stubborn bool) {
	p.mu.Lock()
	open := p.sessions[sessionOf(id)].State == order.SessionOpen
	p.mu.Unlock()
	if open || stubborn {
		p.pay(id, nil)
	}
}

// kept is what the provider has taken for an order and not given back.
func (p *fakePayments) kept(id uuid.UUID) (minor int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pay := range p.sessions[sessionOf(id)].Payments {
		if pay.State != order.StatePaid {
			continue
		}
		minor += pay.Minor
		for _, r := range pay.Refunds {
			minor -= r.Minor
		}
	}
	return minor
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
		f.Payments[0].Disputes = []order.Dispute{{ID: "dp_" + f.Order.String(), State: state, Minor: 1000, Currency: "EUR", At: f.ExpiresAt}}
	}
}

func TestInWhateverOrderThingsComeToLightTheyEndTheSame(t *testing.T) { // F-5, F-6, V6, I-15
	t.Parallel()
	w := newWorld(t).goes()
	w.pauses("local")
	chance := chances(t)
	stories := []struct {
		found []string
		ends  order.Status
		net   int64
	}{
		{[]string{"completed", "succeeded", "part", "rest", "opened", "won"}, order.StatusRefunded, 0},
		{[]string{"completed", "succeeded", "part", "opened", "won"}, order.StatusPaid, 1000},
		{[]string{"completed", "succeeded", "part", "opened", "lost"}, order.StatusRefunded, 0},
		{[]string{"completed", "succeeded", "part"}, order.StatusPaid, 1000},
	}
	ids := make([]uuid.UUID, 32*rounds())
	var telling sync.WaitGroup
	for i := range ids {
		id := w.place(ordering{kind: "saas"})
		ids[i] = id
		found := slices.Clone(stories[i%len(stories)].found)
		for j := range found {
			k := chance(j + 1)
			found[j], found[k] = found[k], found[j]
		}
		telling.Go(func() { w.comesToLight(id, found, chance) })
	}
	telling.Wait()
	for i, id := range ids {
		story := stories[i%len(stories)]
		w.hint(id)
		w.eventually(fmt.Sprintf("story %d of order %s has ended", i%len(stories), id), func() bool {
			o := w.order(id)
			return o.Status == story.ends && o.Net()["EUR"] == story.net && !o.OnHold()
		})
		w.equal("received", w.order(id).Received()["EUR"], 1210)
		w.equal("confirmations", w.often(order.Stream(id), "order.payment_confirmed"), 1)
		w.equal("runs", w.count(`select count(*) from saga_run where key = 'provision:' || $1`, id.String()), 1)
	}
}

// comesToLight changes the truth about an order finding by finding, and lets
// news of it come any number of times.
func (w *world) comesToLight(id uuid.UUID, found []string, chance func(int) int) {
	f := order.Fetched{
		Provider: "test", Session: sessionOf(id), Order: id, State: order.SessionOpen, ExpiresAt: time.Now(),
		Payments: []order.Payment{{ID: "pay_" + id.String(), State: order.StatePending, Minor: 1210, Currency: "EUR", At: time.Now()}},
	}
	for _, what := range found {
		f.Payments = slices.Clone(f.Payments)
		findings[what](&f)
		w.pay.put(f)
		for range chance(4) {
			if err := w.webhook(fmt.Sprintf("evt_%s_%d", id, chance(5)), id); err != nil {
				w.t.Error(err)
			}
		}
	}
}
