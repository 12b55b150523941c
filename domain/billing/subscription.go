// Package billing is what a customer is billed for: the subscription that an
// order starts, and its invoices (docs/orders.md, "Invoices").
package billing

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// SubscriptionCategory is that of the streams "subscription-<order>".
const SubscriptionCategory = "subscription"

// A Subscription is a running service, the period that is paid for, and how far the next
// one is (docs/invoices.md, "Renewals").
type Subscription struct {
	Status      SubscriptionStatus `json:"status"`
	Order       uuid.UUID          `json:"order"`
	Tenant      int64              `json:"tenant"`
	Plan        int64              `json:"plan"`
	PlanName    string             `json:"plan_name"`
	Cycle       string             `json:"cycle"` // monthly, yearly
	Price       decimal.Decimal    `json:"price"` // of one period
	Currency    string             `json:"currency"`
	Anchor      time.Time          `json:"anchor,omitzero"` // from which periods are counted
	First       int                `json:"first,omitempty"` // the period that begins at the anchor
	Period      int                `json:"period"`          // which one is paid for; the first is 0
	PeriodStart time.Time          `json:"period_start,omitzero"`
	PeriodEnd   time.Time          `json:"period_end,omitzero"` // the first moment that is not paid for

	Issued      int       `json:"issued"`        // invoices of renewals so far
	Open        uuid.UUID `json:"open,omitzero"` // the invoice that is not paid yet
	DueAt       time.Time `json:"due_at,omitzero"`
	Reminders   int       `json:"reminders,omitempty"` // since it was due
	SuspendedAt time.Time `json:"suspended_at,omitzero"`
	Warned      bool      `json:"warned,omitempty"` // that the service ends
	Charging

	Change *PendingChange `json:"change,omitempty"` // of the plan, until it counts; nil: none was asked for

	NextAt time.Time `json:"next_at,omitzero"` // when it has to go on by itself; see [Advance]
}

// TenantID is the tenant that is served.
func (s Subscription) TenantID() int64 { return s.Tenant }

// A SubscriptionStatus is where a subscription stands.
type SubscriptionStatus string

const (
	Running    SubscriptionStatus = "active"     // it bills a service
	Cancelling SubscriptionStatus = "cancelling" // likewise, until its period ends
	PastDue    SubscriptionStatus = "past_due"   // the service runs, but its next period is not paid
	Suspended  SubscriptionStatus = "suspended"  // the service rests until it is paid
	Over       SubscriptionStatus = "ended"      // the service has ended
)

// Statuses are all of them.
var Statuses = []string{string(Running), string(Cancelling), string(PastDue), string(Suspended), string(Over)}

// Subscriptions is the behaviour of the streams "subscription-<order>".
var Subscriptions = domain.Decider[Subscription, SubscriptionCommand, SubscriptionEvent]{
	Decide: func(s Subscription, c SubscriptionCommand) ([]SubscriptionEvent, error) { return c.decide(s) },
	Evolve: func(s Subscription, e SubscriptionEvent) Subscription { return e.evolve(s) },
	Fold:   1,
}

type (
	// A SubscriptionCommand asks a subscription for a change.
	SubscriptionCommand interface {
		domain.Command
		decide(Subscription) ([]SubscriptionEvent, error)
	}
	// A SubscriptionEvent belongs to the stream of a subscription.
	SubscriptionEvent interface {
		domain.Event
		evolve(Subscription) Subscription
	}
)

type (
	// Subscribe starts the subscription of an order with its first period.
	Subscribe struct {
		Order         uuid.UUID
		Tenant, User  int64
		Plan          int64
		PlanName      string
		BillingPeriod string          // monthly, yearly
		Price         decimal.Decimal // of one period
		Currency      string
		At            time.Time
		Terms         Terms
	}
	// End ends a subscription.
	End struct {
		Order  uuid.UUID
		Reason string // such as "undone", "refunded", "ended"
		At     time.Time
	}
)

