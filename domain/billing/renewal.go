package billing

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// Terms say when a renewal is asked for, and what follows if it is not paid
// (docs/invoices.md, "Renewals"). A deadline stands in the event that sets it, so a change
// of the terms counts from the next event on.
type Terms struct {
	Lead      time.Duration   // before a period begins, its invoice is issued
	Reminders []time.Duration // after the due date, or before it if negative; rising
	Retries   []time.Duration // after the first charge that was refused, it is tried again; rising
	Grace     time.Duration   // after the due date, the service is suspended
	Keep      time.Duration   // after the suspension, the service ends
	Warning   time.Duration   // before that end, the customer is told
}

const day = 24 * time.Hour

// UsualTerms hold where nothing else is set.
var UsualTerms = Terms{
	Lead: 7 * day, Reminders: []time.Duration{-2 * day, 3 * day, 7 * day},
	Retries: []time.Duration{day, 3 * day, 5 * day, 7 * day}, Grace: 14 * day, Keep: 30 * day, Warning: 7 * day,
}

// apart is the shortest time between two steps, so that a panel that was off does not take
// several at once.
const apart = day

// Advance takes the next step of a subscription whose time has come: it bills the next
// period, reminds the customer, suspends the service or ends it. Before that time, and on
// a repeat, nothing happens.
type Advance struct {
	Order   uuid.UUID
	Invoice uuid.UUID // the id of the next invoice, if the next period is billed
	Over    []Overrun // what does not fit into the plan that is to count from then on
	At      time.Time
	Terms   Terms
}

// Renew records that the next period is paid for, or free; or likewise the change of the
// plan that the invoice bills.
type Renew struct {
	Order   uuid.UUID
	Invoice uuid.UUID
	Waived  string // an operator's reason; blank: it is paid
	At      time.Time
	Terms   Terms
}

type (
	// PeriodInvoiced: the invoice of the next period is issued. NextAt is when the next
	// step is due, here and below.
	PeriodInvoiced struct {
		Period      int       `json:"period"`
		Invoice     uuid.UUID `json:"invoice"`
		PeriodStart time.Time `json:"period_start"`
		PeriodEnd   time.Time `json:"period_end"`
		DueAt       time.Time `json:"due_at"`
		NextAt      time.Time `json:"next_at"`
		At          time.Time `json:"at"`
	}
	// PaymentOverdue: the due date has passed without a payment.
	PaymentOverdue struct {
		Invoice uuid.UUID `json:"invoice"`
		DueAt   time.Time `json:"due_at"`
		NextAt  time.Time `json:"next_at"`
		At      time.Time `json:"at"`
	}
	// PaymentReminded: the customer is reminded, for the Count-th time.
	PaymentReminded struct {
		Invoice uuid.UUID `json:"invoice"`
		DueAt   time.Time `json:"due_at"`
		Count   int       `json:"count"`
		NextAt  time.Time `json:"next_at"`
		At      time.Time `json:"at"`
	}
	// SubscriptionSuspended: the service rests until it is paid.
	SubscriptionSuspended struct {
		Invoice uuid.UUID `json:"invoice"`
		EndsAt  time.Time `json:"ends_at"` // if it is not
		NextAt  time.Time `json:"next_at"`
		At      time.Time `json:"at"`
	}
	// EndAnnounced: the customer is told that the service ends soon.
	EndAnnounced struct {
		Invoice uuid.UUID `json:"invoice"`
		NextAt  time.Time `json:"next_at"` // when it ends
		At      time.Time `json:"at"`
	}
	// PeriodRenewed: the next period is paid for, or free. The service goes on.
	PeriodRenewed struct {
		Period      int       `json:"period"`
		Invoice     uuid.UUID `json:"invoice"`
		PeriodStart time.Time `json:"period_start"`
		PeriodEnd   time.Time `json:"period_end"`
		Waived      string    `json:"waived,omitempty"` // an operator's reason
		NextAt      time.Time `json:"next_at"`
		At          time.Time `json:"at"`
	}
)

func (PeriodInvoiced) EventName() string        { return "billing.period_invoiced" }
func (PaymentOverdue) EventName() string        { return "billing.payment_overdue" }
func (PaymentReminded) EventName() string       { return "billing.payment_reminded" }
func (SubscriptionSuspended) EventName() string { return "billing.subscription_suspended" }
func (EndAnnounced) EventName() string          { return "billing.end_announced" }
func (PeriodRenewed) EventName() string         { return "billing.period_renewed" }

