package sagas

import (
	"encoding/json"

	"hostpanel/domain"
	"hostpanel/domain/operations"

	"github.com/google/uuid"
)

// Category is the category of the streams of runs.
const Category = operations.RunCategory

// namespace makes the ids of runs from their keys.
var namespace = uuid.MustParse("5f2b3c64-0f0e-4d0a-9a53-6d1c1c7a2b10")

// RunID is the id of the run with a key such as "provision:<order>". It is
// always the same, so the run can start only once.
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

// Status is how a run stands, as far as the log knows. Whether somebody works
// on it is no fact and stands in its work row only.
type Status string

const (
	StatusReady   Status = "ready"   // somebody may work on it, or does
	StatusParked  Status = "parked"  // needs a person
	StatusPaused  Status = "paused"  // a person wants it to wait
	StatusDone    Status = "done"    // every step is behind it
	StatusUndone  Status = "undone"  // every step has been taken back
	statusRunning Status = "running" // work row only: somebody has the lease
	statusWaiting Status = "waiting" // work row only: for its time
)

// A Run is one execution of a saga, folded from its stream.
type Run struct {
	Key        string
	Definition string
	Steps      []StepRef
	Input      json.RawMessage
	Order      uuid.UUID
	Direction  Direction
	Status     Status
	Step       int
	Cancel     bool // somebody wants it taken back
	Version    int64
}

// ID is the run's id.
func (r Run) ID() uuid.UUID { return RunID(r.Key) }

// Over says that the run has nothing left to do.
func (r Run) Over() bool { return r.Status == StatusDone || r.Status == StatusUndone }

// At is the step that the run stands at. A run that is over stands at its last one.
func (r Run) At() StepRef {
	return r.Steps[min(max(r.Step, 0), len(r.Steps)-1)]
}

// Decider is the behaviour of the streams of all runs (docs/sagas.md, "Runs").
var Decider = domain.Decider[Run, Command, event]{
	Decide: func(r Run, c Command) ([]event, error) { return c.decide(r) },
	Evolve: func(r Run, e event) Run { r = e.evolve(r); r.Version++; return r },
}

type (
	// A Command changes one run.
	Command interface {
		domain.Command
		decide(Run) ([]event, error)
	}
	event interface {
		domain.Event
		evolve(Run) Run
	}
)

// errMovedOn refuses what was decided on a run as it no longer is.
var errMovedOn = domain.Refuse(domain.Conflict, "The run has moved on.")

// NotNow refuses what the run's state forbids.
func NotNow(message string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: message}
}

type (
	// Start begins a run with a frozen list of steps.
	Start struct {
		Key        string
		Definition string
		Steps      []StepRef
		Input      json.RawMessage
		Order      uuid.UUID
	}
	// Complete puts the present step behind the run.
	Complete struct {
		Key      string
		Step     int
		External string          // id of what was made outside
		Found    bool            // it was there already: a look-up found it
		Input    json.RawMessage // as it is from now on; nil: as before
	}
	// Defer goes on without the present step, which another run takes over.
	Defer struct {
		Key  string
		Step int
		Code string
	}
	// Park stops a run at the present step until a person decides.
	Park struct {
		Key  string
		Step int
		Code string
	}
	// Resume lets a parked run go on at the step where it stopped.
	Retry struct {
		Key         string
		Reason      string
		Corrections map[string]string // by the operator; nil: none
		Input       json.RawMessage   // as corrected
	}
	// Skip puts the step where a run is parked behind it, with the proof that
	// it has been done by hand.
	Skip struct {
		Key      string
		Step     int
		External string
		Reason   string
		Input    json.RawMessage // as it is from now on; nil: as before
	}
	// Pass puts a wait behind the run that a person does not want to last.
	Pass struct{ Key, Name, Reason string }
	// Pause keeps a run from going on; Continue ends that.
	Pause struct{ Key, Reason string }
	// Resume lets a paused run go on.
	Resume struct{ Key, Reason string }
	// Release takes a run away from whoever works on it, or lets one that
	// waits for its time go on now.
	ReleaseLease struct{ Key, Reason string }
	// Compensate makes a run take back what it has done, last step first. Whoever
	// works on it loses the lease; what came of that is looked up.
	// From is the first step to be taken back; -1: there is none.
	Compensate struct {
		Key    string
		From   int
		Reason string
	}
)

