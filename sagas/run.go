package sagas

import (
	"encoding/json"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
)

// Category is the category of the streams of runs.
const Category = operations.RunCategory

// namespace derives the ids of runs from their keys.
var namespace = uuid.MustParse("5f2b3c64-0f0e-4d0a-9a53-6d1c1c7a2b10")

// RunID is the id of the run with a key such as "provision:<order>". It is derived
// from the key, so that the run can start only once.
func RunID(key string) uuid.UUID { return uuid.NewSHA1(namespace, []byte(key)) }

// StreamOf is the stream of the run with the given key.
func StreamOf(key string) domain.Stream {
	return domain.Stream{Category: Category, ID: RunID(key).String()}
}

// A StepRef is one step in a run's frozen list, and the queue in which it waits
// its turn.
type StepRef = operations.StepRef

// Direction says whether a run does its steps or undoes them.
type Direction string

const (
	DirectionDo   Direction = "do"   // first step first
	DirectionUndo Direction = "undo" // last step first
)

// Status is the status of a run in the log. Leases are not events: only the work
// row shows whether a worker has the run.
type Status string

const (
	StatusReady   Status = "ready"   // due for a worker, or leased by one
	StatusParked  Status = "parked"  // an operator has to decide
	StatusPaused  Status = "paused"  // an operator has paused it
	StatusDone    Status = "done"    // every step is completed
	StatusUndone  Status = "undone"  // every step is undone
	statusRunning Status = "running" // work row only: a worker has the lease
	statusWaiting Status = "waiting" // work row only: until its time
)

// A Run is one execution of a saga, folded from its stream.
type Run struct {
	Key        string          `json:"key"`
	Definition string          `json:"definition"`
	Steps      []StepRef       `json:"steps"`
	Input      json.RawMessage `json:"input,omitempty"`
	Order      uuid.UUID       `json:"order,omitzero"`
	Direction  Direction       `json:"direction"`
	Status     Status          `json:"status"`
	Step       int             `json:"step"`
	Cancel     bool            `json:"cancel,omitempty"` // an operator has asked for compensation
	Lost       int             `json:"lost,omitempty"`   // how often what a step made was lost, since an operator decided last
	Version    int64           `json:"version"`
}

// ID is the run's id.
func (r Run) ID() uuid.UUID { return RunID(r.Key) }

// Over says that the run has nothing left to do.
func (r Run) Over() bool { return r.Status == StatusDone || r.Status == StatusUndone }

// At is the present step of the run, or the last one of a run that is over.
func (r Run) At() StepRef {
	return r.Steps[min(max(r.Step, 0), len(r.Steps)-1)]
}

// Decider is the behaviour of the streams of all runs (docs/sagas.md, "Runs").
var Decider = domain.Decider[Run, Command, Event]{
	Decide: func(r Run, c Command) ([]Event, error) { return c.decide(r) },
	Evolve: func(r Run, e Event) Run { r = e.evolve(r); r.Version++; return r },
}

type (
	// A Command changes one run.
	Command interface {
		domain.Command
		decide(Run) ([]Event, error)
	}
	// An Event is what has happened to one run.
	Event interface {
		domain.Event
		evolve(Run) Run
	}
)

// errMovedOn refuses a command that was decided on an earlier state of the run.
var errMovedOn = domain.Refuse(domain.Conflict, "The run has moved on.")

// errNotParked refuses what needs a parked run.
var errNotParked = NotNow("The run is not parked.")

// NotNow refuses a command that the run's state does not allow.
func NotNow(message string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: message}
}

type (
	// Start starts a run with a frozen list of steps.
	Start struct {
		Key        string
		Definition string
		Steps      []StepRef
		Input      json.RawMessage
		Order      uuid.UUID
	}
	// Complete completes the present step.
	Complete struct {
		Key      string
		Step     int
		External string          // id of the created object
		Found    bool            // a look-up found the object
		Input    json.RawMessage // the new input; nil: unchanged
	}
	// Defer skips the present step, which another run takes over.
	Defer struct {
		Key  string
		Step int
		Code string
	}
	// GoBack leads from a wait back to the step whose effect is gone.
	GoBack struct {
		Key      string
		Step, To int
	}
	// Supersede ends a parked run, because a later one takes its place.
	Supersede struct{ Key string }
	// Park stops a run at the present step until an operator decides.
	Park struct {
		Key  string
		Step int
		Code string
	}
	// Retry continues a parked run at its present step.
	Retry struct {
		Key         string
		Reason      string
		Corrections map[string]string // by the operator; nil: none
		Input       json.RawMessage   // as corrected
	}
	// Skip completes the step of a parked run, with the proof that an operator
	// has done it by hand.
	Skip struct {
		Key      string
		Step     int
		External string
		Reason   string
		Input    json.RawMessage // the new input; nil: unchanged
	}
	// Pass ends the present wait of a run by an operator's decision.
	Pass struct{ Key, Name, Reason string }
	// Pause pauses a run until Resume.
	Pause struct{ Key, Reason string }
	// Resume continues a paused run.
	Resume struct{ Key, Reason string }
	// ReleaseLease ends the lease of a running run, or makes a waiting run due
	// now.
	ReleaseLease struct{ Key, Reason string }
	// Compensate undoes the steps of a run, last step first. A worker on the run
	// loses its lease, and its call is looked up. From is the first step to undo;
	// -1: none.
	Compensate struct {
		Key    string
		From   int
		Reason string
	}
)

