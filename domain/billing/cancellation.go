package billing

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// A subscription is cancelled for the end of the period that is paid for, and the
// cancellation can be taken back until then (docs/invoices.md, "Cancelling").
type (
	// CancelAtEnd asks for the end of the service with its period, or now if that is over.
	// An invoice of the next period that is not paid yet is withdrawn.
	CancelAtEnd struct {
		Order uuid.UUID
		At    time.Time
	}
	// CancelNow ends the service at once. RefundUnused: the time that is paid for and not
	// used is refunded.
	CancelNow struct {
		Order        uuid.UUID
		RefundUnused bool
		At           time.Time
	}
	// KeepOn takes a cancellation back.
	KeepOn struct {
		Order uuid.UUID
		At    time.Time
		Terms Terms
	}
	// CancellationRequested: the service ends with its period. Open is the invoice that is
	// withdrawn.
	CancellationRequested struct {
		Open   uuid.UUID `json:"open,omitzero"`
		NextAt time.Time `json:"next_at"` // when the service ends
		At     time.Time `json:"at"`
	}
	// CancellationRevoked: the service goes on.
	CancellationRevoked struct {
		NextAt time.Time `json:"next_at"`
		At     time.Time `json:"at"`
	}
)

func (CancellationRequested) EventName() string { return "billing.cancellation_requested" }
func (CancellationRevoked) EventName() string   { return "billing.cancellation_revoked" }

func (e CancellationRequested) Says() string { return "cancelled for " + wording.Day(e.NextAt) }
func (CancellationRevoked) Says() string     { return "the cancellation is taken back" }

func (c CancelAtEnd) decide(s Subscription) ([]SubscriptionEvent, error) {
	switch {
	case !s.lives():
		return nil, s.over()
	case s.Status == Cancelling:
		return nil, nil
	case !c.At.Before(s.PeriodEnd): // what is paid for has ended
		return s.withoutChange(Cancelled, c.At, SubscriptionEnded{Reason: Cancelled, Open: s.Open, At: c.At}), nil
	}
	return s.withoutChange(Cancelled, c.At, CancellationRequested{Open: s.Open, NextAt: s.PeriodEnd, At: c.At}), nil
}

func (c CancelNow) decide(s Subscription) ([]SubscriptionEvent, error) {
	if !s.lives() {
		return nil, s.over()
	}
	ended := SubscriptionEnded{Reason: Cancelled, Open: s.Open, At: c.At}
	if c.RefundUnused {
		ended.Refund = s.unused(c.At).of(s.Price, placesOf(s.Currency))
	}
	return s.withoutChange(Cancelled, c.At, ended), nil
}

func (c KeepOn) decide(s Subscription) ([]SubscriptionEvent, error) {
	switch {
	case !s.lives():
		return nil, s.over()
	case s.Status != Cancelling:
		return nil, nil
	}
	e := CancellationRevoked{At: c.At}
	e.NextAt = c.Terms.after(e, s, c.At)
	return []SubscriptionEvent{e}, nil
}

// over refuses what an ended subscription cannot do.
func (s Subscription) over() error {
	if s.Status == "" {
		return domain.Refuse(domain.NotFound, "No Subscription matches the given query.")
	}
	return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "The subscription has ended."}
}

func (e CancellationRequested) evolve(s Subscription) Subscription {
	s.Status, s.Open, s.DueAt, s.NextAt = Cancelling, uuid.Nil, time.Time{}, e.NextAt
	s.Charging = s.anew()
	return s
}

func (e CancellationRevoked) evolve(s Subscription) Subscription {
	s.Status, s.NextAt = Running, e.NextAt
	return s
}

func (c CancelAtEnd) Stream() domain.Stream { return subscription(c.Order) }
func (c CancelNow) Stream() domain.Stream   { return subscription(c.Order) }
func (c KeepOn) Stream() domain.Stream      { return subscription(c.Order) }
