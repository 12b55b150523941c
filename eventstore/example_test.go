package eventstore_test

import (
	"fmt"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A course has ten seats. The state is what a decision needs, and nothing else.
type course struct{ Taken int }

type reserveSeats struct {
	Course string
	Seats  int
}

type seatsReserved struct {
	Seats int `json:"seats"`
}

func (c reserveSeats) Stream() domain.Stream { return domain.Stream{Category: "course", ID: c.Course} }
func (seatsReserved) EventName() string      { return "course.seats_reserved" }
func (e seatsReserved) Says() string         { return fmt.Sprintf("%d seats are reserved", e.Seats) }

var courses = domain.Decider[course, reserveSeats, seatsReserved]{
	Decide: func(c course, r reserveSeats) ([]seatsReserved, error) {
		if free := 10 - c.Taken; r.Seats > free {
			return nil, domain.Refuse(domain.Conflict, "only %d seats are free", free)
		}
		return []seatsReserved{{r.Seats}}, nil
	},
	Evolve: func(c course, e seatsReserved) course { return course{c.Taken + e.Seats} },
}

// A command is decided from the state of its stream. Its events are appended to the log, or
// nothing is.
func Example() {
	eventstoretest.Example(func(t testing.TB) {
		store := eventstoretest.Store(t, domain.NewCatalogue([]domain.EventType{domain.Register[seatsReserved]()}))
		eventstore.Serve(store, "course", courses)
		for _, seats := range []int{6, 7, 4} {
			receipt, err := store.Execute(t.Context(), domain.Metadata{Actor: "user:1"}, reserveSeats{"go", seats})
			fmt.Println("position", receipt.Position, err)
		}
		history, err := store.Read(t.Context(), reserveSeats{Course: "go"}.Stream())
		for _, e := range history {
			fmt.Println(e.Stream, e.Version, e.Event.Says(), "by", e.Metadata.Actor, err)
		}
	})
	// Output:
	// position 1 <nil>
	// position 0 only 4 seats are free
	// position 2 <nil>
	// course-go 1 6 seats are reserved by user:1 <nil>
	// course-go 2 4 seats are reserved by user:1 <nil>
}