func (e PeriodInvoiced) Says() string {
	return "invoiced until " + wording.Day(e.PeriodEnd) + ", due " + wording.Day(e.DueAt)
}
func (PaymentOverdue) Says() string { return "the payment is overdue" }
func (e PaymentReminded) Says() string {
	return fmt.Sprintf("the customer is reminded of the payment, time %d", e.Count)
}

func (e SubscriptionSuspended) Says() string {
	return "suspended, because it is not paid; it ends " + wording.Day(e.EndsAt)
}

func (e EndAnnounced) Says() string {
	return "the customer is told that it ends " + wording.Day(e.NextAt)
}

func (e PeriodRenewed) Says() string {
	return "renewed until " + wording.Day(e.PeriodEnd) + wording.Around(" without a payment: ", e.Waived, "")
}

// Bills tells whether the next step of the subscription is an invoice, and whether it is
// due.
func (s Subscription) Bills(at time.Time) bool {
	return s.isDue(at) && s.Open == uuid.Nil && s.Status != Cancelling && !s.awaitsPayment()
}

func (s Subscription) isDue(at time.Time) bool { return s.lives() && !at.Before(s.NextAt) }

// NextPeriod is the period after the one that is paid for.
func (s Subscription) NextPeriod() (start, end time.Time) {
	return s.PeriodEnd, PeriodStart(s.Anchor, s.Cycle, s.Period-s.First+2)
}

// NextDue is when the invoice of the next period is due, if it is issued now.
func (s Subscription) NextDue(at time.Time, t Terms) time.Time {
	return later(s.PeriodEnd, at.Add(t.Lead))
}

// A step is what a subscription does next by itself.
type step int

const (
	bill     step = iota // the next period
	lapse                // a change of the plan that was not paid
	remind               // the customer of an open invoice
	charge               // the saved payment method
	overdue              // the due date has passed
	suspend              // the service
	announce             // the end of the service
	end                  // the service
)

// step is what follows, and when.
func (t Terms) step(s Subscription) (step, time.Time) {
	switch {
	case s.Status == Cancelling:
		return end, s.PeriodEnd
	case s.awaitsPayment():
		return lapse, s.Change.DueAt
	case s.Open == uuid.Nil && s.Change != nil:
		return bill, s.PeriodEnd
	case s.Open == uuid.Nil:
		return bill, s.PeriodEnd.Add(-t.Lead)
	}
	what, due := t.unpaid(s)
	if at, charges := t.charge(s); charges && !at.After(due) {
		return charge, at
	}
	return what, due
}

// unsettled is how long the end of a charge is waited for: it always comes, and until then
// nothing is decided against the customer.
const unsettled = 10 * 365 * day

// unpaid is what follows if the open invoice is not charged by itself before. A service is
// not suspended, and does not end, while a charge has no outcome yet.
func (t Terms) unpaid(s Subscription) (step, time.Time) {
	what, due := t.dunning(s)
	if s.Pending && (what == suspend || what == announce || what == end) {
		due = due.Add(unsettled)
	}
	return what, due
}

func (t Terms) dunning(s Subscription) (step, time.Time) {
	switch {
	case s.Status == Running && t.reminds(s, 0), s.Status == PastDue && t.reminds(s, t.Grace):
		return remind, s.DueAt.Add(t.Reminders[s.Reminders])
	case s.Status == Running && !s.Pending:
		return overdue, s.DueAt
	case s.Status == Running || s.Status == PastDue:
		return suspend, s.DueAt.Add(t.Grace)
	case !s.Warned:
		return announce, s.SuspendedAt.Add(t.Keep - t.Warning)
	}
	return end, s.SuspendedAt.Add(t.Keep)
}

// reminds tells whether a reminder is left that is due within a time after the due date. A
// customer whose method is charged needs none.
func (t Terms) reminds(s Subscription, within time.Duration) bool {
	_, charges := t.charge(s)
	return s.Reminders < len(t.Reminders) && t.Reminders[s.Reminders] < within && !charges && !s.Pending
}

// remindersUntil is how many reminders were due until a moment.
func (t Terms) remindersUntil(s Subscription, at time.Time) int {
	n := s.Reminders
	for n < len(t.Reminders) && !s.DueAt.Add(t.Reminders[n]).After(at) {
		n++
	}
	return n
}

// after is when the step after an event is due.
func (t Terms) after(e SubscriptionEvent, s Subscription, at time.Time) time.Time {
	s = e.evolve(s)
	what, due := t.step(s)
	if what == bill || what == lapse || what == charge || what == overdue || s.Status == Cancelling {
		return due
	}
	return later(due, at.Add(apart))
}

