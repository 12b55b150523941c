package billing_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/money"
	"hostpanel/domain/tax"
)

var (
	larger = billing.PlanTerms{
		Plan: 8, PlanName: "Grande", BillingPeriod: "monthly", Price: amount("9.99"),
		Grants: field.Values{"max_sites": []byte("10")},
	}
	yearly = billing.PlanTerms{Plan: 7, PlanName: "Básico", BillingPeriod: "yearly", Price: amount("28.704")}
	free   = billing.PlanTerms{Plan: 9, PlanName: "Gratis", BillingPeriod: "monthly", Price: amount("0")}
	basic  = billing.PlanTerms{Plan: 7, PlanName: "Básico", BillingPeriod: "monthly", Price: amount("2.99")}
	bill   = uuid.MustParse("1e470d6e-0000-4000-8000-00000000000c")
)

func changeTo(to billing.PlanTerms, at time.Time) billing.ChangePlan {
	return billing.ChangePlan{Order: order, To: to, Invoice: bill, At: at, Terms: billing.UsualTerms}
}

// Half of the period is left: half of the new price, less half of the old one.
func TestTheDifferenceIsPaidForTheRestOfThePeriod(t *testing.T) {
	at := on(2, 14) // 14 of 28 days
	p := billing.Subscriptions.Replay(monthly).Prorate(larger, at)
	if got := fmt.Sprint(p.Charge, p.Credit, p.Due(), p.Anew); got != "5 1.5 3.5 false" {
		t.Error(got)
	}
	lines := p.Lines("en", basic, larger)
	if len(lines) != 2 || lines[0].Text != "Grande, rest of the period" || lines[1].Text != "Unused time of Básico" ||
		!lines[1].Total.Equal(amount("-1.5")) {
		t.Errorf("%+v", lines)
	}
	p = billing.Subscriptions.Replay(monthly).Prorate(yearly, at)
	if got := fmt.Sprint(p.Charge, p.Credit, p.Due(), p.Anew, p.PeriodEnd.Equal(at.AddDate(1, 0, 0))); got != "28.7 1.5 27.2 true true" {
		t.Error(got)
	}
}

func TestAnUpgradeCountsOnceItIsPaid(t *testing.T) {
	asked := billing.ChangeInvoiced{
		PlanTerms: larger, Invoice: bill, StartsAt: on(2, 14), PeriodEnd: on(2, 28), DueAt: on(2, 21), NextAt: on(2, 21), At: on(2, 14),
	}
	domaintest.Given(t, billing.Subscriptions, started31()).When(changeTo(larger, on(2, 14))).Then(asked)
	history := append(started31(), asked)
	domaintest.Given(t, billing.Subscriptions, history).When(changeTo(larger, on(2, 15))).Then()
	paid := billing.Renew{Order: order, Invoice: bill, At: on(2, 16), Terms: billing.UsualTerms}
	changed := billing.PlanChanged{
		PlanTerms: larger, Invoice: bill, Anchor: on(1, 31), PeriodStart: on(1, 31), PeriodEnd: on(2, 28), NextAt: on(2, 21), At: on(2, 16),
	}
	domaintest.Given(t, billing.Subscriptions, history).When(paid).Then(changed)
	domaintest.Given(t, billing.Subscriptions, append(history, changed)).When(paid).ThenRefused(
		domain.Conflict, "The invoice is not the open one of its subscription.",
	)
	lapsed := billing.ChangeWithdrawn{Plan: 8, PlanName: "Grande", Invoice: bill, Reason: billing.Lapsed, NextAt: on(2, 21), At: on(2, 21)}
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 20))).Then()
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 21))).Then(lapsed)
	domaintest.Given(t, billing.Subscriptions, append(history, lapsed)).When(paid).ThenRefused(
		domain.Conflict, "The invoice is not the open one of its subscription.",
	)
	if s := billing.Subscriptions.Replay(append(history, lapsed)...); !s.Bills(on(2, 21)) || s.PlanName != "Básico" {
		t.Errorf("%+v", s)
	}
}

// The bill of the next period waits for an unpaid change a day at most.
func TestARenewalWaitsForNoChange(t *testing.T) {
	s := billing.Subscriptions.Replay(monthly)
	for at, until := range map[time.Time]time.Time{
		on(2, 1): on(2, 8), on(2, 18): on(2, 21), on(2, 20).Add(12 * time.Hour): on(2, 21).Add(12 * time.Hour),
		on(2, 27).Add(12 * time.Hour): on(2, 28),
	} {
		if got := s.PayUntil(at, billing.UsualTerms); !got.Equal(until) {
			t.Errorf("asked for at %s: %s instead of %s", at, got, until)
		}
	}
}

