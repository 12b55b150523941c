//go:build system

package payments_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// What is approved too late, or belongs to another setup, is not kept.
func TestOnlyAnOpenSetupOfItsOwnIsFinished(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Eventually("it expires", func() bool { a.advance(time.Hour); return a.setup(id).Status == billing.SetupEnded })
	a.Pay.Approves(id)
	a.news("evt_late_"+id.String(), id)
	a.looksAgain(id)
	a.Equal("kept too late", a.Pay.Captures(id), 0)

	id = a.begins()
	a.Pay.Approves(id)
	a.Pay.Mu.Lock()
	f := a.Pay.Sessions[sagastest.SessionOf(id)]
	f.Order = uuid.New()
	a.Pay.Sessions[sagastest.SessionOf(id)] = f
	a.Pay.Mu.Unlock()
	a.Must(a.Payments.Hint(t.Context(), id, "return"))
	a.ends(id, billing.SetupForeign)
	a.Equal("kept for another", a.Pay.Captures(id), 0)
}

// A page that is not finished expires, and leaves nothing. What the provider shows all the
// same afterwards is forgotten there.
func TestAnAbandonedSetupExpires(t *testing.T) {
	t.Parallel()
	a := newAdding(t)
	id := a.begins()
	a.Eventually("it expires", func() bool { a.advance(time.Hour); return a.setup(id).Status == billing.SetupEnded })
	a.Equal("reason", a.setup(id).EndReason, billing.SetupExpired)
	a.Equal("page", a.setup(id).URL, "")
	token := a.Pay.Adds(id) // too late
	a.news("evt_late_"+id.String(), id)
	a.Eventually("it is forgotten", func() bool { return a.Pay.Forgets(token) == 1 })
	a.Equal("saved", len(a.saved()), 0)
	if a.begins() == id {
		t.Error("A setup that has ended goes on.")
	}
}

// The bank takes back itself what the panel could not give back.
func TestARefundThatTheBankMadeNeedlessEndsByItself(t *testing.T) { // T23, T25
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.RefundBudget = 100 * time.Millisecond }).Goes()
	for _, how := range []string{"dispute", "refund"} {
		for _, sent := range []error{
			domain.Fail(domain.Permanent, "charge_disputed", sagastest.ErrLie), // nothing went out
			domain.Fail(domain.Unknown, "timeout", sagastest.ErrLie),           // no answer, until the time is up
		} {
			id := bought(w)
			var calls atomic.Int32
			w.Pay.Tell(func(call, _ string) error {
				if call == "refund" {
					calls.Add(1)
					return sent
				}
				return nil
			}, nil)
			w.Must(w.Back(id, ""))
			w.Eventually("it is parked", func() bool { return refundRun(w, id, 1).Status == sagas.StatusParked })
			before := calls.Load()
			w.Pay.Change(id, func(p *order.Payment) {
				if how == "dispute" {
					p.Disputes = []order.Dispute{
						{ID: "dp_" + id.String(), State: order.DisputeLost, Minor: p.Minor, Currency: p.Currency, At: time.Now()},
					}
				} else {
					p.Refunds = append(
						p.Refunds,
						order.Refund{
							ID: "re_" + id.String(), State: order.RefundSucceeded, Minor: p.Minor,
							Currency: p.Currency, At: time.Now(),
						},
					)
				}
			})
			w.Must(w.Payments.Hint(t.Context(), id, "clock"))
			w.Becomes(id, order.StatusRefunded)
			w.Eventually("its run is over", func() bool { return refundRun(w, id, 1).Status == sagas.StatusDone })
			w.Equal(how+": sent after that", calls.Load()-before, int32(0))
			w.Equal(how+": holds", len(w.Order(id).Holds), 0)
			sagastest.Balance(w, id, 0)
			w.Pay.Reset()
		}
	}
}

func TestAnOrderWhoseTimeRunsOutDuringALookIsLookedAtOnceMore(t *testing.T) { // T9, J-1
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) {
		o.Times.OrderTTL = 400 * time.Millisecond
		o.Times.SessionChecks[0] = 50 * time.Millisecond
	})
	w.Pay.Tell(func(call, _ string) error {
		if call == "fetch" {
			time.Sleep(500 * time.Millisecond) // the provider answers when the time is over
		}
		return nil
	}, nil)
	w.Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Becomes(id, order.StatusCancelled)
	w.Equal("reason", w.Order(id).Cause, order.Expired)
}

