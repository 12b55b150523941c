package projections

import (
	"fmt"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

type (
	seatsReserved struct{ Guest string }
	seatsReturned struct{}
)

func (seatsReserved) EventName() string { return "table.seats_reserved" }
func (seatsReserved) Says() string      { return "seats are reserved" }
func (seatsReturned) EventName() string { return "table.seats_returned" }
func (seatsReturned) Says() string      { return "seats are returned" }

// A read table is SQL and a handler for each event. An event becomes changes of rows, in the
// transaction that appends it. A unique index is a rule across streams.
func Example() {
	reservations := New("reservations", `
		create table reservations (id text primary key, guest text not null, since timestamptz not null);
		create unique index reservations_guest on reservations (guest)`,
		On(func(at eventstore.RecordedEvent, e seatsReserved) Change {
			return insert("reservations", Row{{"id", at.Stream.ID}, {"guest", e.Guest}, {"since", now}})
		}).Unique("reservations_guest", domain.Refuse(domain.Conflict, "The guest has a table.")),
		On(func(at eventstore.RecordedEvent, _ seatsReturned) Change {
			return remove("reservations", Row{{"id", at.Stream.ID}})
		}),
	)
	stream := domain.Stream{Category: "table", ID: "4"}
	for _, event := range []domain.Event{seatsReserved{"Ana"}, seatsReturned{}} {
		for _, s := range reservations.Project(eventstore.RecordedEvent{Stream: stream, Event: event, Name: event.EventName()}) {
			fmt.Println(s.SQL, s.Args)
			for index, refusal := range s.Taken {
				fmt.Println(index+":", refusal)
			}
		}
	}
	// Output:
	// insert into reservations as t (id, guest, since) values ($1::text, $2::text, recorded_at()) [4 Ana]
	// reservations_guest: The guest has a table.
	// delete from reservations as t where t.id = $1::text [4]
}
