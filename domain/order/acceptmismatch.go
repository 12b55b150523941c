package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// Accept takes money that came otherwise than ordered for the order's own: an
// operator has looked at it (rule T11).
type Accept struct {
	ID     uuid.UUID
	Reason string // the operator's, in words
	At     time.Time
}

// PaymentAccepted is that decision; PaymentConfirmed follows in the same breath.
type PaymentAccepted struct {
	Payment string    `json:"payment"` // the provider's id
	Reason  string    `json:"reason"`
	Holds   []Hold    `json:"holds"`
	At      time.Time `json:"at"`
}

func (PaymentAccepted) EventName() string { return "order.payment_accepted" }

func (e PaymentAccepted) Says() string {
	return "payment " + e.Payment + " taken as it is: " + e.Reason
}

func (c Accept) decide(o Order) ([]Event, error) {
	if c.Reason == "" {
		return nil, domain.RefuseField("reason", "This field is required.")
	}
	for _, p := range o.returnable() {
		if o.Status == StatusPaymentProcessing && o.isStray(p) && o.Left(p.ID) == p.Minor {
			accepted := PaymentAccepted{Payment: p.ID, Reason: c.Reason, At: c.At}
			accepted.Holds = o.holdsAfter(accepted)
			return []Event{accepted, PaymentConfirmed{Payment: p, At: c.At}}, nil
		}
	}
	return nil, o.forbids("has no payment that could be accepted")
}

func (e PaymentAccepted) evolve(o Order) Order {
	o.Confirmed, o.Unlike, o.Holds = e.Payment, false, e.Holds
	return o
}

func (c Accept) Stream() domain.Stream { return Stream(c.ID) }
