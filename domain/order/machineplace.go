package order

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// The place of a virtual server is reserved when its order is placed or opened again. It is
// freed when the order ends without a machine, or with the machine (docs/machines-stock.md).

// ResizePlace reserves another size for the machine of an order, on the node that it has.
// An order without a place has nothing to reserve.
type ResizePlace struct {
	ID   uuid.UUID
	Size compute.Size
	At   time.Time
}

// PlaceResized: the place of the machine has another size.
type PlaceResized struct {
	compute.Size
	Grows bool      `json:"grows,omitempty"`
	At    time.Time `json:"at"`
}

func (PlaceResized) EventName() string { return "order.place_resized" }

func (e PlaceResized) Says() string {
	return fmt.Sprintf("reserved for the machine: %d cores, %d MB memory, %d GB disk", e.Cores, e.MemoryMB, e.DiskGB)
}

func (c ResizePlace) decide(o Order) ([]Event, error) {
	switch {
	case o.Status == "":
		return nil, o.forbids("")
	case o.Place == nil || *o.Place == c.Size:
		return nil, nil
	}
	return []Event{PlaceResized{Size: c.Size, Grows: c.Size.Exceeds(*o.Place), At: c.At}}, nil
}

func (e PlaceResized) evolve(o Order) Order {
	o.Place = &e.Size
	return o
}

// placed has the place of a machine, if there is one.
func (o Order) placed(p *compute.Placement) Order {
	if p != nil {
		o.Place = &p.Size
	}
	return o
}

// FreesPlace tells whether the place of a machine is free after an event of its order: no
// machine was made, or all of it has been taken back.
func FreesPlace(e domain.Event) bool {
	unpaid := func(before Status) bool { return before == StatusPending || before == StatusPaymentProcessing }
	switch e := e.(type) {
	case Cancelled:
		return e.Reason != Ended
	case CompensationCompleted:
		return true
	case RefundCompleted:
		return unpaid(e.Before)
	case DisputeClosed:
		return e.Chargeback && unpaid(e.Before)
	}
	return false
}

func (c ResizePlace) Stream() domain.Stream { return Stream(c.ID) }