func (c Advance) decide(s Subscription) ([]SubscriptionEvent, error) {
	if !s.isDue(c.At) {
		return nil, nil
	}
	var next SubscriptionEvent
	what, due := c.Terms.step(s)
	if s.Pending && due.After(c.At) {
		return nil, nil // a deadline from before charges were waited for
	}
	switch what {
	case lapse:
		return []SubscriptionEvent{c.Terms.lapsed(s, c.At)}, nil
	case bill:
		changed, s := c.changing(s)
		from, to := s.NextPeriod()
		e := PeriodInvoiced{
			Period: s.Period + 1, Invoice: c.Invoice, PeriodStart: from, PeriodEnd: to,
			DueAt: s.NextDue(c.At, c.Terms), At: c.At,
		}
		e.NextAt = c.Terms.after(e, s, c.At)
		return append(changed, e), nil
	case remind:
		e := PaymentReminded{Invoice: s.Open, DueAt: s.DueAt, Count: s.Reminders + 1, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		next = e
	case charge:
		e := ChargeStarted{Invoice: s.Open, Method: s.Method, Count: s.Charges + 1, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		next = e
	case overdue:
		e := PaymentOverdue{Invoice: s.Open, DueAt: s.DueAt, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		next = e
	case suspend:
		e := SubscriptionSuspended{Invoice: s.Open, EndsAt: c.At.Add(c.Terms.Keep), At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		next = e
	case announce:
		e := EndAnnounced{Invoice: s.Open, At: c.At}
		e.NextAt = c.Terms.after(e, s, c.At)
		next = e
	default:
		next = SubscriptionEnded{Reason: s.endReason(), Open: s.Open, At: c.At}
	}
	return []SubscriptionEvent{next}, nil
}

func (s Subscription) endReason() string {
	if s.Status == Cancelling {
		return Cancelled
	}
	return Unpaid
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (c Renew) decide(s Subscription) ([]SubscriptionEvent, error) {
	switch {
	case s.Status == "":
		return nil, domain.Refuse(domain.NotFound, "No Subscription matches the given query.")
	case s.awaitsPayment() && s.Change.Invoice == c.Invoice && c.At.Before(s.Change.PeriodEnd):
		return []SubscriptionEvent{s.changed(c)}, nil
	case !s.lives() || s.Open != c.Invoice:
		return nil, &domain.Error{
			Code: domain.Conflict, Reason: "invalid_state",
			Message: "The invoice is not the open one of its subscription.",
		}
	}
	start, end := s.NextPeriod()
	e := PeriodRenewed{Period: s.Period + 1, Invoice: c.Invoice, PeriodStart: start, PeriodEnd: end, Waived: c.Waived, At: c.At}
	e.NextAt = c.Terms.after(e, s, c.At)
	return []SubscriptionEvent{e}, nil
}

func (e PeriodInvoiced) evolve(s Subscription) Subscription {
	s.Issued, s.Open, s.DueAt, s.Reminders, s.Warned, s.NextAt = s.Issued+1, e.Invoice, e.DueAt, 0, false, e.NextAt
	s.Charging = s.anew()
	return s
}

func (e PaymentOverdue) evolve(s Subscription) Subscription {
	s.Status, s.NextAt = PastDue, e.NextAt
	return s
}

func (e PaymentReminded) evolve(s Subscription) Subscription {
	s.Reminders, s.NextAt = e.Count, e.NextAt
	return s
}

func (e SubscriptionSuspended) evolve(s Subscription) Subscription {
	s.Status, s.SuspendedAt, s.NextAt = Suspended, e.At, e.NextAt
	return s
}

func (e EndAnnounced) evolve(s Subscription) Subscription {
	s.Warned, s.NextAt = true, e.NextAt
	return s
}

func (e PeriodRenewed) evolve(s Subscription) Subscription {
	s.Status, s.Period, s.PeriodStart, s.PeriodEnd = Running, e.Period, e.PeriodStart, e.PeriodEnd
	s.Open, s.DueAt, s.Reminders, s.Warned, s.SuspendedAt, s.NextAt = uuid.Nil, time.Time{}, 0, false, time.Time{}, e.NextAt
	s.Charging = s.anew()
	return s
}

func (c Advance) Stream() domain.Stream { return subscription(c.Order) }
func (c Renew) Stream() domain.Stream   { return subscription(c.Order) }
