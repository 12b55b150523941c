package billing

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// Extend gives the customer of an open invoice more time, on an operator's word: all that
// follows an overdue payment counts from the new day on. A service that rests comes back.
type Extend struct {
	Order  uuid.UUID
	Until  time.Time
	Reason string
	At     time.Time
	Terms  Terms
}

// PaymentExtended: the payment of an invoice may take longer.
type PaymentExtended struct {
	Invoice uuid.UUID `json:"invoice"`
	Until   time.Time `json:"until"`
	Reason  string    `json:"reason"`
	NextAt  time.Time `json:"next_at"`
	At      time.Time `json:"at"`
}

func (PaymentExtended) EventName() string { return "billing.payment_extended" }

func (e PaymentExtended) Says() string {
	return "may be paid until " + wording.Day(e.Until) + ": " + e.Reason
}

func (c Extend) decide(s Subscription) ([]SubscriptionEvent, error) {
	switch {
	case c.Reason == "":
		return nil, domain.RefuseField("reason", "This field is required.")
	case !s.lives():
		return nil, s.over()
	case s.Open == uuid.Nil:
		return nil, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The subscription has no open invoice."}
	case !c.Until.After(c.At) || !c.Until.After(s.DueAt):
		return nil, domain.RefuseField("until", "Give a day after today and after the due date.")
	}
	e := PaymentExtended{Invoice: s.Open, Until: c.Until, Reason: c.Reason, At: c.At}
	e.NextAt = c.Terms.after(e, s, c.At)
	return []SubscriptionEvent{e}, nil
}

func (e PaymentExtended) evolve(s Subscription) Subscription {
	s.Status, s.DueAt, s.Reminders, s.Warned, s.SuspendedAt, s.NextAt = Running, e.Until, 0, false, time.Time{}, e.NextAt
	s.Charging = s.anew()
	return s
}

func (c Extend) Stream() domain.Stream { return subscription(c.Order) }