// A webhook waits for its order while handling it fails now and then. Only failures in
// a row are a reason to give it to an operator.
func TestAWebhookThatWaitsOutlivesFailuresInBetween(t *testing.T) { // I-17
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.InboxMatch = time.Minute })
	var handled atomic.Int32
	w.InboxFault.To(func() error {
		if handled.Add(1)%3 == 0 {
			return sagastest.ErrLie
		}
		return nil
	})
	w.Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_patient", id))
	w.Eventually("it has failed more often than one may in a row", func() bool { return handled.Load() > 3*12 })
	w.Equal("state", sagastest.InboxState(w, "evt_patient"), "stored")
	sagastest.PlaceAs(w, id)
	w.Eventually("it found its order", func() bool { return sagastest.InboxState(w, "evt_patient") == "done" })
}

func TestAWebhookThatAlwaysFailsIsParkedAndCanBeReplayed(t *testing.T) { // I-17, I-18
	t.Parallel()
	w := sagastest.NewWorld(t)
	broken := sagastest.BreakInbox(w)
	w.Goes()
	id := w.Buy(sagastest.OrderForm{})
	event := "evt_" + id.String()
	w.Eventually("it is parked", func() bool { return sagastest.InboxState(w, event) == "parked" })
	w.Equal("attempts", w.Count(`select attempts from webhook_inbox`), 10)
	broken.Store(false)
	n, err := w.Payments.CountWebhooks(t.Context(), operations.WebhookPick{State: "parked"})
	w.Must(err)
	w.Equal("would be replayed", n, 1)
	w.Equal("state after a dry run", sagastest.InboxState(w, event), "parked")
	_, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{State: "parked"}, "")
	w.Must(err)
	w.Becomes(id, order.StatusActive)
	for range 3 { // replaying what is done changes nothing
		_, err = w.Payments.ReplayWebhooks(t.Context(), sagastest.Operator, operations.WebhookPick{Provider: "test"}, "")
		w.Must(err)
		w.Eventually("it is done again", func() bool { return sagastest.InboxState(w, event) == "done" })
	}
	w.Settled(id)
	rows, err := w.Payments.LatestWebhooks(t.Context(), operations.WebhookPick{Order: id})
	w.Must(err)
	if len(rows) != 1 || !strings.Contains(string(rows[0].Headers), "***") {
		t.Errorf("the signature should be masked: %s", rows[0].Headers)
	}
}

