// Package domain holds what every part of the business shares: how a decision
// is made, how an event is named, who asked for it, and which refusals a caller
// can understand.
//
// Nothing below domain/ knows of databases, HTTP, the clock or chance. Time,
// new identifiers and prices arrive inside commands.
package domain

import (
	"encoding/json"
	"strings"
)

// A Stream names the history of one thing: "order-6f1c…", "site-42". Names of
// streams never hold personal data.
type Stream struct{ Category, ID string }

func (s Stream) String() string { return s.Category + "-" + s.ID }

// StreamNamed is the stream with a name.
func StreamNamed(name string) Stream {
	category, id, _ := strings.Cut(name, "-")
	return Stream{Category: category, ID: id}
}

// A Command asks one stream for a change. It may be refused.
type Command interface{ Stream() Stream }

// A Beginning is a command whose stream hardly ever exists, because its id was drawn
// or derived for this command. The store first decides it without reading the stream.
type Beginning interface {
	Command
	Begins()
}

// A Sequel is a command with a cause of its own, in a request whose commands follow from
// one another.
type Sequel struct {
	Command
	Cause Cause
}

// An Event is a recorded change.
type Event interface {
	// EventName is the stored name, in the past tense: "order.placed". It
	// never changes.
	EventName() string

	// Says describes the event in English, for histories and timelines. The
	// personal data in the event may have been erased: its texts are then empty.
	Says() string
}

// A Teller is an event that sets fields of the record that its stream is about.
type Teller interface {
	// Tells returns the fields by their names in the API, as something that
	// encoding/json makes an object of.
	Tells() any
}

// A Shown state completes the fields that the events of its stream have told, when
// a record is shown as of a moment.
type Shown interface {
	Shows(record map[string]json.RawMessage)
}

// A Decider is the whole behaviour of one category of streams. The zero S is
// the state before anything has happened. To both functions an empty map or slice in a
// state means the same as nil.
type Decider[S any, C Command, E Event] struct {
	// Decide answers a command with the events it causes, or refuses it with
	// an [Error]. No events and no error means: already so.
	Decide func(S, C) ([]E, error)

	// Evolve is what an event means. It cannot fail: the event has happened. It
	// changes no map or slice of the state that it gets: an older state stays as it was.
	Evolve func(S, E) S

	// Fold is the number of the fold. It is raised whenever Evolve makes another state
	// of an event than before: states that an older fold has stored are not used then.
	Fold int

	// Personal states hold personal texts of the events. They are cached for seconds
	// only, and never stored.
	Personal bool
}

// Replay folds a history, oldest event first, into the state it leads to.
func (d Decider[S, C, E]) Replay(history ...E) S {
	var state S
	for _, e := range history {
		state = d.Evolve(state, e)
	}
	return state
}

// A state that is Owned belongs to a tenant; the log marks its events with the
// tenant's number. Zero is no tenant.
type Owned interface{ TenantID() int64 }
