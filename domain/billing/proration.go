package billing

import (
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/money"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

// A Proration is what a change of the plan costs at a moment: the new plan's price for the
// time that it takes over, less the old plan's for the paid time that is not used
// (docs/invoices.md, "Changing the plan"). Amounts include tax, and each is rounded once.
type Proration struct {
	Anew        bool      // another cycle: a period of the new plan begins now
	At          time.Time // from when the new plan counts, if it is paid
	PeriodEnd   time.Time // of the new plan
	UnusedUntil time.Time // the end of the old plan's paid time
	Charge      decimal.Decimal
	Credit      decimal.Decimal
}

// Due is what is to be paid now. If it is not positive, the change waits for the end of
// the period.
func (p Proration) Due() decimal.Decimal { return p.Charge.Sub(p.Credit) }

// Prorate computes what a change to a plan costs at a moment.
func (s Subscription) Prorate(to PlanTerms, at time.Time) Proration {
	left, places := s.unused(at), placesOf(s.Currency)
	p := Proration{
		At: at, PeriodEnd: s.PeriodEnd, UnusedUntil: s.PeriodEnd, Credit: left.of(s.Price, places),
		Charge: left.of(to.Price, places),
	}
	if to.BillingPeriod != s.Cycle {
		p.Anew, p.PeriodEnd, p.Charge = true, PeriodStart(at, to.BillingPeriod, 1), to.Price.Round(places)
	}
	return p
}

// Without is the proration without the tax that its invoice is not to have. What is credited
// follows from the total, so that the lines add up.
func (p Proration) Without(t tax.Treatment, currency string) Proration {
	due := t.Without(p.Due(), currency)
	p.Charge = t.Without(p.Charge, currency)
	p.Credit = p.Charge.Sub(due)
	return p
}

// Lines are what the change bills, in a language: the new plan, and the unused time of the
// old one as a negative line.
func (p Proration) Lines(language string, from, to PlanTerms) []Line {
	charge := PeriodLine(language, to.PlanName, to.BillingPeriod, p.At, p.PeriodEnd, p.Charge)
	if !p.Anew {
		charge.Text = texts.Say(language, "invoices.rest_of_period", "plan", to.PlanName)
	}
	if p.Credit.IsZero() {
		return []Line{charge}
	}
	unused := texts.Say(language, "invoices.unused_time", "plan", from.PlanName)
	return []Line{charge, {Text: unused, PeriodStart: p.At, PeriodEnd: p.UnusedUntil, Total: p.Credit.Neg()}}
}

// placesOf is how many decimal places amounts of a currency have on invoices: two at most.
func placesOf(currency string) int32 {
	if n, known := money.Places(currency); known {
		return min(n, 2)
	}
	return 2
}

// A share is a part of a period, in seconds. It may be more than one period.
type share struct{ left, whole int64 }

// of is the share of a price, divided and rounded once (rule M-3).
func (h share) of(price decimal.Decimal, places int32) decimal.Decimal {
	if h.left <= 0 || h.whole <= 0 {
		return decimal.Zero
	}
	return price.Mul(decimal.NewFromInt(h.left)).DivRound(decimal.NewFromInt(h.whole), places)
}

// unused is the part of the paid time that is left. A period that was paid before it
// begins is unused as a whole, and so is the rest of the one before it.
func (s Subscription) unused(at time.Time) share {
	if !at.Before(s.PeriodStart) {
		return share{seconds(at, s.PeriodEnd), seconds(s.PeriodStart, s.PeriodEnd)}
	}
	before := share{seconds(at, s.PeriodStart), seconds(PeriodStart(s.Anchor, s.Cycle, s.Period-s.First-1), s.PeriodStart)}
	return share{before.left + before.whole, before.whole}
}

func seconds(from, to time.Time) int64 { return int64(to.Sub(from) / time.Second) }
