package billing_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
)

var card = uuid.MustParse("1e470d6e-0000-4000-8000-00000000ca4d")

// after is a history with what commands made of it.
func after(
	t interface{ Fatal(args ...any) }, history []billing.SubscriptionEvent, commands ...billing.SubscriptionCommand,
) []billing.SubscriptionEvent {
	for _, c := range commands {
		facts, err := billing.Subscriptions.Decide(billing.Subscriptions.Replay(history...), c)
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, facts...)
	}
	return history
}

func chosen(method uuid.UUID) billing.ChooseMethod {
	return billing.ChooseMethod{Order: order, Method: method, At: on(2, 1), Terms: billing.UsualTerms}
}

func refused(count int, at time.Time, final bool) billing.FailCharge {
	return billing.FailCharge{
		Order: order, Invoice: next, Count: count, Code: "card_declined", Final: final, At: at,
		Terms: billing.UsualTerms,
	}
}

// charged is the life of a subscription with a saved payment method, whose charges are all
// refused an hour after they were made.
func charged(t testing.TB, final bool, until time.Time) (history []billing.SubscriptionEvent) {
	t.Helper()
	history = after(t, started31(), chosen(card))
	for {
		s := billing.Subscriptions.Replay(history...)
		var facts []billing.SubscriptionEvent
		var err error
		switch {
		case s.Pending:
			facts, err = billing.Subscriptions.Decide(s, refused(s.Charges, atOf(history).Add(time.Hour), final))
		case s.NextAt.IsZero() || s.NextAt.After(until):
			return history
		default:
			facts, err = billing.Subscriptions.Decide(s, advance(s.NextAt))
		}
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		history = append(history, facts...)
	}
}

// atOf is when the last event of a history happened, if it is a charge.
func atOf(history []billing.SubscriptionEvent) time.Time {
	return history[len(history)-1].(billing.ChargeStarted).At
}

func TestASavedMethodIsChargedWhenThePaymentIsDue(t *testing.T) {
	history := after(t, started31(), chosen(card), advance(on(2, 21)))
	if s := billing.Subscriptions.Replay(history...); !s.NextAt.Equal(on(2, 28)) {
		t.Fatalf("The next step is at %s: a customer whose method is charged needs no reminder.", s.NextAt)
	}
	charge := billing.ChargeStarted{Invoice: next, Method: card, Count: 1, NextAt: on(3, 14).AddDate(0, 0, 3650), At: on(2, 28)}
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 28))).Then(charge)
	history = append(history, charge)
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 28))).Then()
	pay := billing.Renew{Order: order, Invoice: next, At: on(3, 1), Terms: billing.UsualTerms}
	renewed := billing.PeriodRenewed{
		Period: 1, Invoice: next, PeriodStart: on(2, 28), PeriodEnd: on(3, 31), NextAt: on(3, 24), At: on(3, 1),
	}
	domaintest.Given(t, billing.Subscriptions, history).When(pay).Then(renewed)
	domaintest.Given(t, billing.Subscriptions, append(history, renewed)).When(refused(1, on(3, 2), false)).Then()
	if s := billing.Subscriptions.Replay(append(history, renewed)...); s.Method != card || s.Charges != 0 {
		t.Fatalf("The next invoice begins with %+v.", s.Charging)
	}
}

