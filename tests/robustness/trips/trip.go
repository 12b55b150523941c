// Package trips is what the model and the engine have in common: the saga of the test, and
// all that is outside of the panel, which answers as it is told.
package trips

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
)

// A Trip is the input of the runs of the test saga: a box that is made outside, paid for
// and told of. It has every sort of step that the runner knows.
type Trip struct {
	Name  string `json:"name"`
	Label string `json:"label"` // of the box: trips may want the same one
	Gate  int    `json:"gate"`
	Line  int    `json:"line,omitempty"`  // trips of one line begin one after the other; 0: it has none
	Nth   int    `json:"nth,omitempty"`   // in its line
	Joins bool   `json:"joins,omitempty"` // its steps in a row are one write
	Box   string `json:"box,omitempty"`   // its id, once it is made
}

// The queues of the saga.
const (
	Engine = "engine:one"
	Bank   = "pay"
	Post   = "mail"
)

// Times are those of the runner. Nothing in them depends on chance: a back-off without a
// base is its least.
var Times = sagas.Times{
	Lease: time.Hour, Poll: time.Second, Grace: time.Second, Call: 10 * time.Minute, Write: 5 * time.Minute, Floor: 200 * time.Millisecond,
	Break: 30 * time.Second, BreakMax: 5 * time.Minute, Quarantine: time.Minute,
	UndoBudget: 7 * 24 * time.Hour, KeyLife: 23 * time.Hour, Keep: 90 * 24 * time.Hour, Sweep: time.Hour,
}

// Definitions of the saga. Where steps join, all that is outside is one queue.
const (
	Alone   = "trip/1"
	Joining = "joining trip/1"
)

// A Step is one step of the saga, as far as the model and the engine have it in common.
type Step struct {
	Name, Queue string
	Kind        Kind
	Policy      sagas.Policy
	Independent bool
	Joins       bool // the step before it, where steps join
}

// A Kind is a kind of step.
type Kind int

// The kinds of steps.
const (
	Local  Kind = iota
	Object      // an effect that can be looked up and undone, with a claim
	Keyed       // an effect under keys that the other side knows
	Blind       // an effect that cannot be looked up, and lasts
	Look        // a wait for the object
	Gate        // a wait for a stream
)

// Steps are the steps of the saga, in their order.
var Steps = []Step{
	{Name: "note", Queue: sagas.LocalQueue, Kind: Local, Policy: sagas.Policy{Attempts: 3}, Joins: true},
	{
		Name: "make", Queue: Engine, Kind: Object,
		Policy: sagas.Policy{Attempts: 4, Budget: 24 * time.Hour, Quarantine: time.Minute, Least: time.Second},
		Joins:  true,
	},
	{
		Name: "made", Queue: Engine, Kind: Look,
		Policy: sagas.Policy{Budget: 2 * time.Hour, First: 5 * time.Second, Last: 20 * time.Second}, Joins: true,
	},
	{Name: "gate", Queue: sagas.LocalQueue, Kind: Gate, Policy: sagas.Policy{First: time.Minute, Last: time.Minute}},
	{
		Name: "pay", Queue: Bank, Kind: Keyed, Policy: sagas.Policy{Budget: 72 * time.Hour, Quarantine: time.Minute},
		Independent: true, Joins: true,
	},
	{
		Name: "mail", Queue: Post, Kind: Blind,
		Policy: sagas.Policy{Attempts: 3, Sends: 2, Quarantine: 15 * time.Minute, Defer: true}, Joins: true,
	},
	{Name: "open", Queue: sagas.LocalQueue, Kind: Local, Policy: sagas.Policy{Attempts: 3}, Joins: true},
}

// StepNamed is the step with a name.
func StepNamed(name string) Step {
	for _, s := range Steps {
		if s.Name == name {
			return s
		}
	}
	panic("no step " + name)
}

// StartOf is the command that starts a trip with the steps named.
func StartOf(in Trip, steps ...string) sagas.Start {
	start := sagas.Start{Key: "trip:" + in.Name, Definition: Alone, Input: sagas.Encode(in)}
	if in.Joins {
		start.Definition = Joining
	}
	for _, name := range steps {
		queue := StepNamed(name).Queue
		if in.Joins && queue != sagas.LocalQueue {
			queue = Engine
		}
		start.Steps = append(start.Steps, sagas.StepRef{Name: name, Queue: queue})
	}
	return start
}

// Begins tells which run begins with an event.
func Begins(e domain.Event) (start sagas.Start, begins bool) {
	reported, is := e.(operations.IncidentReported)
	if name := reported.About["trip"]; is && name != "" {
		return StartOf(Trip{Name: name, Label: "b" + name[len(name)-1:], Gate: 1}, "note", "make", "made", "open"), true
	}
	return start, false
}

// trouble is what an incident of the test is about.
func trouble(subject string) operations.Trouble {
	return operations.Trouble{Kind: operations.EngineMissing, Subject: subject, About: map[string]string{"of": subject}}
}

// NoteOf is the incident that the first step of a trip reports. A kind that does not
// exist is refused.
func NoteOf(name string, refused bool, at time.Time) operations.Report {
	report := trouble("note " + name).Report(at)
	if refused {
		report.Kind = "nonsense"
	}
	return report
}

// Unnoted takes the note back.
func Unnoted(name string, at time.Time) operations.Settle {
	return trouble("note "+name).Settle("taken back", at)
}

// GateTrouble is the incident that stands for an open gate.
func GateTrouble(n int) operations.Trouble { return trouble("gate " + string(rune('a'+n))) }

// GateStream is its stream.
func GateStream(n int) domain.Stream { return operations.IncidentStream(GateTrouble(n).ID()) }

// LineOf is the stream whose runs begin one after the other, and the number of a trip in it.
func LineOf(in Trip) (domain.Stream, int) {
	return domain.Stream{Category: "line", ID: strconv.Itoa(in.Line)}, in.Nth
}

// OwnerOf is the resource that a box is made for.
func OwnerOf(in Trip) domain.Stream {
	return domain.Stream{Category: "site", ID: uuid.NewSHA1(uuid.Nil, []byte(in.Name)).String()}
}

// ClaimOf is the claim of a trip.
func ClaimOf(in Trip) sagas.Claim {
	return sagas.Claim{Server: "one", Kind: "box", Name: in.Label, Owner: OwnerOf(in)}
}

// KeyOf is the key of an effect of a trip.
func KeyOf(step string, in Trip) string { return "t/" + in.Name + "/" + step }

// InputOf is the trip of a run.
func InputOf(r sagas.Run) (in Trip) {
	if err := json.Unmarshal(r.Input, &in); err != nil {
		panic(err)
	}
	return in
}

// Request is what the step asks for; "": always the same.
func (s Step) Request(in Trip) string {
	if s.Kind == Object {
		return in.Label
	}
	return ""
}

// IsEffect tells whether the step changes something outside.
func (s Step) IsEffect() bool { return s.Kind == Object || s.Kind == Keyed || s.Kind == Blind }
