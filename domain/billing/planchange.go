package billing

import (
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// PlanTerms are what a subscription gets from a plan, as the plan was at one moment.
// Grants are the fields of the tenant's record that the plan sets, such as its limits.
type PlanTerms struct {
	Plan          int64           `json:"plan"`
	PlanName      string          `json:"plan_name"`
	BillingPeriod string          `json:"billing_period"` // monthly, yearly
	Price         decimal.Decimal `json:"price"`          // of one period
	Grants        field.Values    `json:"grants,omitempty"`
}

// SizesMachine tells whether the plan sets the size of a virtual server.
func (t PlanTerms) SizesMachine() bool { return len(t.Grants["cores"]) > 0 }

// A PendingChange of the plan does not count yet: its invoice is not paid, or the period
// has not ended.
type PendingChange struct {
	PlanTerms
	Invoice   uuid.UUID `json:"invoice,omitzero"` // zero: it waits for the end of the period
	DueAt     time.Time `json:"due_at,omitzero"`  // of the invoice; then the change lapses
	StartsAt  time.Time `json:"starts_at"`        // from when it counts
	PeriodEnd time.Time `json:"period_end"`       // of the period that is paid with the invoice
}

// An Overrun is a limit that is lower than what is used.
type Overrun struct {
	Limit string `json:"limit"` // such as sites
	Used  int64  `json:"used"`
	Most  int64  `json:"most"`
}

// A ChangePreview tells what a change of the plan would do at a moment.
type ChangePreview struct {
	To       PlanTerms
	Currency string
	Now      bool       // it counts once its invoice is paid, and not at the end of the period
	StartsAt time.Time  // from when it counts
	PayUntil *time.Time // nil: it needs no payment
	Over     []Overrun  // what does not fit: the change is refused
	Silent   bool       // the hosting engine does not answer, so its calls are not known

	Proration Proration
	Invoice   Issue // the one that it brings: now, or for the next period
}

// ChangePlan asks for another plan or another cycle. A change that costs something gets an
// invoice and counts once that is paid; every other waits for the end of the period. The
// last one asked for replaces those before it. Asking for the present plan takes a pending
// change back.
type ChangePlan struct {
	Order   uuid.UUID
	To      PlanTerms
	Invoice uuid.UUID // the id of the invoice, if the change needs one
	At      time.Time
	Terms   Terms
}

// PlanTerms are those of the plan that the subscription has, without what it grants.
func (s Subscription) PlanTerms() PlanTerms {
	return PlanTerms{Plan: s.Plan, PlanName: s.PlanName, BillingPeriod: s.Cycle, Price: s.Price}
}

// PayUntil is until when the invoice of a change has to be paid that is asked for now. The
// bill of the next period waits for it a day at most.
func (s Subscription) PayUntil(at time.Time, t Terms) time.Time {
	bill := earlier(s.PeriodEnd, later(s.PeriodEnd.Add(-t.Lead), at.Add(day)))
	return earlier(at.Add(timeToPay), bill)
}

// timeToPay is how long the invoice of a change may be paid.
const timeToPay = 7 * day

// MayChange refuses a change of the plan that the state forbids. As long as the next period
// is billed and not paid, no change is: the two would bill the same days.
func (s Subscription) MayChange(at time.Time) error {
	switch {
	case !s.lives():
		return s.over()
	case s.Status == Cancelling:
		return notNow("The subscription is cancelled. Take the cancellation back first.")
	case s.Open != uuid.Nil:
		return notNow("The next period is billed already. Pay its invoice first.")
	case s.isDue(at):
		return notNow("The next period is about to be billed. Try again in a minute.")
	}
	return nil
}

func notNow(message string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: message}
}

// Has tells whether the subscription has this plan and cycle.
func (s Subscription) Has(to PlanTerms) bool { return s.Plan == to.Plan && s.Cycle == to.BillingPeriod }

// Awaits tells whether a change to this plan and cycle is pending.
func (s Subscription) Awaits(to PlanTerms) bool {
	return s.Change != nil && s.Change.Plan == to.Plan && s.Change.BillingPeriod == to.BillingPeriod
}

// Lapsing is the invoice of a change that was not paid in time; zero: there is none.
func (s Subscription) Lapsing(at time.Time) uuid.UUID {
	if !s.isDue(at) || !s.awaitsPayment() {
		return uuid.Nil
	}
	return s.Change.Invoice
}

// awaitsPayment tells whether a change waits for the payment of its invoice.
func (s Subscription) awaitsPayment() bool { return s.Change != nil && s.Change.Invoice != uuid.Nil }

