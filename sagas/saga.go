// Package sagas runs sagas: lists of steps that change more than one stream, or
// the outside, and that survive crashes.
//
// A run is one execution of a saga. What it has done is a stream of its own, so
// it goes on after a crash where it stopped. What it may have done outside
// stands in a ledger, so it looks before it repeats anything. docs/sagas.md
// describes the protocol; events.go lists what is stored.
package sagas

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// A Saga is a list of steps under a name. I is the input of its runs: ids, and
// what an operator has corrected. It is stored as JSON, and never holds
// personal data.
type Saga[I any] struct {
	Name       string // the first part of its runs' keys: "provision"
	Definition string // another list of steps is another definition: "provision/1"
	Steps      []Step[I]
	// Serial names the stream whose runs take their first step one at a time, in
	// the order of their numbers. Nil: runs do not wait for each other.
	Serial func(I) (domain.Stream, int)
	// Party is whose turn it is in a queue (docs/sagas.md, "Turns"). Nil: that of the tenant of
	// the event that starts the run.
	Party func(I) int64
	// What follows when a run begins, is parked, has been compensated, or is
	// parked while it compensates. Nil: nothing.
	Begun  func(I) []domain.Command
	Parked func(in I, step, code string) []domain.Command
	Undone func(I) []domain.Command
	Stuck  func(in I, step, code string) []domain.Command
	// TakeBack is what happens when an operator wants a run to be compensated.
	// Nil: that, and nothing else.
	TakeBack func(ctx context.Context, cause domain.Metadata, r Run, reason string) error
}

// A Step is one entry in a saga's list. Its name is stored and never changes.
// Exactly one of Local, Effect and Wait is set. What a step changes in its input
// is kept with its completion, for later steps and for compensation.
type Step[I any] struct {
	Name    string
	Says    string // what it does, in the customer's words
	Queue   string
	QueueOf func(I) string // instead of Queue, where the input decides
	Policy  Policy
	// Independent: behind the queue are many servers. A failure of one says
	// nothing about the others, so it does not open the queue's breaker.
	Independent bool
	// Corrections are the inputs that an operator may correct while a run is
	// parked at this step, by name.
	Corrections map[string]func(in *I, value string)

	// Joins: the step reads nothing that the step before it writes. So its completion,
	// or the intent of its effect, may be one append with the completion of that step.
	Joins bool

	Local  *Local[I]
	Effect *Effect[I]
	Wait   func(context.Context, *I) (ready bool, then Work, err error) // until it is ready
	// Of names the step whose effect a wait waits for. [ErrAbsent] leads back to it.
	Of string
}

// A Local step changes only our own database: it happens exactly once.
type Local[I any] struct {
	Do   func(context.Context, *I) (Work, error)
	Undo func(context.Context, *I) (Work, error) // nil: there is nothing to compensate
}

// An Effect changes the outside. See effect.go for how that happens once.
type Effect[I any] struct {
	Key     func(I) string // "o/<order>/vm": no attempt, no clock, no chance
	Prepare func(context.Context, *I) (Call, error)
	Lasting bool // it cannot be undone, such as a mail
	// Deferred is what follows when the run goes on without the effect. Failed
	// is what follows from an attempt that will be repeated; nil: nothing.
	Deferred func(I, FailedAttempt) Work
	Failed   func(I, FailedAttempt) []domain.Command
}

// Work is what a step changes in our own database. It happens in the
// transaction that completes the step, or not at all.
type Work struct {
	Commands []domain.Command
	Rows     []eventstore.TxStatement
	Wakes    string        // a queue that has work then; empty: none
	Releases domain.Stream // runs go on that wait for what it is about ([Await]); zero: none
}

// And adds more work.
func (w Work) And(more Work) Work {
	w.Commands, w.Rows = append(w.Commands, more.Commands...), append(w.Rows, more.Rows...)
	w.Wakes, w.Releases = cmp.Or(w.Wakes, more.Wakes), cmp.Or(w.Releases, more.Releases)
	return w
}

// rows are the rows of the work, with those that release runs.
func (w Work) rows() []eventstore.TxStatement {
	if w.Releases == (domain.Stream{}) {
		return w.Rows
	}
	return append(w.Rows, releaseRow(w.Releases))
}

// A FailedAttempt is an attempt at an effect that came to nothing.
type FailedAttempt struct {
	Code  string    // short and stable, such as "timeout"
	Final bool      // it will not be tried again
	Cause error     // what the outside answered
	Next  time.Time // when it is tried again; zero: it is not
}

