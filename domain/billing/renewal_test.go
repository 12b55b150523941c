package billing_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
)

const day = 24 * time.Hour

var monthly = billing.SubscriptionStarted{
	Order: order, Tenant: 17, User: 12, Plan: 7, PlanName: "Básico", BillingPeriod: "monthly", Price: amount("2.99"), Currency: "EUR",
	PeriodStart: on(1, 31), PeriodEnd: on(2, 28), NextAt: on(2, 21),
}

func on(month time.Month, d int) time.Time { return time.Date(2026, month, d, 9, 0, 0, 0, time.UTC) }

var next = uuid.MustParse("1e470d6e-0000-4000-8000-000000000002")

func advance(at time.Time) billing.Advance {
	return billing.Advance{Order: order, Invoice: next, At: at, Terms: billing.UsualTerms}
}

// lives plays the life of a subscription: each step at its deadline, until it has ended or
// a time has come.
func lives(t testing.TB, history []billing.SubscriptionEvent, until time.Time) []billing.SubscriptionEvent {
	t.Helper()
	for {
		s := billing.Subscriptions.Replay(history...)
		if s.NextAt.IsZero() || s.NextAt.After(until) {
			return history
		}
		facts, err := billing.Subscriptions.Decide(s, advance(s.NextAt))
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		history = append(history, facts...)
	}
}

func names(history []billing.SubscriptionEvent) (all []string) {
	for _, e := range history {
		all = append(all, e.EventName())
	}
	return all
}

func started31() []billing.SubscriptionEvent { return []billing.SubscriptionEvent{monthly} }

func TestAPeriodIsBilledOnceBeforeItBegins(t *testing.T) {
	billed := billing.PeriodInvoiced{
		Period: 1, Invoice: next, PeriodStart: on(2, 28), PeriodEnd: on(3, 31), DueAt: on(2, 28), NextAt: on(2, 26),
		At: on(2, 21),
	}
	early := advance(on(2, 21).Add(-time.Second))
	domaintest.Given(t, billing.Subscriptions, started31()).When(early).Then()
	domaintest.Given(t, billing.Subscriptions, started31()).When(advance(on(2, 21))).Then(billed)
	domaintest.Given(t, billing.Subscriptions, append(started31(), billed)).When(advance(on(2, 21))).Then()
	renewed := billing.PeriodRenewed{
		Period: 1, Invoice: next, PeriodStart: on(2, 28), PeriodEnd: on(3, 31), NextAt: on(3, 24), At: on(2, 22),
	}
	pay := billing.Renew{Order: order, Invoice: next, At: on(2, 22), Terms: billing.UsualTerms}
	domaintest.Given(t, billing.Subscriptions, append(started31(), billed)).When(pay).Then(renewed)
	domaintest.Given(t, billing.Subscriptions, append(started31(), billed, renewed)).When(pay).ThenRefused(
		domain.Conflict, "The invoice is not the open one of its subscription.",
	)
	domaintest.Given(t, billing.Subscriptions, nil).When(pay).ThenRefused(domain.NotFound, "No Subscription matches the given query.")
}

func TestWhatIsNotPaidIsRemindedSuspendedAndEnded(t *testing.T) {
	history := lives(t, started31(), on(12, 31))
	want := []struct {
		name string
		at   time.Time
	}{
		{"billing.period_invoiced", on(2, 21)},
		{"billing.payment_reminded", on(2, 26)},
		{"billing.payment_overdue", on(2, 28)},
		{"billing.payment_reminded", on(3, 3)},
		{"billing.payment_reminded", on(3, 7)},
		{"billing.subscription_suspended", on(3, 14)},
		{"billing.end_announced", on(4, 6)},
		{"billing.subscription_ended", on(4, 13)},
	}
	if len(history) != 1+len(want) {
		t.Fatal(names(history))
	}
	for i, w := range want {
		s := billing.Subscriptions.Replay(history[:i+1]...)
		if got := history[i+1].EventName(); got != w.name || !s.NextAt.Equal(w.at) {
			t.Errorf("%s at %s, want %s at %s", got, s.NextAt, w.name, w.at)
		}
	}
	if e := history[len(history)-1].(billing.SubscriptionEnded); e.Reason != billing.Unpaid || e.Open == uuid.Nil {
		t.Errorf("%+v", e)
	}
}

