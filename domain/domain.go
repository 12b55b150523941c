// Package domain holds what every part of the business shares: how a decision
// is made, how a fact is named, who asked for it, and which refusals a caller
// can understand.
//
// Nothing below domain/ knows of databases, HTTP, the clock or chance. Time,
// new identifiers and prices arrive inside commands.
package domain

// A Stream names the history of one thing: "order-6f1c…", "site-42". Names of
// streams never hold personal data.
type Stream struct{ Category, ID string }

func (s Stream) String() string { return s.Category + "-" + s.ID }

// A Command asks one stream for a change. It may be refused.
type Command interface{ Stream() Stream }

// An Event is a fact, named in the past tense ("order.placed"). The name is
// what the log keeps, so it outlives the Go type: it never changes.
type Event interface{ EventName() string }

// A Decider is the whole behaviour of one category of streams. The zero S is
// the state before anything has happened.
type Decider[S any, C Command, E Event] struct {
	// Decide answers a command with the facts it causes, or refuses it with
	// an [Error]. No facts and no error means: already so.
	Decide func(S, C) ([]E, error)

	// Evolve is what a fact means. It cannot fail: the fact has happened.
	Evolve func(S, E) S
}

// Replay folds a history, oldest fact first, into the state it leads to.
func (d Decider[S, C, E]) Replay(history ...E) S {
	var state S
	for _, e := range history {
		state = d.Evolve(state, e)
	}
	return state
}

// A state that is Owned belongs to a tenant; the log marks its facts with the
// tenant's number. Zero is no tenant.
type Owned interface{ TenantID() int64 }