func (c Start) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Complete) Stream() domain.Stream     { return StreamOf(c.Key) }
func (c Defer) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c GoBack) Stream() domain.Stream       { return StreamOf(c.Key) }
func (c Supersede) Stream() domain.Stream    { return StreamOf(c.Key) }
func (c Park) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Retry) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Skip) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Pass) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Pause) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Resume) Stream() domain.Stream       { return StreamOf(c.Key) }
func (c ReleaseLease) Stream() domain.Stream { return StreamOf(c.Key) }
func (c Compensate) Stream() domain.Stream   { return StreamOf(c.Key) }

// Begins marks the first command of a stream ([domain.Beginning]).
func (Start) Begins() {}

func (c Start) decide(r Run) ([]Event, error) {
	if r.Key != "" {
		return nil, nil // a run starts once only
	}
	return []Event{Started(c)}, nil
}

func (c Complete) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady || r.Step != c.Step {
		return nil, errMovedOn
	}
	if r.Direction == DirectionUndo {
		return []Event{StepUndone{c.Step, r.At().Name}}, nil
	}
	return []Event{StepCompleted{Step: c.Step, Name: r.At().Name, External: c.External, Found: c.Found, Input: c.Input}}, nil
}

func (c Defer) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady || r.Direction != DirectionDo || r.Step != c.Step {
		return nil, errMovedOn
	}
	return []Event{Deferred{c.Step, r.At().Name, c.Code}}, nil
}

func (c GoBack) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady || r.Direction != DirectionDo || r.Step != c.Step || c.To < 0 || c.To >= c.Step {
		return nil, errMovedOn
	}
	return []Event{EffectLost{Step: c.To, Name: r.Steps[c.To].Name, At: r.At().Name}}, nil
}

func (c Supersede) decide(r Run) ([]Event, error) {
	if r.Status != StatusParked {
		return nil, errNotParked
	}
	return []Event{Superseded{r.Step, r.At().Name}}, nil
}

func (c Park) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady || r.Step != c.Step {
		return nil, errMovedOn
	}
	return []Event{Parked{c.Step, r.At().Name, c.Code}}, nil
}

func (c Retry) decide(r Run) ([]Event, error) {
	if r.Status != StatusParked {
		return nil, errNotParked
	}
	return []Event{Retried{r.Step, r.At().Name, c.Reason, c.Corrections, c.Input}}, nil
}

func (c Skip) decide(r Run) ([]Event, error) {
	if r.Status != StatusParked || r.Direction != DirectionDo || r.Step != c.Step {
		return nil, NotNow("The run is not parked at this step.")
	}
	return []Event{StepSkipped{Step: c.Step, Name: r.At().Name, External: c.External, Reason: c.Reason, Input: c.Input}}, nil
}

func (c Pass) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady || r.Direction != DirectionDo || r.At().Name != c.Name {
		return nil, domain.Refuse(domain.Conflict, "The run does not wait for this.")
	}
	return []Event{StepSkipped{Step: r.Step, Name: c.Name, Reason: c.Reason}}, nil
}

func (c Pause) decide(r Run) ([]Event, error) {
	switch r.Status {
	case StatusPaused:
		return nil, nil
	case StatusReady:
		return []Event{Paused{c.Reason}}, nil
	default:
		return nil, NotNow("The run cannot be paused.")
	}
}

func (c Resume) decide(r Run) ([]Event, error) {
	switch r.Status {
	case StatusReady:
		return nil, nil
	case StatusPaused:
		return []Event{Resumed{c.Reason}}, nil
	default:
		return nil, NotNow("The run is not paused.")
	}
}

func (c ReleaseLease) decide(r Run) ([]Event, error) {
	if r.Status != StatusReady {
		return nil, errNotWorkedOn
	}
	return []Event{LeaseReleased{c.Reason}}, nil
}

// errNotWorkedOn refuses to release a run without a lease.
var errNotWorkedOn = NotNow("No worker holds the run.")

func (c Compensate) decide(r Run) ([]Event, error) {
	switch {
	case r.Key == "" || r.Over():
		return nil, NotNow("The run is over.")
	case r.Direction == DirectionUndo:
		return nil, nil
	}
	return []Event{CompensationStarted{c.From, r.At().Name, c.Reason}}, nil
}