// A panel that was off for a year takes the steps that it has missed in order, one a day.
func TestWhatWasMissedFollowsADayApart(t *testing.T) {
	at := on(2, 21).AddDate(1, 0, 0)
	history := started31()
	for range 8 {
		s := billing.Subscriptions.Replay(history...)
		if s.NextAt.After(at) {
			at = s.NextAt
		}
		facts, err := billing.Subscriptions.Decide(s, advance(at))
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		history = append(history, facts...)
		if again, err := billing.Subscriptions.Decide(billing.Subscriptions.Replay(history...), advance(at)); err != nil ||
			len(again) != 0 {
			t.Fatalf("%s and %v at once", facts[0].EventName(), again)
		}
	}
	if billed := history[1].(billing.PeriodInvoiced); !billed.DueAt.Equal(billed.At.Add(7 * day)) {
		t.Errorf("due %s, billed %s", billed.DueAt, billed.At)
	}
	if s := billing.Subscriptions.Replay(history...); s.Status != billing.Over {
		t.Error(names(history))
	}
}

func TestACancellationCountsFromTheEndOfThePeriod(t *testing.T) {
	billed := lives(t, started31(), on(2, 21))
	invoice := billing.Subscriptions.Replay(billed...).Open
	cancel := billing.CancelAtEnd{Order: order, At: on(2, 22)}
	requested := billing.CancellationRequested{Open: invoice, NextAt: on(2, 28), At: on(2, 22)}
	domaintest.Given(t, billing.Subscriptions, billed).When(cancel).Then(requested)
	cancelled := append(billed, requested)
	domaintest.Given(t, billing.Subscriptions, cancelled).When(cancel).Then()
	domaintest.Given(t, billing.Subscriptions, cancelled).When(advance(on(2, 27))).Then()
	domaintest.Given(t, billing.Subscriptions, cancelled).When(advance(on(2, 28))).Then(
		billing.SubscriptionEnded{Reason: billing.Cancelled, At: on(2, 28)},
	)
	keep := billing.KeepOn{Order: order, At: on(2, 23), Terms: billing.UsualTerms}
	revoked := billing.CancellationRevoked{NextAt: on(2, 21), At: on(2, 23)}
	domaintest.Given(t, billing.Subscriptions, cancelled).When(keep).Then(revoked)
	domaintest.Given(t, billing.Subscriptions, lives(t, started31(), on(3, 20))).When(billing.CancelAtEnd{Order: order, At: on(3, 20)}).
		Then(billing.SubscriptionEnded{Reason: billing.Cancelled, Open: invoice, At: on(3, 20)})
	domaintest.Given(t, billing.Subscriptions, lives(t, started31(), on(12, 1))).When(keep).ThenRefused(
		domain.Conflict, "The subscription has ended.",
	)
}

func TestAnOperatorGivesMoreTime(t *testing.T) {
	suspended := lives(t, started31(), on(3, 14))
	invoice := billing.Subscriptions.Replay(suspended...).Open
	extend := billing.Extend{Order: order, Until: on(4, 1), Reason: "a new card is on its way", At: on(3, 15), Terms: billing.UsualTerms}
	extended := billing.PaymentExtended{Invoice: invoice, Until: on(4, 1), Reason: extend.Reason, NextAt: on(3, 30), At: on(3, 15)}
	domaintest.Given(t, billing.Subscriptions, suspended).When(extend).Then(extended)
	if s := billing.Subscriptions.Replay(append(suspended, extended)...); s.Status != billing.Running || s.PeriodEnd != on(2, 28) {
		t.Errorf("%+v", s)
	}
	late := lives(t, append(suspended, extended), on(4, 15))
	if last := late[len(late)-1].EventName(); last != "billing.subscription_suspended" {
		t.Error(names(late))
	}
	domaintest.Given(t, billing.Subscriptions, started31()).When(extend).ThenRefused(
		domain.Conflict, "The subscription has no open invoice.",
	)
	for _, wrong := range []struct {
		change func(*billing.Extend)
		says   string
	}{
		{func(e *billing.Extend) { e.Reason = "" }, "reason: This field is required."},
		{func(e *billing.Extend) { e.Until = on(2, 1) }, "until: Give a day after today and after the due date."},
	} {
		c := extend
		wrong.change(&c)
		domaintest.Given(t, billing.Subscriptions, suspended).When(c).ThenRefused(domain.Invalid, wrong.says)
	}
}