func TestAHundredEventsAboutOnePaymentBookItOnce(t *testing.T) { // F-4, I-14
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	atOnce(w, 100, func(i int) error {
		if i%5 == 0 {
			if err := w.Payments.Hint(t.Context(), id, "return"); err != nil {
				return err
			}
		}
		return w.Webhook(fmt.Sprintf("evt_%d", i), id)
	})
	w.Becomes(id, order.StatusActive)
	w.Settled(id)
	w.Eventually("every webhook is done", func() bool { return w.Count(`select count(*) from webhook_inbox where state = 'done'`) == 100 })
	w.Equal("payments booked", w.Count(`select count(*) from payment_object`), 1)
	w.Equal("runs", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

func TestInWhateverOrderThingsComeToLightTheyEndTheSame(t *testing.T) { // F-5, F-6, V6, I-15
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Pauses("local")
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
		id := w.Place(sagastest.OrderForm{Kind: "saas"})
		ids[i] = id
		found := slices.Clone(stories[i%len(stories)].found)
		for j := range found {
			k := chance(j + 1)
			found[j], found[k] = found[k], found[j]
		}
		telling.Go(func() { comesToLight(w, id, found, chance) })
	}
	telling.Wait()
	for i, id := range ids {
		story := stories[i%len(stories)]
		hint(w, id)
		w.Eventually(fmt.Sprintf("story %d of order %s has ended", i%len(stories), id), func() bool {
			o := w.Order(id)
			return o.Status == story.ends && o.Net()["EUR"] == story.net && !o.OnHold()
		})
		w.Equal("received", w.Order(id).Received()["EUR"], 1210)
		w.Equal("confirmations", w.Often(order.Stream(id), "order.payment_confirmed"), 1)
		w.Equal("runs", w.Count(`select count(*) from saga_run where key = 'provision:' || $1`, id.String()), 1)
	}
}

func TestAServiceInItsGraceFitsAndOneThatStaysAfterItDoesNot(t *testing.T) { // J-4, V3
	t.Parallel()
	b := sagastest.NewPurchase(t, "hosting")
	refuses := func(call, name string) error {
		if call == "remove" && name == "site/own.example.com" {
			return domain.Fail(domain.Permanent, "broken", sagastest.ErrLie)
		}
		return nil
	}
	b.Engine.Tell(refuses, nil)
	b.Must(b.Orders.Cancel(t.Context(), sagastest.Operator, b.ID, "does not pay any more"))
	b.Off()
	b.Eventually("its grace begins", func() bool { return b.RunOf("deprovision:"+b.ID.String()).At().Name == "grace" })
	b.Clock.Pass(6 * sagastest.Day)
	b.Equal("in its grace", stillLive(b), []string{})
	b.Clock.Pass(2 * sagastest.Day)
	b.Eventually("it is not gone", func() bool { return b.RunOf("deprovision:"+b.ID.String()).At().Name == "verify" })
	b.Equal("after its grace", stillLive(b), []string{"release"})
	var runs []sagas.RunView
	b.Eventually("the removal of the site waits for a person", func() (stopped bool) {
		var err error
		runs, err = b.Runner.Operators.Runs(t.Context(), sagas.RunFilter{About: b.Own.Stream().String(), Status: sagas.StatusParked})
		b.Must(err)
		return len(runs) > 0
	})
	b.Engine.Tell(nil, nil)
	b.Must(b.Runner.Operators.RetryRun(t.Context(), sagastest.Operator, runs[0].ID, "the engine is well again"))
	b.Removed()
	b.Equal("when it is gone", stillLive(b), []string{})
}

func TestACancellationThatRacesWithThePaymentLosesNoMoney(t *testing.T) { // F-11, T10, V2, V4
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Pauses("local") // what is paid for stays so: what comes of it is told elsewhere
	chance := chances(t)
	ids := make([]uuid.UUID, 40*rounds())
	for i := range ids {
		ids[i] = w.Place(sagastest.OrderForm{Kind: "saas"})
	}
	var racing sync.WaitGroup
	for _, id := range ids {
		acts := []func(){
			func() {
				w.Pay.Race(id, chance(4) == 0)
				for range 1 + chance(3) {
					if err := w.Webhook(fmt.Sprintf("evt_%s_%d", id, chance(2)), id); err != nil {
						t.Error(err)
					}
				}
			},
			func() {
				if err := cancels(w, id, order.ByAdmin); err != nil && domain.CodeOf(err) != domain.Conflict {
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
		hint(w, id)
		w.Eventually("the order knows what is true", func() bool {
			o := w.Order(id)
			net := o.Net()["EUR"]
			switch o.Status {
			case order.StatusPaid:
				return net == 1210 || o.CancelRequested
			case order.StatusCancelled, order.StatusRefunded:
				return net == 0 && len(o.Open()) == 0 && w.Pay.Kept(id) == 0
			default:
				return false
			}
		})
		ends[string(w.Order(id).Status)]++
		w.Equal("confirmations", w.Often(order.Stream(id), "order.payment_confirmed") <= 1, true)
	}
	t.Logf("ends: %v", ends)
}

func TestAnAnswerThatSaysItIsStoredEndsItsKeyAtOnce(t *testing.T) { // F-21, S-6
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond })
	var once atomic.Bool
	w.Pay.Tell(func(call, _ string) error {
		if call == "refund" && once.CompareAndSwap(false, true) {
			return domain.Fail(domain.Unknown, sagas.StoredError, sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	id := bought(w)
	w.Must(w.Back(id, ""))
	w.Becomes(id, order.StatusRefunded)
	w.Equal("the old key", w.Pay.Came(sagastest.Reference(id, 1)), false)
	w.Equal("the next key", w.Pay.Came(sagastest.Reference(id, 1)+"/g2"), true)
}

func TestALostWebhookIsMadeUpForByTheWatch(t *testing.T) { // J-1
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.SessionChecks[0] = 50 * time.Millisecond }).Goes()
	id := w.Place(sagastest.OrderForm{})
	w.Pay.Pay(id, nil)
	w.Becomes(id, order.StatusActive)
	w.Equal("webhooks", w.Count(`select count(*) from webhook_inbox`), 0)
}

// Webhooks are matched in groups. One that fails each time is parked after its ten
// attempts, and all others of its group find their orders at once.
func TestAWebhookThatFailsStopsNoOtherOfItsGroup(t *testing.T) { // I-17
	t.Parallel()
	w := sagastest.NewWorld(t)
	var ids []uuid.UUID
	for range 3 {
		id := w.Place(sagastest.OrderForm{})
		ids = append(ids, id)
		for n := range 3 {
			w.Must(w.Webhook(fmt.Sprintf("evt_%d_%s", n, id), id))
		}
	}
	refuses(w, ids[1])
	w.Goes()
	for i, id := range ids {
		state := map[bool]string{true: "parked", false: "done"}[i == 1]
		for n := range 3 {
			w.Eventually(fmt.Sprintf("webhook %d of order %d is %s", n, i, state), func() bool {
				return sagastest.InboxState(w, fmt.Sprintf("evt_%d_%s", n, id)) == state
			})
		}
	}
	w.Equal("attempts", w.Count(`select sum(attempts)::int from webhook_inbox`), 6+30)
	w.Equal("hints", w.Count(`select count(*) from payment_watch where reason = 'webhook'`), 2)
}

func TestAStoredFailureOfARefundLeadsToOneRefund(t *testing.T) { // F-21, S-6, N-9
	t.Parallel()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Times.Quarantine = 20 * time.Millisecond }).Goes()
	id := bought(w)
	w.Pay.Stores(sagastest.Reference(id, 1))
	w.Must(w.Back(id, ""))
	w.Becomes(id, order.StatusRefunded)
	w.Equal("the next generation came", w.Pay.Came(sagastest.Reference(id, 1)+"/g2"), true)
	w.Equal("refunds", w.Pay.Refunds(sagastest.Reference(id, 1)), 1)
	sagastest.Balance(w, id, 0)
}

func TestWhatWentBackBeforeTheInvoiceIsCreditedWithIt(t *testing.T) { // M-9
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Pauses(w.Reconciler.ComputeQueue(""))
	w.Goes()
	id := w.Buy(sagastest.OrderForm{Kind: "vps"})
	sagastest.StandsAt(w, id, "vm")
	w.Pay.Give(id, "re_early", 210)
	w.Must(w.Payments.Hint(t.Context(), id, "refund"))
	w.Eventually("it is known", func() bool { return len(w.Order(id).Refunds) == 1 })
	w.Equal("credit notes without an invoice", len(notes(w, id)), 0)
	sagastest.GoesOn(w)
	w.Becomes(id, order.StatusActive)
	w.Eventually("the credit note is written", func() bool { return strings.Join(notes(w, id), "; ") == "2.10 = 1.74 + 0.36" })
}

func TestLateMoneyReopensWhatOnlyExpiredAndGoesBackOtherwise(t *testing.T) { // F-11, T20, T24
	t.Parallel()
	var c *sagastest.HandClock
	w := sagastest.NewWorld(t, func(o *assembly.Options) { c = clocked(o) })
	w.Pay.Tell(func(call, _ string) error {
		if call == "capture" {
			return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
		}
		return nil
	}, nil)
	w.Goes()
	sagastest.OffersItsPlan(w)
	soon, late := map[order.CancelReason]uuid.UUID{}, map[order.CancelReason]uuid.UUID{}
	for _, reason := range []order.CancelReason{ // the deadline first: the others are given up when its time has passed
		order.CaptureDeadline, order.Expired, order.PaymentFailed, order.ApprovalReversed, order.ByCustomer, order.ByAdmin,
	} {
		for _, orders := range []map[order.CancelReason]uuid.UUID{soon, late} {
			id := w.Place(sagastest.OrderForm{})
			comesTo[reason](w, c, id)
			hint(w, id)
			w.Becomes(id, order.StatusCancelled)
			w.Equal("reason", w.Order(id).Cause, reason)
			orders[reason] = id
		}
	}
	pay := func(orders map[order.CancelReason]uuid.UUID) {
		for _, id := range orders {
			w.Pay.Pay(id, func(p *order.Payment) { p.At = w.Runner.Now() })
			hint(w, id)
		}
	}
	c.Move(65 * time.Hour) // the deadlines took some hours
	pay(soon)
	c.Move(9 * time.Hour)
	pay(late)
	for reason, id := range soon {
		if reason != order.Expired {
			goesBack(w, id)
		}
	}
	for _, id := range late {
		goesBack(w, id)
	}
	w.Becomes(soon[order.Expired], order.StatusActive)
	w.Equal("reopened", w.Often(order.Stream(soon[order.Expired]), "order.reopened"), 1)
	sagastest.Balance(w, soon[order.Expired], 1210)
	w.Equal("provisioned", w.Count(`select count(*) from saga_run where key like 'provision:%'`), 1)
}

// Checks are leased and read in groups. An order whose events cannot be read is checked
// again later, and all others of its group are checked.
func TestAnOrderThatCannotBeReadStopsNoOtherCheckOfItsGroup(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	var ids []uuid.UUID
	for range 6 {
		id := w.Place(sagastest.OrderForm{})
		w.Pay.Pay(id, nil)
		w.Must(w.Webhook("evt_"+id.String(), id))
		ids = append(ids, id)
	}
	_, err := eventstoretest.Owner(t, w.Pool.Config().ConnString()).Exec(t.Context(), fmt.Sprintf(`
		alter table events disable trigger all; update events set schema = 99 where stream = 'order-%s'
			and name = 'order.placed'; alter table events enable trigger all`, ids[2]))
	w.Must(err)
	w.Instance = w.Node(w.Pool.Config().ConnString()) // which remembers nothing
	w.Goes()
	for i, id := range ids {
		if i != 2 {
			w.Eventually("the order is paid", func() bool {
				return w.Count(
					`select count(*) from events where stream = $1 and name = 'order.payment_confirmed'`,
					"order-"+id.String(),
				) == 1
			})
		}
	}
	w.Eventually("the other is looked at again", func() bool {
		return w.Count(`select checks from payment_watch where order_id = $1`, ids[2]) > 1
	})
	w.Equal("booked", w.Count(`select count(*) from payment_object`), 5)
}

func TestAWebhookMayComeBeforeItsOrder(t *testing.T) { // I-11
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id := sagastest.PlacedLater(w)
	w.Must(w.Webhook("evt_early", id))
	w.Eventually("the order was unknown", func() bool {
		return w.Count(`select count(*) from webhook_inbox where next_at > received_at`) > 0
	})
	w.Equal("state", sagastest.InboxState(w, "evt_early"), "stored")
	w.Equal("attempts", w.Count(`select attempts from webhook_inbox`), 0)
	w.Pay.Put(order.Fetched{Provider: "test", Session: sagastest.SessionOf(id), Order: id, State: order.SessionOpen})
	sagastest.PlaceAs(w, id)
	w.Pay.Pay(id, nil)
	w.Must(w.Payments.Hint(t.Context(), id, "return"))
	w.Becomes(id, order.StatusActive)
	w.Eventually("the webhook found its order", func() bool { return sagastest.InboxState(w, "evt_early") == "done" })
}

func TestACaptureThatGotThroughIsHonouredAfterTheDeadline(t *testing.T) { // F-20
	t.Parallel()
	var c *sagastest.HandClock
	w := sagastest.NewWorld(t, func(o *assembly.Options) { c = clocked(o) })
	var down atomic.Bool
	w.Pay.Tell(func(call, _ string) error {
		if down.Load() {
			return domain.Fail(domain.Transient, "down", sagastest.ErrLie)
		}
		return nil
	}, func(call, _ string) error {
		if call == "capture" { // it gets through, and from then on nothing is heard
			down.Store(true)
			return domain.Fail(domain.Unknown, "no_answer", sagastest.ErrLie)
		}
		return nil
	})
	w.Goes()
	id := approved(w)
	w.Must(w.Webhook("evt_1", id))
	w.Eventually("it got through", func() bool { return w.Pay.Captures(id) == 1 })
	c.Move(3 * time.Hour)
	w.Must(w.Payments.Hint(t.Context(), id, "clock"))
	w.Eventually("operators are told", func() bool { return w.Warned("a payment provider does not answer") })
	w.Equal("status while no provider answers", w.Order(id).Status, order.StatusPaymentProcessing)
	down.Store(false)
	w.Becomes(id, order.StatusActive)
	w.Equal("captures", w.Pay.Captures(id), 1)
}