func TestALaterChangeReplacesTheOneBefore(t *testing.T) {
	upgrade := billing.Subscriptions.Replay(monthly)
	first, err := billing.Subscriptions.Decide(upgrade, changeTo(larger, on(2, 10)))
	if err != nil {
		t.Fatal(err)
	}
	history := append(started31(), first...)
	withdrawn := billing.ChangeWithdrawn{
		Plan: 8, PlanName: "Grande", Invoice: bill, Reason: billing.Replaced, NextAt: on(2, 21), At: on(2, 11),
	}
	planned := billing.ChangePlanned{PlanTerms: free, StartsAt: on(2, 28), NextAt: on(2, 28), At: on(2, 11)}
	domaintest.Given(t, billing.Subscriptions, history).When(changeTo(free, on(2, 11))).Then(withdrawn, planned)
	domaintest.Given(t, billing.Subscriptions, history).When(changeTo(basic, on(2, 11))).Then(withdrawn)
	domaintest.Given(t, billing.Subscriptions, history).When(billing.CancelAtEnd{Order: order, At: on(2, 11)}).Then(
		billing.ChangeWithdrawn{Plan: 8, PlanName: "Grande", Invoice: bill, Reason: billing.Cancelled, NextAt: on(2, 17), At: on(2, 11)},
		billing.CancellationRequested{NextAt: on(2, 28), At: on(2, 11)})
	domaintest.Given(t, billing.Subscriptions, history).When(billing.End{Order: order, Reason: "refunded", At: on(2, 11)}).Then(
		billing.ChangeWithdrawn{Plan: 8, PlanName: "Grande", Invoice: bill, Reason: "refunded", NextAt: on(2, 17), At: on(2, 11)},
		billing.SubscriptionEnded{Reason: "refunded", At: on(2, 11)})
	domaintest.Given(t, billing.Subscriptions, started31()).When(changeTo(basic, on(2, 11))).Then()
}

func TestADowngradeCountsFromTheNextPeriodOn(t *testing.T) {
	planned := billing.ChangePlanned{PlanTerms: free, StartsAt: on(2, 28), NextAt: on(2, 28), At: on(2, 11)}
	history := append(started31(), planned)
	domaintest.Given(t, billing.Subscriptions, started31()).When(changeTo(free, on(2, 11))).Then(planned)
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 27))).Then()
	billed := billing.PeriodInvoiced{
		Period: 1, Invoice: next, PeriodStart: on(2, 28), PeriodEnd: on(3, 31), DueAt: on(3, 7), NextAt: on(3, 5),
		At: on(2, 28),
	}
	domaintest.Given(t, billing.Subscriptions, history).When(advance(on(2, 28))).Then(billing.PlanChanged{
		PlanTerms: free, Anchor: on(1, 31), PeriodStart: on(1, 31), PeriodEnd: on(2, 28), NextAt: on(2, 28), At: on(2, 28),
	}, billed)
	full := advance(on(2, 28))
	full.Over = []billing.Overrun{{Limit: "sites", Used: 7, Most: 5}}
	domaintest.Given(t, billing.Subscriptions, history).When(full).Then(
		billing.ChangeDropped{Plan: 9, PlanName: "Gratis", Over: full.Over, NextAt: on(2, 28), At: on(2, 28)}, billed)
	if s := billing.Subscriptions.Replay(history...); s.AsBilled(nil).PlanName != "Gratis" || s.AsBilled(full.Over).PlanName != "Básico" {
		t.Errorf("%+v", s)
	}
	domaintest.Given(t, billing.Subscriptions, history).When(changeTo(basic, on(2, 25))).Then(
		billing.ChangeWithdrawn{Plan: 9, PlanName: "Gratis", Reason: billing.Replaced, NextAt: on(2, 21), At: on(2, 25)})
}