// A charge that the panel or the provider has not come to is no refusal of the customer's: no
// service rests or ends for it, however long it takes.
func TestNoServiceRestsWhileItsChargeHasNoOutcome(t *testing.T) {
	history := after(t, started31(), chosen(card), advance(on(2, 21)), advance(on(2, 28)))
	for _, at := range []time.Time{on(3, 14), on(6, 1), on(12, 31)} {
		domaintest.Given(t, billing.Subscriptions, history).When(advance(at)).Then()
	}
	early := history[len(history)-1].(billing.ChargeStarted)
	early.NextAt = on(3, 14) // as it was recorded before
	before := append(slices.Clone(history[:len(history)-1]), early)
	domaintest.Given(t, billing.Subscriptions, before).When(advance(on(3, 14))).Then()

	failed := after(t, history, refused(1, on(3, 20), true))
	if s := billing.Subscriptions.Replay(failed...); !s.NextAt.After(on(3, 20)) || s.NextAt.After(on(3, 22)) {
		t.Errorf("After its outcome the next step is at %s.", s.NextAt)
	}

	resting := after(t, started31(), advance(on(2, 21)), advance(on(2, 24)))
	for billing.Subscriptions.Replay(resting...).Status != billing.Suspended {
		resting = after(t, resting, advance(billing.Subscriptions.Replay(resting...).NextAt))
	}
	rescued := billing.Subscriptions.Replay(resting...).NextAt
	choice := chosen(card)
	choice.At = rescued
	resting = after(t, resting, choice, advance(rescued))
	if s := billing.Subscriptions.Replay(resting...); !s.Pending || s.NextAt.Before(rescued.AddDate(1, 0, 0)) {
		t.Errorf("A service whose card is being charged ends at %s.", s.NextAt)
	}
}

func TestARefusedChargeIsTriedAgainOnItsDays(t *testing.T) {
	history := charged(t, false, on(12, 31))
	var days []time.Duration
	first := time.Time{}
	for _, e := range history {
		switch e := e.(type) {
		case billing.ChargeFailed:
			if first.IsZero() {
				first = e.At
			}
		case billing.ChargeStarted:
			if e.Count > 1 {
				days = append(days, e.At.Sub(first))
			}
		}
	}
	if !slices.Equal(days, billing.UsualTerms.Retries) {
		t.Fatalf("Charges were repeated %v after the first refusal.", days)
	}
	want := []string{
		"billing.subscription_started", "billing.method_chosen", "billing.period_invoiced",
		"billing.charge_started", "billing.charge_failed", "billing.charge_started", "billing.charge_failed",
		"billing.charge_started", "billing.charge_failed",
		"billing.charge_started", "billing.charge_failed", "billing.charge_started", "billing.charge_failed",
		"billing.subscription_suspended", "billing.end_announced", "billing.subscription_ended",
	}
	if got := names(history); !slices.Equal(got, want) {
		t.Fatalf("It went on as %q.", got)
	}
}

// A charge that expired before the panel came to it is no refusal. It is made again at once,
// as often as it takes, and all its days are left.
func TestAChargeThatWasNeverTriedCountsAsNoRefusal(t *testing.T) {
	history := after(t, started31(), chosen(card), advance(on(2, 21)), advance(on(2, 28)))
	untried := refused(1, on(3, 1), false)
	untried.Untried = true
	history = after(t, history, untried)
	if s := billing.Subscriptions.Replay(history...); s.Status != billing.Running || s.Pending || !s.NextAt.Equal(s.DueAt) {
		t.Fatalf("After a charge that was not tried it is %s and goes on at %s.", s.Status, s.NextAt)
	}
	history = after(t, history, advance(on(3, 1)))
	untried.Count, untried.At = 2, on(3, 2)
	history = after(t, history, untried, advance(on(3, 2)), refused(3, on(3, 2), false))
	if failed := history[len(history)-1].(billing.ChargeFailed); failed.Final || !failed.First() ||
		!failed.NextAt.Equal(on(3, 2).Add(billing.UsualTerms.Retries[0])) {
		t.Errorf("The first refusal is %+v.", failed)
	}
	for n := range billing.UsualTerms.Retries {
		s := billing.Subscriptions.Replay(history...)
		history = after(t, history, advance(s.NextAt), refused(4+n, s.NextAt, false))
	}
	if failed := history[len(history)-1].(billing.ChargeFailed); !failed.Final || failed.First() {
		t.Errorf("The last refusal is %+v.", failed)
	}
}