// everyStep is one event of each sort that a renewal may bring.
func everyStep() []domain.Event {
	return []domain.Event{
		billing.PeriodInvoiced{
			Period: 1, Invoice: ana, PeriodStart: noon, PeriodEnd: noon.AddDate(0, 1, 0), DueAt: noon, NextAt: noon,
			At: noon,
		},
		billing.PaymentOverdue{Invoice: ana, DueAt: noon, NextAt: noon, At: noon},
		billing.MethodChosen{Method: card, NextAt: noon, At: noon},
		billing.ChargeStarted{Invoice: ana, Method: card, Count: 1, NextAt: noon, At: noon},
		billing.ChargeFailed{Invoice: ana, DueAt: noon, Count: 1, Code: "card_declined", Final: true, Reminders: 1, NextAt: noon, At: noon},
		billing.ChargeExpired{Invoice: ana, Count: 1, NextAt: noon, At: noon},
		billing.PaymentMethodSaved{
			Tenant: 17, SubjectID: ana, Order: order, Provider: "test", Customer: "cus_1", Token: "pm_1", Kind: "card",
			Brand: "visa", Last4: "4242", Expires: "2029-03", At: noon,
		},
		billing.PaymentMethodRemoved{Reason: billing.GoneAtProvider, At: noon},
		billing.MethodSetupStarted{
			Tenant: 1, User: 7, SubjectID: uuid.UUID{7}, Provider: "test", Test: true, ExpiresAt: noon.Add(day),
			At: noon,
		},
		billing.MethodSetupOpened{Session: "cs_1", URL: "https://pay.example/cs_1", ExpiresAt: noon.Add(day), At: noon},
		billing.MethodSetupSaved{Method: uuid.UUID{8}, At: noon},
		billing.MethodSetupEnded{Reason: billing.SetupExpired, At: noon},
		billing.MethodSetupDiscarded{Customer: "cus_1", Token: "pm_1", Kind: "card", At: noon},
		billing.PaymentReminded{Invoice: ana, DueAt: noon, Count: 1, NextAt: noon, At: noon},
		billing.SubscriptionSuspended{Invoice: ana, EndsAt: noon, NextAt: noon, At: noon},
		billing.EndAnnounced{Invoice: ana, NextAt: noon, At: noon},
		billing.PeriodRenewed{Period: 1, Invoice: ana, PeriodStart: noon, PeriodEnd: noon, Waived: "goodwill", NextAt: noon, At: noon},
		billing.PaymentExtended{Invoice: ana, Until: noon, Reason: "goodwill", NextAt: noon, At: noon},
		billing.CancellationRequested{Open: ana, NextAt: noon, At: noon},
		billing.CancellationRevoked{NextAt: noon, At: noon},
		billing.ChangeInvoiced{PlanTerms: larger, Invoice: ana, StartsAt: noon, PeriodEnd: noon, DueAt: noon, NextAt: noon, At: noon},
		billing.ChangePlanned{PlanTerms: larger, StartsAt: noon, NextAt: noon, At: noon},
		billing.ChangeWithdrawn{Plan: 8, PlanName: "Grande", Invoice: ana, Reason: billing.Lapsed, NextAt: noon, At: noon},
		billing.ChangeDropped{
			Plan: 8, PlanName: "Grande", Over: []billing.Overrun{{Limit: "sites", Used: 7, Most: 5}}, NextAt: noon,
			At: noon,
		},
		billing.PlanChanged{
			PlanTerms: larger, Invoice: ana, Waived: "goodwill", Anchor: noon, First: 1, Period: 1, PeriodStart: noon,
			PeriodEnd: noon.AddDate(0, 1, 0), NextAt: noon, At: noon,
		},
	}
}