// Another cycle begins a new period now if it costs more, or after the one that is paid.
func TestAnotherCycleIsCountedFromItsBeginning(t *testing.T) {
	history := started31()
	do := func(c billing.SubscriptionCommand) billing.Subscription {
		t.Helper()
		events, err := billing.Subscriptions.Decide(billing.Subscriptions.Replay(history...), c)
		if err != nil || len(events) == 0 {
			t.Fatal(events, err)
		}
		history = append(history, events...)
		return billing.Subscriptions.Replay(history...)
	}
	do(changeTo(yearly, on(2, 10)))
	s := do(billing.Renew{Order: order, Invoice: bill, At: on(2, 12), Terms: billing.UsualTerms})
	if s.Period != 1 || s.Cycle != "yearly" || !s.PeriodStart.Equal(on(2, 10)) || !s.PeriodEnd.Equal(on(2, 10).AddDate(1, 0, 0)) {
		t.Fatalf("%+v", s)
	}
	if start, end := s.NextPeriod(); !start.Equal(s.PeriodEnd) || !end.Equal(on(2, 10).AddDate(2, 0, 0)) {
		t.Fatal(start, end)
	}
	s = do(changeTo(basic, on(3, 1)))
	if s.Change == nil || s.Change.Invoice != uuid.Nil || !s.NextAt.Equal(s.PeriodEnd) {
		t.Fatalf("%+v", s.Change)
	}
	s = do(advance(s.NextAt))
	s = do(billing.Renew{Order: order, Invoice: s.Open, At: s.NextAt, Terms: billing.UsualTerms})
	if s.Period != 2 || s.Cycle != "monthly" || !s.PeriodEnd.Equal(on(3, 10).AddDate(1, 0, 0)) {
		t.Fatalf("%+v", s)
	}
	if start, end := s.NextPeriod(); !start.Equal(s.PeriodEnd) || !end.Equal(on(4, 10).AddDate(1, 0, 0)) {
		t.Fatal(start, end)
	}
}

func TestAChangeIsRefusedWhileTheNextPeriodIsBilled(t *testing.T) {
	billed := lives(t, started31(), on(2, 21))
	const open = "The next period is billed already. Pay its invoice first."
	domaintest.Given(t, billing.Subscriptions, billed).When(changeTo(larger, on(2, 22))).ThenRefused(domain.Conflict, open)
	domaintest.Given(t, billing.Subscriptions, lives(t, started31(), on(3, 1))).When(changeTo(larger, on(3, 2))).
		ThenRefused(domain.Conflict, open)
	domaintest.Given(t, billing.Subscriptions, lives(t, started31(), on(3, 20))).When(changeTo(larger, on(3, 21))).
		ThenRefused(domain.Conflict, open)
	domaintest.Given(t, billing.Subscriptions, started31()).When(changeTo(larger, on(2, 21))).
		ThenRefused(domain.Conflict, "The next period is about to be billed. Try again in a minute.")
	cancelled := append(started31(), billing.CancellationRequested{NextAt: on(2, 28), At: on(2, 10)})
	domaintest.Given(t, billing.Subscriptions, cancelled).When(changeTo(larger, on(2, 11))).
		ThenRefused(domain.Conflict, "The subscription is cancelled. Take the cancellation back first.")
	domaintest.Given(t, billing.Subscriptions, lives(t, started31(), on(12, 1))).When(changeTo(larger, on(12, 2))).ThenRefused(
		domain.Conflict, "The subscription has ended.",
	)
	domaintest.Given(t, billing.Subscriptions, nil).When(changeTo(larger, on(2, 2))).ThenRefused(
		domain.NotFound, "No Subscription matches the given query.",
	)
}

// A period that was paid before it begins is unused as a whole.
func TestAPeriodThatWasPaidEarlyIsUnused(t *testing.T) {
	history := lives(t, started31(), on(2, 21))
	history = append(
		history,
		billing.PeriodRenewed{Period: 1, Invoice: next, PeriodStart: on(2, 28), PeriodEnd: on(3, 31), NextAt: on(3, 24), At: on(2, 21)},
	)
	p := billing.Subscriptions.Replay(history...).Prorate(larger, on(2, 21)) // 7 of 28 days, and all of the next period
	if got := fmt.Sprint(p.Charge, p.Credit, p.Due()); got != "12.49 3.74 8.75" {
		t.Error(got)
	}
}

