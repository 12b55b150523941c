package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// How an order that is paid comes to its end otherwise than by running
// (docs/orders.md, "Cancelling"): an operator asks for it, the run takes back
// what it has made, and then the money goes back.
type (
	// StartCompensation tells that the run has turned round.
	StartCompensation struct {
		ID uuid.UUID
		At time.Time
	}
	// ParkCompensation tells that the run cannot take back a step.
	ParkCompensation struct {
		ID   uuid.UUID
		Step string
		Code string
		At   time.Time
	}
	// CompleteCompensation tells that nothing is left of what the run had
	// made. What is left of the money goes back.
	CompleteCompensation struct {
		ID uuid.UUID
		At time.Time
	}
)

type (
	// CancelRequested asks the run to take back what it has made.
	CancelRequested struct {
		By     CancelReason `json:"by"`
		Reason string       `json:"reason,omitempty"` // an operator's, in words
		At     time.Time    `json:"at"`
	}
	// CompensationStarted: what was set up is being taken back.
	CompensationStarted struct {
		At time.Time `json:"at"`
	}
	// CompensationParked: taking back has stopped at a step and needs an operator.
	CompensationParked struct {
		Step  string    `json:"step"`
		Code  string    `json:"code"`
		Holds []Hold    `json:"holds"`
		At    time.Time `json:"at"`
	}
	// CompensationCompleted: everything that was set up has been taken back.
	CompensationCompleted struct {
		Holds []Hold    `json:"holds"`
		At    time.Time `json:"at"`
	}
)

func (CancelRequested) EventName() string       { return "order.cancel_requested" }
func (CompensationStarted) EventName() string   { return "order.compensation_started" }
func (CompensationParked) EventName() string    { return "order.compensation_parked" }
func (CompensationCompleted) EventName() string { return "order.compensation_completed" }

func (e CancelRequested) Says() string   { return "to be cancelled" + wording.Around(": ", e.Reason, "") }
func (CompensationStarted) Says() string { return "what was set up is being taken back" }

func (e CompensationParked) Says() string {
	return "taking back stopped at " + e.Step + ": " + wording.Spaced(e.Code)
}

func (CompensationCompleted) Says() string { return "everything that was set up has been taken back" }

// A Service is how the service of an order should be, now; empty: it has none
// that runs yet.
type Service string

const (
	ServiceRuns      Service = "running"   // as paid for
	ServiceSuspended Service = "suspended" // the payment is disputed
	ServiceEnds      Service = "ending"    // the money is gone back, or an operator ended it
)

// Service tells how the service of the order should be.
func (o Order) Service() Service {
	switch {
	case o.PaysInvoice():
		return ""
	case o.Status == StatusRefunded, o.Status == StatusCancelled && o.Cause == Ended:
		return ServiceEnds
	case o.Status == StatusActive && o.isDisputed():
		return ServiceSuspended
	case o.Status == StatusActive:
		return ServiceRuns
	}
	return ""
}

// TurnsBack tells whether the run of the order has to take back what it made.
func (o Order) TurnsBack() bool {
	return o.Confirmed != "" && !o.PaysInvoice() && (o.CancelRequested || o.Status == StatusRefunded) && !o.Compensated
}

func (c StartCompensation) decide(o Order) ([]Event, error) {
	switch {
	case o.Confirmed == "" || o.Status == StatusActive:
		return nil, o.forbids("is not taken back")
	case o.Compensating || o.Compensated:
		return nil, nil
	}
	return []Event{CompensationStarted{At: c.At}}, nil
}

func (c ParkCompensation) decide(o Order) ([]Event, error) {
	switch {
	case o.Confirmed == "" || o.Status == StatusActive:
		return nil, o.forbids("is not taken back")
	case o.Stuck || o.Compensated:
		return nil, nil
	}
	e := CompensationParked{Step: c.Step, Code: c.Code, At: c.At}
	e.Holds = o.holdsAfter(e)
	return []Event{e}, nil
}

func (c CompleteCompensation) decide(o Order) ([]Event, error) {
	switch {
	case o.Confirmed == "" || o.Status == StatusActive:
		return nil, o.forbids("is not taken back")
	case o.Compensated:
		return nil, nil
	}
	done := CompensationCompleted{At: c.At}
	done.Holds = o.holdsAfter(done)
	o = done.evolve(o)
	facts := []Event{done}
	if o.Status == StatusRefunded || o.Status == StatusCancelled {
		return facts, nil
	}
	for _, p := range o.returnable() {
		if left := o.Left(p.ID); left > 0 {
			o, facts = o.ask(facts, Ask{Payment: p.ID, Minor: left, Currency: p.Currency}, RefundOfCancelled, "", c.At)
		}
	}
	if o.isFree() {
		facts = append(facts, o.cancelled(ByAdmin, "", c.At))
	}
	return facts, nil
}

// isFree tells whether no money was ever taken.
func (o Order) isFree() bool {
	for _, sum := range o.Received() {
		if sum > 0 {
			return false
		}
	}
	return true
}

func (CancelRequested) evolve(o Order) Order { o.CancelRequested = true; return o }

func (CompensationStarted) evolve(o Order) Order { o.Compensating = true; return o }

func (e CompensationParked) evolve(o Order) Order {
	o.Stuck, o.Holds = true, e.Holds
	return o
}

func (e CompensationCompleted) evolve(o Order) Order {
	o.Compensating, o.Compensated, o.Stuck, o.Holds = false, true, false, e.Holds
	return o
}

func (c StartCompensation) Stream() domain.Stream    { return Stream(c.ID) }
func (c ParkCompensation) Stream() domain.Stream     { return Stream(c.ID) }
func (c CompleteCompensation) Stream() domain.Stream { return Stream(c.ID) }
