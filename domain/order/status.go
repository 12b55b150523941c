package order

import (
	"fmt"
	"slices"

	"hostpanel/domain"
)

// A Status is where an order stands, in the words of the API.
type Status string

const (
	StatusPending           Status = "pending"            // placed; no payment session yet
	StatusPaymentProcessing Status = "payment_processing" // a payment session is open
	StatusPaid              Status = "paid"               // the money is confirmed
	StatusProvisioning      Status = "provisioning"       // the service is being set up
	StatusActive            Status = "active"             // the service runs
	StatusFailed            Status = "failed"             // provisioning failed; a payment that comes to nothing is cancelled
	StatusCancelled         Status = "cancelled"          // given up before it was paid, or ended by an operator
	StatusRefunded          Status = "refunded"           // all of the money has gone back
)

// Statuses are all of them.
var Statuses = []Status{
	StatusPending, StatusPaymentProcessing, StatusPaid, StatusProvisioning,
	StatusFailed, StatusActive, StatusCancelled, StatusRefunded,
}

// next lists, for each status, the statuses an order may move on to. The empty
// status is that of an order that was not placed.
var next = map[Status][]Status{
	"":                      {StatusPending},
	StatusPending:           {StatusPaymentProcessing, StatusCancelled},
	StatusPaymentProcessing: {StatusPaid, StatusCancelled, StatusRefunded},
	StatusPaid:              {StatusProvisioning, StatusRefunded, StatusCancelled}, // cancelled: only if no money was ever taken
	StatusProvisioning:      {StatusActive, StatusFailed, StatusRefunded, StatusCancelled},
	StatusFailed:            {StatusProvisioning, StatusRefunded, StatusCancelled},
	StatusActive:            {StatusRefunded, StatusCancelled}, // cancelled: an operator ends the service
	StatusCancelled:         {StatusPaid, StatusRefunded},      // the money came after all
	StatusRefunded:          {},
}

// A Hold is a reason why a person has to look at an order.
type Hold string

const (
	MismatchHold  Hold = "payment_mismatch"  // money came, but not as ordered
	DuplicateHold Hold = "duplicate_payment" // the order was paid more than once
	DisputeHold   Hold = "dispute"           // a dispute is open, or was reported
	RefundHold    Hold = "refund_failed"     // a refund has failed
	OperatorHold  Hold = "needs_operator"    // compensation is parked, or money is left without a service
)

// A Warning is something that went wrong without stopping the order.
type Warning string

// MailWarning stands while the welcome mail has not been accepted.
const MailWarning Warning = "welcome_mail_delayed"

// move answers with e if the order may move to status s. An order that is
// there already has nothing left to decide.
func (o Order) move(s Status, e Event) ([]Event, error) {
	switch {
	case o.Status == s:
		return nil, nil
	case !slices.Contains(next[o.Status], s):
		return nil, o.forbids("cannot become %s", s)
	}
	return []Event{e}, nil
}

// forbids refuses what the order's status does not allow.
func (o Order) forbids(what string, args ...any) error {
	if o.Status == "" {
		return domain.Refuse(domain.NotFound, "No Order matches the given query.")
	}
	return &domain.Error{
		Code: domain.Conflict, Reason: "invalid_state",
		Message: "The order is " + string(o.Status) + " and " + fmt.Sprintf(what, args...) + ".",
	}
}

// with and without add to and take from a set that is kept sorted; the set
// they are given stays as it is.
func with[T ~string](set []T, x T) []T {
	if slices.Contains(set, x) {
		return set
	}
	return slices.Sorted(slices.Values(append(slices.Clone(set), x)))
}

func without[T ~string](set []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(set), func(y T) bool { return x == y })
}
