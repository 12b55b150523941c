package order

import (
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// Expire gives up an order whose customer could not be sent to pay in time. The
// time for paying itself is [Observe]'s: only the provider knows whether it was
// paid.
type Expire struct {
	ID uuid.UUID
	At time.Time
}

// Cancel gives up an order. One that is not paid is cancelled: where a session
// was opened, it is first expired at the provider and then fetched, and what
// was paid until then counts. One that is paid is taken back by its run before
// its money goes back; of one that is active the service ends, and the money
// stays.
type Cancel struct {
	ID      uuid.UUID
	By      CancelReason // ByCustomer or ByAdmin
	Reason  string       // an operator's, in words
	Observe Observe      // the truth after the session was expired; not used while there is no session
	At      time.Time
}

func (c Expire) decide(o Order) ([]Event, error) {
	if o.Status != StatusPending || o.OnHold() {
		return nil, nil // a session was opened, or money came without one
	}
	return []Event{o.cancelled(NoSession, "", c.At)}, nil
}

func (c Cancel) decide(o Order) ([]Event, error) {
	if o.PaysInvoice() && o.Confirmed != "" {
		return nil, o.forbids("has paid an invoice: its money can be refunded")
	}
	switch o.Status {
	case StatusPending:
		if o.OnHold() {
			return nil, o.forbids("cannot be cancelled while its payment is checked")
		}
		return []Event{o.cancelled(NoSession, c.Reason, c.At)}, nil
	case StatusPaymentProcessing:
		return c.unpaid(o)
	case StatusPaid, StatusProvisioning, StatusFailed:
		if o.CancelRequested {
			return nil, nil
		}
		return []Event{CancelRequested{By: c.By, Reason: c.Reason, At: c.At}}, nil
	case StatusActive:
		return []Event{o.cancelled(Ended, c.Reason, c.At)}, nil
	default:
		return nil, o.forbids("cannot be cancelled")
	}
}

// unpaid cancels unless the order was paid, or still may be. Where the money
// moves only when we fetch it, it is enough never to do so.
func (c Cancel) unpaid(o Order) ([]Event, error) {
	after, facts := c.Observe.money(o)
	truth := c.Observe.Fetched
	over := truth.State == SessionExpired || truth.ByCapture && truth.State != SessionComplete
	switch {
	case after.Status != StatusPaymentProcessing:
		return facts, nil
	case after.any(StatePaid) || after.any(StatePending):
		return nil, o.forbids("cannot be cancelled while its payment is checked")
	case truth.Session != o.Session || !over:
		return nil, o.forbids("can still be paid")
	}
	return append(facts, after.cancelled(c.By, c.Reason, c.At)), nil
}

// cancelled ends the order, and the holds that only an order that goes on can have.
func (o Order) cancelled(why CancelReason, note string, at time.Time) Event {
	e := Cancelled{Reason: why, Note: note, At: at}
	e.Holds = o.changedHolds(e)
	return e
}

func (c Expire) Stream() domain.Stream { return Stream(c.ID) }
func (c Cancel) Stream() domain.Stream { return Stream(c.ID) }
