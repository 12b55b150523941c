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

// A Subscription is a running service and the period that is paid for.
type Subscription struct {
	Status      SubscriptionStatus `json:"status"`
	Tenant      int64              `json:"tenant"`
	PeriodStart time.Time          `json:"period_start,omitzero"`
	PeriodEnd   time.Time          `json:"period_end,omitzero"` // the first moment that is not paid for
}

// TenantID is the tenant that is served.
func (s Subscription) TenantID() int64 { return s.Tenant }

// A SubscriptionStatus is where a subscription stands.
type SubscriptionStatus string

const (
	Running SubscriptionStatus = "active" // it bills a service
	Over    SubscriptionStatus = "ended"  // the service has ended
)

// Subscriptions is the behaviour of the streams "subscription-<order>".
var Subscriptions = domain.Decider[Subscription, SubscriptionCommand, SubscriptionEvent]{
	Decide: func(s Subscription, c SubscriptionCommand) ([]SubscriptionEvent, error) { return c.decide(s) },
	Evolve: func(s Subscription, e SubscriptionEvent) Subscription { return e.evolve(s) },
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
	return []SubscriptionEvent{SubscriptionStarted{
		Order: c.Order, Tenant: c.Tenant, User: c.User, Plan: c.Plan, PlanName: c.PlanName,
		BillingPeriod: c.BillingPeriod, Price: c.Price, Currency: c.Currency,
		PeriodStart: c.At, PeriodEnd: PeriodStart(c.At, c.BillingPeriod, 1),
	}}, nil
}

func (c End) decide(s Subscription) ([]SubscriptionEvent, error) {
	if s.Status != Running {
		return nil, nil
	}
	return []SubscriptionEvent{SubscriptionEnded{Reason: c.Reason, At: c.At}}, nil
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
	}
	// SubscriptionEnded: the service is no longer billed.
	SubscriptionEnded struct {
		Reason string    `json:"reason"`
		At     time.Time `json:"at"`
	}
)

func (SubscriptionStarted) EventName() string { return "billing.subscription_started" }
func (SubscriptionEnded) EventName() string   { return "billing.subscription_ended" }

func (e SubscriptionStarted) Says() string {
	return fmt.Sprintf("subscribed to %s, %s, until %s", e.PlanName, e.BillingPeriod, wording.Day(e.PeriodEnd))
}

func (e SubscriptionEnded) Says() string { return "ended: " + wording.Spaced(e.Reason) }

func (e SubscriptionStarted) evolve(Subscription) Subscription {
	return Subscription{Status: Running, Tenant: e.Tenant, PeriodStart: e.PeriodStart, PeriodEnd: e.PeriodEnd}
}

func (SubscriptionEnded) evolve(s Subscription) Subscription { s.Status = Over; return s }