// Whatever the prices, the moment and the currency: amounts have the places of the currency,
// an invoice is never negative and adds up, and a change there and back costs nothing.
func TestAChangeIsComputedToTheCent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		currency := rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(t, "currency")
		places := map[string]int32{"EUR": 2, "JPY": 0, "KWD": 2}[currency]
		price := func(name string) decimal.Decimal {
			return decimal.New(rapid.Int64Range(0, 9_999_999).Draw(t, name), -4)
		}
		cycle := func(name string) string { return rapid.SampledFrom([]string{"monthly", "yearly"}).Draw(t, name) }
		begun := monthly
		begun.Currency, begun.Price, begun.BillingPeriod = currency, price("old"), cycle("of the old")
		begun.PeriodEnd = billing.PeriodStart(begun.PeriodStart, begun.BillingPeriod, 1)
		begun.NextAt = begun.PeriodEnd.Add(-7 * day)
		s := billing.Subscriptions.Replay(begun)
		at := begun.PeriodStart.Add(
			time.Duration(rapid.Int64Range(0, int64(begun.NextAt.Sub(begun.PeriodStart)/time.Second)-1).Draw(t, "seconds")) * time.Second,
		)
		to := billing.PlanTerms{Plan: 8, PlanName: "New", BillingPeriod: cycle("of the new"), Price: price("new")}

		p := s.Prorate(to, at)
		events, err := billing.Subscriptions.Decide(s, changeTo(to, at))
		if err != nil || len(events) != 1 {
			t.Fatal(events, err)
		}
		if _, now := events[0].(billing.ChangeInvoiced); now != p.Due().IsPositive() {
			t.Fatalf("%s is due: %+v", p.Due(), events[0])
		}
		for _, part := range []decimal.Decimal{p.Charge, p.Credit} {
			if part.IsNegative() || !part.Equal(part.Round(places)) {
				t.Fatalf("%s %s", part, currency)
			}
		}
		half := decimal.New(5, -places-1)
		if exact := s.Price.Mul(decimal.NewFromInt(int64(begun.PeriodEnd.Sub(at)))).DivRound(
			decimal.NewFromInt(int64(begun.PeriodEnd.Sub(begun.PeriodStart))), 12,
		); p.Credit.Sub(exact).Abs().Cmp(half) > 0 {
			t.Fatalf("credit %s, exactly %s", p.Credit, exact)
		}
		if !p.Due().IsPositive() {
			return
		}
		sum := decimal.Zero
		for _, l := range p.Lines("en", s.PlanTerms(), to) {
			sum = sum.Add(l.Total)
		}
		cost := money.TotalsOf(p.Due(), decimal.Zero, amount("21"), currency, false)
		if !sum.Equal(cost.Total) || !cost.Total.Equal(p.Due()) || !cost.Subtotal.Add(cost.Tax).Equal(sum) {
			t.Fatalf("lines %s, total %s of %s and %s", sum, cost.Total, cost.Subtotal, cost.Tax)
		}
		if to.BillingPeriod != s.Cycle {
			return
		}
		paid := billing.Renew{Order: order, Invoice: bill, At: at, Terms: billing.UsualTerms}
		changed, err := billing.Subscriptions.Decide(billing.Subscriptions.Replay(begun, events[0]), paid)
		if err != nil {
			t.Fatal(err)
		}
		back := billing.Subscriptions.Replay(begun, events[0], changed[0]).Prorate(s.PlanTerms(), at)
		if !back.Due().Equal(p.Due().Neg()) {
			t.Fatalf("there %s, back %s", p.Due(), back.Due())
		}
	})
}

// Under reverse charge the lines of a change are without tax, and add up to its total.
func TestTheLinesOfAChangeAddUpWithoutTax(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		currency := rapid.SampledFrom([]string{"EUR", "JPY", "KWD"}).Draw(r, "currency")
		places := int32(2)
		if currency == "JPY" {
			places = 0
		}
		price := func(name string) decimal.Decimal {
			return decimal.New(rapid.Int64Range(0, 1_000_000).Draw(r, name), -places)
		}
		abroad := tax.Treatment{TaxKind: tax.ReverseCharge, TaxCountry: "FR", TaxRemoved: amount("21")}
		p := billing.Proration{Charge: price("charge"), Credit: price("credit")}
		net := p.Without(abroad, currency)
		sum := decimal.Zero
		for _, l := range net.Lines(
			"en", billing.PlanTerms{PlanName: "Start"}, billing.PlanTerms{PlanName: "More", BillingPeriod: "monthly"},
		) {
			sum = sum.Add(l.Total)
		}
		if want := abroad.Without(p.Due(), currency); !sum.Equal(want) || !net.Due().Equal(want) {
			r.Fatalf("The lines of %+v add up to %s instead of %s.", net, sum, want)
		}
		if same := p.Without(tax.Treatment{}, currency); !same.Charge.Equal(p.Charge) || !same.Credit.Equal(p.Credit) {
			r.Fatalf("%+v has become %+v without a treatment.", p, same)
		}
	})
}