func (c Start) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Complete) Stream() domain.Stream     { return StreamOf(c.Key) }
func (c Defer) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Park) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Retry) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Skip) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Pass) Stream() domain.Stream         { return StreamOf(c.Key) }
func (c Pause) Stream() domain.Stream        { return StreamOf(c.Key) }
func (c Resume) Stream() domain.Stream       { return StreamOf(c.Key) }
func (c ReleaseLease) Stream() domain.Stream { return StreamOf(c.Key) }
func (c Compensate) Stream() domain.Stream   { return StreamOf(c.Key) }

func (c Start) decide(r Run) ([]event, error) {
	if r.Key != "" {
		return nil, nil // once, for ever
	}
	return []event{Started(c)}, nil
}

func (c Complete) decide(r Run) ([]event, error) {
	if r.Status != StatusReady || r.Step != c.Step {
		return nil, errMovedOn
	}
	if r.Direction == DirectionUndo {
		return []event{StepUndone{c.Step, r.At().Name}}, nil
	}
	return []event{StepCompleted{Step: c.Step, Name: r.At().Name, External: c.External, Found: c.Found, Input: c.Input}}, nil
}

func (c Defer) decide(r Run) ([]event, error) {
	if r.Status != StatusReady || r.Direction != DirectionDo || r.Step != c.Step {
		return nil, errMovedOn
	}
	return []event{Deferred{c.Step, r.At().Name, c.Code}}, nil
}

func (c Park) decide(r Run) ([]event, error) {
	if r.Status != StatusReady || r.Step != c.Step {
		return nil, errMovedOn
	}
	return []event{Parked{c.Step, r.At().Name, c.Code}}, nil
}

func (c Retry) decide(r Run) ([]event, error) {
	if r.Status != StatusParked {
		return nil, NotNow("The run is not parked.")
	}
	return []event{Retried{r.Step, r.At().Name, c.Reason, c.Corrections, c.Input}}, nil
}

func (c Skip) decide(r Run) ([]event, error) {
	if r.Status != StatusParked || r.Direction != DirectionDo || r.Step != c.Step {
		return nil, NotNow("The run is not parked at this step.")
	}
	return []event{StepSkipped{Step: c.Step, Name: r.At().Name, External: c.External, Reason: c.Reason, Input: c.Input}}, nil
}

func (c Pass) decide(r Run) ([]event, error) {
	if r.Status != StatusReady || r.Direction != DirectionDo || r.At().Name != c.Name {
		return nil, domain.Refuse(domain.Conflict, "The run does not wait for this.")
	}
	return []event{StepSkipped{Step: r.Step, Name: c.Name, Reason: c.Reason}}, nil
}

func (c Pause) decide(r Run) ([]event, error) {
	switch r.Status {
	case StatusPaused:
		return nil, nil
	case StatusReady:
		return []event{Paused{c.Reason}}, nil
	default:
		return nil, NotNow("The run cannot be paused.")
	}
}

func (c Resume) decide(r Run) ([]event, error) {
	switch r.Status {
	case StatusReady:
		return nil, nil
	case StatusPaused:
		return []event{Resumed{c.Reason}}, nil
	default:
		return nil, NotNow("The run is not paused.")
	}
}

func (c ReleaseLease) decide(r Run) ([]event, error) {
	if r.Status != StatusReady {
		return nil, errNotWorkedOn
	}
	return []event{LeaseReleased{c.Reason}}, nil
}

// errNotWorkedOn refuses to take a run from nobody.
var errNotWorkedOn = NotNow("Nobody works on the run.")

func (c Compensate) decide(r Run) ([]event, error) {
	switch {
	case r.Key == "" || r.Over():
		return nil, NotNow("The run is over.")
	case r.Direction == DirectionUndo:
		return nil, nil
	}
	return []event{CompensationStarted{c.From, r.At().Name, c.Reason}}, nil
}
