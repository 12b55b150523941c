package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

type (
	// Accept takes money that came otherwise than ordered for the order's own: an
	// operator has looked at it (rule T11). Or it keeps money whose service has ended.
	Accept struct {
		ID     uuid.UUID
		Reason string // the operator's, in words
		At     time.Time
	}
	// HoldPayment has an operator decide about money that has paid for time of a service
	// that has ended.
	HoldPayment struct {
		ID      uuid.UUID
		Service uuid.UUID // the order whose service has ended
		Why     string    // it has ended, such as "refunded"
		At      time.Time
	}
)

type (
	// PaymentAccepted is that decision; PaymentConfirmed follows in the same breath, unless
	// the payment was confirmed before.
	PaymentAccepted struct {
		Payment string    `json:"payment"` // the provider's id
		Reason  string    `json:"reason"`
		Holds   []Hold    `json:"holds"`
		At      time.Time `json:"at"`
	}
	// PaymentHeld: the service that the order has paid for has ended before the time that
	// is paid, and the money is still there.
	PaymentHeld struct {
		Service uuid.UUID `json:"service"`
		Why     string    `json:"why"`
		Holds   []Hold    `json:"holds"`
		At      time.Time `json:"at"`
	}
)

func (PaymentAccepted) EventName() string { return "order.payment_accepted" }
func (PaymentHeld) EventName() string     { return "order.payment_held" }

func (e PaymentHeld) Says() string {
	return "the service that is paid for has ended (" + wording.Spaced(e.Why) + "): an operator decides about the money"
}

func (e PaymentAccepted) Says() string {
	return "payment " + e.Payment + " taken as it is: " + e.Reason
}

func (c Accept) decide(o Order) ([]Event, error) {
	if c.Reason == "" {
		return nil, domain.RefuseField("reason", "This field is required.")
	}
	if o.Unserved {
		accepted := PaymentAccepted{Payment: o.Confirmed, Reason: c.Reason, At: c.At}
		accepted.Holds = o.holdsAfter(accepted)
		return []Event{accepted}, nil
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
	o.Confirmed, o.Unlike, o.Unserved, o.Holds = e.Payment, false, false, e.Holds
	return o
}

func (c HoldPayment) decide(o Order) ([]Event, error) {
	switch {
	case o.Status == "":
		return nil, o.forbids("")
	case o.Unserved, o.Left(o.Confirmed) == 0:
		return nil, nil
	}
	e := PaymentHeld{Service: c.Service, Why: c.Why, At: c.At}
	e.Holds = o.holdsAfter(e)
	return []Event{e}, nil
}

func (e PaymentHeld) evolve(o Order) Order {
	o.Unserved, o.Holds = true, e.Holds
	return o
}

func (c Accept) Stream() domain.Stream      { return Stream(c.ID) }
func (c HoldPayment) Stream() domain.Stream { return Stream(c.ID) }