// Whenever customers pay and however late the panel wakes, periods follow one another
// without a gap, each is invoiced once, and a step is never more than a deadline away.
func TestAnyLifeHasEachPeriodOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := on(1, 31)
		begun := monthly
		begun.BillingPeriod = rapid.SampledFrom([]string{"monthly", "yearly"}).Draw(t, "cycle")
		begun.PeriodEnd = billing.PeriodStart(at, begun.BillingPeriod, 1)
		begun.NextAt = begun.PeriodEnd.Add(-7 * day)
		history := []billing.SubscriptionEvent{begun}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			s := billing.Subscriptions.Replay(history...)
			if s.Status == billing.Over {
				break
			}
			at = at.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "days")) * day)
			billed := advance(at)
			billed.Invoice = uuid.UUID{byte(s.Issued + 1)}
			var c billing.SubscriptionCommand = billed
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1:
				pay := billing.Renew{Order: order, Invoice: s.Open, At: at, Terms: billing.UsualTerms}
				if s.Open == uuid.Nil && s.Change != nil {
					pay.Invoice = s.Change.Invoice
				}
				if pay.Invoice == uuid.Nil {
					continue
				}
				c = pay
			case 4, 5:
				to := rapid.SampledFrom([]billing.PlanTerms{basic, larger, free, yearly}).Draw(t, "to")
				change := changeTo(to, at)
				change.Invoice = uuid.UUID{1, byte(len(history))}
				c = change
			case 2:
				c = billing.CancelAtEnd{Order: order, At: at}
			case 3:
				c = billing.KeepOn{Order: order, At: at, Terms: billing.UsualTerms}
			}
			facts, err := billing.Subscriptions.Decide(s, c)
			_, changes := c.(billing.ChangePlan)
			pay, pays := c.(billing.Renew)
			if late := pays && pay.Invoice != s.Open; err != nil && (!changes && !late || domain.CodeOf(err) != domain.Conflict) {
				t.Fatal(err)
			}
			history = append(history, facts...)
		}
		end, invoices := begun.PeriodEnd, map[uuid.UUID]bool{}
		open := uuid.Nil
		for _, e := range history[1:] {
			switch e := e.(type) {
			case billing.PeriodInvoiced:
				if invoices[e.Invoice] || open != uuid.Nil || !e.PeriodStart.Equal(end) || e.DueAt.Before(e.At) {
					t.Fatalf("%+v", e)
				}
				invoices[e.Invoice], open = true, e.Invoice
			case billing.PeriodRenewed:
				if e.Invoice != open || !e.PeriodStart.Equal(end) || !e.PeriodEnd.After(e.PeriodStart) {
					t.Fatalf("%+v after %s", e, end)
				}
				end, open = e.PeriodEnd, uuid.Nil
			case billing.ChangeInvoiced:
				if open != uuid.Nil || e.DueAt.Before(e.At) || e.DueAt.After(end) {
					t.Fatalf("%+v beside %s", e, open)
				}
			case billing.PlanChanged:
				if open != uuid.Nil || !e.PeriodEnd.Equal(end) && (e.Invoice == uuid.Nil || e.Anchor != e.PeriodStart ||
					e.PeriodEnd.Before(e.At)) {
					t.Fatalf("%+v after %s", e, end)
				}
				end = e.PeriodEnd
			case billing.CancellationRequested:
				open = uuid.Nil
			}
		}
		if s := billing.Subscriptions.Replay(history...); s.Status != billing.Over && s.NextAt.IsZero() {
			t.Fatal("a subscription that lives has no next step")
		}
	})
}
