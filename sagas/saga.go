// Package sagas carries out business that takes more than one stream or that
// reaches outside: it provisions what was paid for, finds out what payment
// providers hold for true, and sends the mails that must not get lost.
//
// A saga is a list of steps. What one execution of it, a run, has done so far
// is a stream of its own, so it goes on after a crash where it stopped; what
// it may have done outside stands in a ledger, so it looks before it repeats
// anything. docs/sagas.md tells the whole story.
package sagas

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// A Job is what a run knows of its business: ids, and what an operator has
// corrected. Personal data is read when it is needed and never kept here.
type Job struct {
	Order  uuid.UUID    `json:"order"`
	Type   string       `json:"type,omitempty"` // hosting, vps, saas
	User   int64        `json:"user,omitempty"`
	Opened bool         `json:"opened,omitempty"` // the account was opened for this order
	Tenant int64        `json:"tenant,omitempty"`
	Site   int64        `json:"site,omitempty"`
	VM     int64        `json:"vm,omitempty"`
	Client int64        `json:"client,omitempty"` // the engine's id of the tenant
	Refund int          `json:"refund,omitempty"` // the number of the decision to give money back
	Domain string       `json:"domain,omitempty"` // instead of the one that was ordered
	OS     string       `json:"os_choice,omitempty"`
	Effect string       `json:"effect,omitempty"` // the mail that a mail run sends
	Link   account.Link `json:"link,omitempty"`   // what its one-time link is for; "": it is an order's

	Notice uuid.UUID `json:"notice,omitzero"` // the notification that a mail run sends

	Until int64 `json:"until,omitempty"` // Unix time: how long a service that has ended is kept

	// Of a run that works for one hosting resource: which, and the version of
	// its stream after the fact that began the run.
	Kind    string `json:"kind,omitempty"`
	ID      int64  `json:"id,omitempty"`
	Version int    `json:"version,omitempty"`

	// Of a run that tells an endpoint of something: which message, for the how
	// manieth time that somebody asked for it, to which endpoint.
	Delivery uuid.UUID `json:"delivery,omitzero"`
	Round    int       `json:"round,omitempty"`
	Endpoint int64     `json:"endpoint,omitempty"`

	// Of a run that carries out an operation: which, the database that was made
	// for it, and why the engine would not.
	Operation uuid.UUID `json:"operation,omitzero"`
	Database  int64     `json:"database,omitempty"`
	Refused   string    `json:"refused,omitempty"`
}

// ref is the hosting resource that the run works for.
func (j Job) ref() hosting.Ref { return hosting.Ref{Kind: j.Kind, ID: j.ID} }

// with returns the job as an operator has changed it.
func (j Job) with(input map[string]string) Job {
	if name, ok := input["domain"]; ok {
		j.Domain = name
	}
	if os, ok := input["os_choice"]; ok {
		j.OS = os
	}
	return j
}

// A saga is a list of steps under a name that runs are known by.
type saga struct {
	name   string // "provision": the first part of its runs' keys
	def    string // "provision/1": another list is another def
	turns  bool   // runs for the same resource take turns at their first step
	begun  func(Job) []domain.Command
	parked func(job Job, step, code string) []domain.Command
	// undone and stuck are what parked is, on the way back: everything has been
	// taken back, or a step cannot be.
	undone func(Job) []domain.Command
	stuck  func(job Job, step, code string) []domain.Command
}

// Work is what a step changes in our own database; it happens in the
// transaction that completes the step, or not at all.
type Work struct {
	Commands []domain.Command
	Rows     []eventstore.Row
	Learn    func(*Job) // nil: nothing was learnt
	Wakes    string     // a queue that has work then; empty: none
}

// A step is one entry in a saga's list. Its name is stored for years and never
// changes. It is exactly one of local, effect and wait.
type step struct {
	name   string
	says   string // in the words of the customer
	queue  string // empty: the run says which when it starts
	policy Policy
	many   bool // behind the queue are many, and that one does not answer says nothing of the others

	local  *local
	effect *effect
	wait   *until
}

// A local step changes only our own database: it happens exactly once.
type local struct {
	do   func(context.Context, Job) (Work, error)
	undo func(context.Context, Job) (Work, error) // nil: there is nothing to take back
}

// An until lasts as long as something is not so.
type until struct {
	ready func(context.Context, Job) (bool, Work, error)
}

// An effect changes the outside. See effect.go for how that happens once.
type effect struct {
	key     func(Job) string // "o/<order>/vm": no attempt, no clock, no chance
	prepare func(context.Context, Job) (Call, error)
	lasting bool // it cannot be taken back, such as a mail
	// deferred is what it means to go on without the effect; failed is what is
	// said when an attempt came to nothing and another one follows.
	deferred func(Job, lapse) Work
	failed   func(Job, lapse) []domain.Command // nil: nothing
}

// A lapse is an attempt at an effect that came to nothing.
type lapse struct {
	code  string    // short and stable, such as "timeout"
	final bool      // nobody will try it again
	cause error     // what the outside said
	next  time.Time // when it is tried again; zero: it is not
}

// A Call is an effect made ready: what will be asked for, and how.
type Call struct {
	Request   any   // what is asked for; the same key must always ask for the same
	Claim     Claim // the object outside; zero: none that could be taken
	Lookup    func(context.Context) (Result, Found, error)
	Do        func(context.Context) (Result, error)                     // nil: there is nothing to do
	Under     func(ctx context.Context, generation int) (Result, error) // instead of Do, where the other side knows keys
	Undo      func(context.Context, Result) error                       // "gone" is a success
	Confirmed func(Result) Work                                         // what follows for us

	// Repeatable: doing it again brings what is there to what is wanted. What
	// a look-up finds is no reason to leave it out; without a look-up it is
	// done again at once.
	Repeatable bool
}

// A Result is what came of an effect: the outside id, and ids that later steps
// or an undo need.
type Result struct {
	External string
	Data     json.RawMessage
}

// Found is the answer of a look-up.
type Found int

const (
	No Found = iota
	Yes
	Maybe // it cannot be told yet
)

// A Policy says how long and how often a step is tried, and what happens then.
type Policy struct {
	Timeout    time.Duration // of one call
	Attempts   int           // 0: as many as the budget allows
	Budget     time.Duration // 0: as long as it takes
	Least      time.Duration // between two attempts
	Base, Cap  time.Duration // of the back-off
	First      time.Duration // between the first two looks of a wait; Last: in the long run
	Last       time.Duration
	Quarantine time.Duration // before "not found" is proof
	Sends      int           // calls that may have got through, where nothing can be looked up; 0: no limit
	Defer      bool          // when all is used up go on without; otherwise park
}

// Says tells the steps in the words of the customer, one a line.
func (s *Sagas) Says(names ...string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(s.steps[name].says + "\n")
	}
	return b.String()
}

// places freezes a list of steps.
func (s *Sagas) places(names []string) []Place {
	places := make([]Place, len(names))
	for i, name := range names {
		step, known := s.steps[name]
		if !known || step.queue == "" {
			panic("sagas: no step is named " + name)
		}
		places[i] = Place{Name: name, Queue: step.queue}
	}
	return places
}

// of returns the saga that a run belongs to.
func (s *Sagas) of(r Run) saga {
	name, _, _ := strings.Cut(r.Key, ":")
	return s.lists[name]
}