func (c Subscribe) decide(s Subscription) ([]SubscriptionEvent, error) {
	if s.Status != "" {
		return nil, nil
	}
	end := PeriodStart(c.At, c.BillingPeriod, 1)
	return []SubscriptionEvent{SubscriptionStarted{
		Order: c.Order, Tenant: c.Tenant, User: c.User, Plan: c.Plan, PlanName: c.PlanName,
		BillingPeriod: c.BillingPeriod, Price: c.Price, Currency: c.Currency,
		PeriodStart: c.At, PeriodEnd: end, NextAt: end.Add(-c.Terms.Lead),
	}}, nil
}

func (c End) decide(s Subscription) ([]SubscriptionEvent, error) {
	if !s.lives() {
		return nil, nil
	}
	return s.withoutChange(c.Reason, c.At, SubscriptionEnded{Reason: c.Reason, Open: s.Open, At: c.At}), nil
}

func subscription(order uuid.UUID) domain.Stream {
	return domain.Stream{Category: SubscriptionCategory, ID: order.String()}
}

func (c Subscribe) Stream() domain.Stream { return subscription(c.Order) }
func (c End) Stream() domain.Stream       { return subscription(c.Order) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (Subscribe) Begins() {}

type (
	// SubscriptionStarted: an order bills a plan from PeriodStart to PeriodEnd. Price
	// is that of one period, in units of the currency.
	SubscriptionStarted struct {
		Order         uuid.UUID       `json:"order"`
		Tenant        int64           `json:"tenant"`
		User          int64           `json:"user"`
		Plan          int64           `json:"plan"`
		PlanName      string          `json:"plan_name"`
		BillingPeriod string          `json:"billing_period"`
		Price         decimal.Decimal `json:"price"`
		Currency      string          `json:"currency"`
		PeriodStart   time.Time       `json:"period_start"`
		PeriodEnd     time.Time       `json:"period_end"`
		NextAt        time.Time       `json:"next_at"` // when its next invoice is issued
	}
	// SubscriptionEnded: the service is no longer billed. Open is the invoice that was not
	// paid until then. Refund is the price of the paid time that is not used, tax included;
	// zero: nothing is refunded.
	SubscriptionEnded struct {
		Reason string          `json:"reason"`
		Open   uuid.UUID       `json:"open,omitzero"`
		Refund decimal.Decimal `json:"refund,omitzero"`
		At     time.Time       `json:"at"`
	}
)

// The reasons for which a subscription ends by itself.
const (
	Unpaid    = "unpaid"    // its last invoice was not paid in time
	Cancelled = "cancelled" // the customer or an operator has cancelled it
)

// The reasons for which a subscription ends because the money of its order has gone back.
const (
	Refunded    = "refunded"
	ChargedBack = "chargeback"
)

func (SubscriptionStarted) EventName() string { return "billing.subscription_started" }
func (SubscriptionEnded) EventName() string   { return "billing.subscription_ended" }

func (e SubscriptionStarted) Says() string {
	return fmt.Sprintf("subscribed to %s, %s, until %s", e.PlanName, e.BillingPeriod, wording.Day(e.PeriodEnd))
}

func (e SubscriptionEnded) Says() string {
	says := "ended: " + wording.Spaced(e.Reason)
	if e.Refund.IsPositive() {
		says += "; " + e.Refund.StringFixed(2) + " of unused time is refunded"
	}
	return says
}

func (e SubscriptionStarted) evolve(Subscription) Subscription {
	return Subscription{
		Status: Running, Order: e.Order, Tenant: e.Tenant, Plan: e.Plan, PlanName: e.PlanName, Cycle: e.BillingPeriod,
		Price: e.Price, Currency: e.Currency,
		Anchor: e.PeriodStart, PeriodStart: e.PeriodStart, PeriodEnd: e.PeriodEnd, NextAt: e.NextAt,
	}
}

// A subscription1 is SubscriptionStarted as it was before there were renewals.
type subscription1 struct{ SubscriptionStarted }

func withDeadline(was subscription1) SubscriptionStarted {
	was.NextAt = was.PeriodEnd
	return was.SubscriptionStarted
}

func (SubscriptionEnded) evolve(s Subscription) Subscription {
	s.Status, s.NextAt = Over, time.Time{}
	return s
}

// lives tells whether there is something to bill.
func (s Subscription) lives() bool { return s.Status != "" && s.Status != Over }