// A Call is an effect made ready: what will be asked for, and how.
type Call struct {
	Request   any   // what is asked for; the same key must always ask for the same
	Claim     Claim // the object outside; zero: none that could be taken
	Contested func(context.Context, Contest) error
	Lookup    func(context.Context) (Result, Found, error)
	Do        func(context.Context) (Result, error)                     // nil: there is nothing to do
	Under     func(ctx context.Context, generation int) (Result, error) // instead of Do, where the other side knows keys
	Undo      func(context.Context, Result) error                       // "gone" is a success
	// asked before Do in a restored run: an error tells that the same is there under a name that
	// Lookup cannot know; nil: there is no such name
	Free      func(context.Context) error
	Confirmed func(Result) Work // what follows for us
	// Repeatable: repeating it brings the object to what is desired, so it is
	// repeated even if a look-up finds the object. Without a look-up it is
	// repeated at once.
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
	No    Found = iota // the object does not exist
	Yes                // the object exists
	Maybe              // it cannot be told yet
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

// A Definition starts the runs of one registered saga. Its methods are short, since each package
// that sees the type compiles them again.
type Definition[I any] struct{ of *definition }

// Says tells a step in the customer's words.
func (d Definition[I]) Says(step string) string { return d.of.steps[step].says }

// Start begins a run, for an order unless that is zero. Its steps are those
// named, or all of the saga in their order.
func (d Definition[I]) Start(key string, in I, order uuid.UUID, steps ...string) Start {
	return d.of.start(key, &in, order, steps)
}

// start begins a run. Its input is a pointer to that of the saga.
func (d *definition) start(key string, in any, order uuid.UUID, steps []string) Start {
	start := Start{Key: d.name + ":" + key, Definition: d.definition, Input: Encode(in), Order: order}
	if len(steps) == 0 {
		steps = d.list
	}
	for _, name := range steps {
		step, known := d.steps[name]
		if !known {
			panic(fmt.Sprintf("sagas: %s has no step %s", start.Definition, name))
		}
		start.Steps = append(start.Steps, StepRef{Name: name, Queue: step.queue(in)})
	}
	return start
}

type step struct {
	name, says  string
	queue       func(any) string
	policy      Policy
	independent bool
	joins       bool
	corrections map[string]func(in any, value string)
	local       *local
	effect      *effect
	wait        func(context.Context, any) (bool, Work, error)
	of          string
}

type local struct {
	do, undo func(context.Context, any) (Work, error)
}

type effect struct {
	key      func(any) string
	prepare  func(context.Context, any) (Call, error)
	lasting  bool
	deferred func(any, FailedAttempt) Work
	failed   func(any, FailedAttempt) []domain.Command
}

// Register makes a saga known to a runner, before [Runner.Run] begins.
func Register[I any](s *Runner, saga Saga[I]) Definition[I] {
	d := &definition{
		name: saga.Name, definition: saga.Definition, steps: map[string]step{},
		decode: func(raw json.RawMessage) (any, error) {
			in := new(I)
			return in, json.Unmarshal(raw, in)
		},
		begun: withInput(saga.Begun), undone: withInput(saga.Undone), parked: withInput3(saga.Parked),
		stuck: withInput3(saga.Stuck), takeBack: saga.TakeBack,
	}
	if saga.Serial != nil {
		d.serial = func(in any) (domain.Stream, int) { return saga.Serial(*in.(*I)) }
	}
	d.party = withInput(saga.Party)
	for _, step := range saga.Steps {
		d.list = append(d.list, step.Name)
		d.steps[step.Name] = step.erased()
		if step.Queue != "" {
			s.AddQueue(step.Queue, remoteLimit)
		}
	}
	if _, twice := s.definitions.sagas[d.definition]; twice {
		panic("sagas: two sagas are defined as " + d.definition)
	}
	s.definitions.sagas[d.definition] = d
	return Definition[I]{d}
}

// erased is the step with inputs of any type.
func (s Step[I]) erased() step {
	e := step{
		name: s.Name, says: s.Says, queue: withInput(s.QueueOf), policy: s.Policy, independent: s.Independent,
		joins: s.Joins, of: s.Of, corrections: map[string]func(any, string){},
	}
	if s.Queue != "" {
		e.queue = func(any) string { return s.Queue }
	}
	for name, correct := range s.Corrections {
		e.corrections[name] = func(in any, value string) { correct(in.(*I), value) }
	}
	switch {
	case s.Local != nil:
		e.local = &local{do: withPointer(s.Local.Do), undo: withPointer(s.Local.Undo)}
	case s.Effect != nil:
		e.effect = &effect{
			key: withInput(s.Effect.Key), prepare: withPointer(s.Effect.Prepare), lasting: s.Effect.Lasting,
			deferred: withInput2(s.Effect.Deferred), failed: withInput2(s.Effect.Failed),
		}
	default:
		e.wait = func(ctx context.Context, in any) (bool, Work, error) { return s.Wait(ctx, in.(*I)) }
	}
	return e
}

// withPointer and withInput let a function take its input as a value of any type;
// nil stays nil.
func withPointer[I, R any](f func(context.Context, *I) (R, error)) func(context.Context, any) (R, error) {
	if f == nil {
		return nil
	}
	return func(ctx context.Context, in any) (R, error) { return f(ctx, in.(*I)) }
}

func withInput[I, R any](f func(I) R) func(any) R {
	if f == nil {
		return nil
	}
	return func(in any) R { return f(*in.(*I)) }
}

func withInput2[I, A, R any](f func(I, A) R) func(any, A) R {
	if f == nil {
		return nil
	}
	return func(in any, a A) R { return f(*in.(*I), a) }
}

func withInput3[I, A, B, R any](f func(I, A, B) R) func(any, A, B) R {
	if f == nil {
		return nil
	}
	return func(in any, a A, b B) R { return f(*in.(*I), a, b) }
}

// InputOf is the input of a run by now. A run that has not begun has none.
func InputOf[I any](r Run) (in I, err error) {
	if r.Key == "" {
		return in, nil
	}
	if err = json.Unmarshal(r.Input, &in); err != nil {
		err = fmt.Errorf("read the input of run %s: %w", r.Key, err)
	}
	return in, err
}