func (c ChangePlan) decide(s Subscription) ([]SubscriptionEvent, error) {
	if err := s.MayChange(c.At); err != nil {
		return nil, err
	}
	if s.Awaits(c.To) {
		return nil, nil
	}
	var events []SubscriptionEvent
	if s.Change != nil {
		taken := s.withdraw(Replaced, c.At)
		taken.NextAt = c.Terms.after(taken, s, c.At)
		events, s = append(events, taken), taken.evolve(s)
	}
	if s.Has(c.To) {
		return events, nil
	}
	p := s.Prorate(c.To, c.At)
	if !p.Due().IsPositive() {
		e := ChangePlanned{PlanTerms: c.To, StartsAt: s.PeriodEnd, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		return append(events, e), nil
	}
	e := ChangeInvoiced{
		PlanTerms: c.To, Invoice: c.Invoice, StartsAt: p.At, PeriodEnd: p.PeriodEnd, DueAt: s.PayUntil(c.At, c.Terms),
		At: c.At,
	}
	e.NextAt = c.Terms.after(e, s, c.At)
	return append(events, e), nil
}

// withdraw takes the pending change back.
func (s Subscription) withdraw(reason string, at time.Time) ChangeWithdrawn {
	return ChangeWithdrawn{
		Plan: s.Change.Plan, PlanName: s.Change.PlanName, Invoice: s.Change.Invoice, Reason: reason, NextAt: s.NextAt,
		At: at,
	}
}

// withoutChange takes a pending change back before the subscription ends, or will.
func (s Subscription) withoutChange(reason string, at time.Time, then SubscriptionEvent) []SubscriptionEvent {
	if s.Change == nil {
		return []SubscriptionEvent{then}
	}
	return []SubscriptionEvent{s.withdraw(reason, at), then}
}

// lapsed takes back a change whose invoice was not paid in time.
func (t Terms) lapsed(s Subscription, at time.Time) ChangeWithdrawn {
	e := s.withdraw(Lapsed, at)
	e.NextAt = t.after(e, s, at)
	return e
}

// changing lets a planned change count from the next period on, or drops it if what is used
// does not fit into the plan any more.
func (c Advance) changing(s Subscription) ([]SubscriptionEvent, Subscription) {
	if s.Change == nil {
		return nil, s
	}
	var e SubscriptionEvent
	if len(c.Over) > 0 {
		e = ChangeDropped{Plan: s.Change.Plan, PlanName: s.Change.PlanName, Over: c.Over, NextAt: s.NextAt, At: c.At}
	} else {
		e = s.atPeriodEnd(c.At)
	}
	return []SubscriptionEvent{e}, e.evolve(s)
}

// AsBilled is the subscription for which the next period is billed, if so much does not fit
// into the plan that is planned.
func (s Subscription) AsBilled(over []Overrun) Subscription {
	_, s = Advance{Over: over}.changing(s)
	return s
}

// atPeriodEnd lets the planned change count. Another cycle is counted from the end of the
// period that is paid for.
func (s Subscription) atPeriodEnd(at time.Time) PlanChanged {
	e := PlanChanged{
		PlanTerms: s.Change.PlanTerms, Anchor: s.Anchor, First: s.First, Period: s.Period, PeriodStart: s.PeriodStart,
		PeriodEnd: s.PeriodEnd, NextAt: s.NextAt, At: at,
	}
	if e.BillingPeriod != s.Cycle {
		e.Anchor, e.First = s.PeriodEnd, s.Period+1
	}
	return e
}

// changed lets the change count whose invoice is paid or waived. A period of another cycle
// begins when the change was asked for, as its invoice says.
func (s Subscription) changed(c Renew) PlanChanged {
	e := PlanChanged{
		PlanTerms: s.Change.PlanTerms, Invoice: c.Invoice, Waived: c.Waived,
		Anchor: s.Anchor, First: s.First, Period: s.Period, PeriodStart: s.PeriodStart, PeriodEnd: s.PeriodEnd, At: c.At,
	}
	if e.BillingPeriod != s.Cycle {
		e.Period, e.First = s.Period+1, s.Period+1
		e.Anchor, e.PeriodStart, e.PeriodEnd = s.Change.StartsAt, s.Change.StartsAt, s.Change.PeriodEnd
	}
	e.NextAt = c.Terms.after(e, s, c.At)
	return e
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Stream is the history of the subscription.
func (c ChangePlan) Stream() domain.Stream { return subscription(c.Order) }