func TestAMethodThatNeedsItsOwnerIsNotChargedAgain(t *testing.T) {
	want := []string{
		"billing.subscription_started", "billing.method_chosen", "billing.period_invoiced", "billing.charge_started",
		"billing.charge_failed",
		"billing.payment_reminded", "billing.payment_reminded", "billing.subscription_suspended",
		"billing.end_announced", "billing.subscription_ended",
	}
	if got := names(charged(t, true, on(12, 31))); !slices.Equal(got, want) {
		t.Fatalf("It went on as %q.", got)
	}
}

func TestAnotherMethodIsChargedAtOnce(t *testing.T) {
	history := charged(t, true, on(3, 20))
	if s := billing.Subscriptions.Replay(history...); s.Status != billing.Suspended {
		t.Fatal(s.Status)
	}
	other := uuid.MustParse("1e470d6e-0000-4000-8000-00000000ca4e")
	choose := billing.ChooseMethod{Order: order, Method: other, At: on(3, 20), Terms: billing.UsualTerms}
	history = after(t, history, choose)
	s := billing.Subscriptions.Replay(history...)
	facts, err := billing.Subscriptions.Decide(s, advance(on(3, 20)))
	if err != nil || len(facts) != 1 || facts[0].(billing.ChargeStarted).Method != other {
		t.Fatal(facts, err)
	}
	t.Log("A choice while a charge has no outcome waits for it, so that none is charged twice.")
	s = billing.Subscriptions.Replay(append(history, facts...)...)
	choose.Method = uuid.Nil
	more, err := billing.Subscriptions.Decide(s, choose)
	if err != nil || len(more) != 1 {
		t.Fatal(more, err)
	}
	if s = billing.Subscriptions.Replay(append(append(history, facts...), more...)...); !s.Pending || s.Method != uuid.Nil {
		t.Fatalf("%+v", s.Charging)
	}
}

// However charges end, each invoice has one at a time, and none after it was paid.
func TestAnyChargesOfAnInvoiceFollowEachOther(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		history := after(r, started31(), chosen(card))
		now := on(2, 1)
		for range rapid.IntRange(1, 60).Draw(r, "steps") {
			s := billing.Subscriptions.Replay(history...)
			var c billing.SubscriptionCommand
			switch rapid.IntRange(0, 5).Draw(r, "what") {
			case 0:
				c = refused(s.Charges, now, rapid.Bool().Draw(r, "final"))
			case 1:
				c = billing.Renew{Order: order, Invoice: s.Open, At: now, Terms: billing.UsualTerms}
				if s.Open == uuid.Nil {
					continue
				}
			case 2:
				c = billing.ChooseMethod{
					Order: order, Method: rapid.SampledFrom([]uuid.UUID{card, uuid.Nil}).Draw(r, "method"), At: now,
					Terms: billing.UsualTerms,
				}
			case 3:
				c = billing.CancelAtEnd{Order: order, At: now}
			case 4:
				c = billing.KeepOn{Order: order, At: now, Terms: billing.UsualTerms}
			default:
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(r, "days")) * day)
				c = billing.Advance{Order: order, Invoice: uuid.NewSHA1(order, []byte{byte(s.Issued)}), At: now, Terms: billing.UsualTerms}
			}
			facts, err := billing.Subscriptions.Decide(s, c)
			if err != nil {
				continue
			}
			for _, e := range facts {
				if charge, is := e.(billing.ChargeStarted); is && (s.Pending || charge.Invoice != s.Open ||
					charge.Count != s.Charges+1 || charge.Count > 1+len(billing.UsualTerms.Retries)) {
					r.Fatalf("%+v was charged in the state %+v.", charge, s)
				}
			}
			history = append(history, facts...)
			if s = billing.Subscriptions.Replay(history...); s.Status != billing.Over && s.NextAt.IsZero() {
				r.Fatalf("%q leads nowhere: %+v", names(history), s)
			}
		}
	})
}
