package sagas

import (
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

// A Place is one step in a run's frozen list, and the queue in which it waits
// its turn.
type Place = operations.Place

// Direction says whether a run does its steps or undoes them.
type Direction string

const (
	Do   Direction = "do"
	Undo Direction = "undo"
)

// Status is how a run stands, as far as the log knows. Whether somebody works
// on it is no fact and stands in its work row only.
type Status string

const (
	Ready   Status = "ready"   // somebody may work on it, or does
	Stopped Status = "parked"  // needs a person
	Held    Status = "paused"  // a person wants it to wait
	Done    Status = "done"    // every step is behind it
	Undone  Status = "undone"  // every step has been taken back
	running Status = "running" // work row only: somebody has the lease
	waiting Status = "waiting" // work row only: for its time
)

// A Run is one execution of a saga, folded from its stream.
type Run struct {
	Key       string
	Def       string
	Steps     []Place
	Job       Job
	Order     uuid.UUID
	Direction Direction
	Status    Status
	Step      int
	Cancel    bool // somebody wants it taken back
	Version   int64
}

// ID is the run's id.
func (r Run) ID() uuid.UUID { return RunID(r.Key) }

// Over says that the run has nothing left to do.
func (r Run) Over() bool { return r.Status == Done || r.Status == Undone }

// Place is the step that the run stands at. A run that is over stands at its last one.
func (r Run) Place() Place {
	return r.Steps[min(max(r.Step, 0), len(r.Steps)-1)]
}

// Decider is the behaviour of the streams of all runs (docs/sagas.md, "Runs").
var Decider = domain.Decider[Run, command, event]{
	Decide: func(r Run, c command) ([]event, error) { return c.decide(r) },
	Evolve: func(r Run, e event) Run { r = e.evolve(r); r.Version++; return r },
}

type (
	command interface {
		domain.Command
		decide(Run) ([]event, error)
	}
	event interface {
		domain.Event
		evolve(Run) Run
	}
)

// errPassed refuses what was decided on a run as it no longer is.
var errPassed = domain.Refuse(domain.Conflict, "The run has moved on.")

// notNow refuses what the run's state forbids.
func notNow(message string) error {
	return &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: message}
}

type (
	// Start begins a run with a frozen list of steps.
	Start struct {
		Key   string
		Def   string
		Steps []Place
		Job   Job
		Order uuid.UUID
	}
	// Complete puts the present step behind the run.
	Complete struct {
		Key      string
		Step     int
		External string // id of what was made outside
		Found    bool   // it was there already: a look-up found it
		Job      Job    // with what was learnt
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
	Resume struct {
		Key    string
		Reason string
		Input  map[string]string // what the operator changed; nil: nothing
	}
	// Skip puts the step where a run is parked behind it, with the proof that
	// it has been done by hand.
	Skip struct {
		Key      string
		Step     int
		External string
		Reason   string
		Job      Job
	}
	// Pass puts a wait behind the run that a person does not want to last.
	Pass struct{ Key, Name, Reason string }
	// Pause keeps a run from going on; Continue ends that.
	Pause    struct{ Key, Reason string }
	Continue struct{ Key, Reason string }
	// Release takes a run away from whoever works on it, or lets one that
	// waits for its time go on now.
	Release struct{ Key, Reason string }
	// Turn makes a run take back what it has done, last step first. Whoever
	// works on it loses the lease; what came of that is looked up.
	// From is the first step to be taken back; -1: there is none.
	Turn struct {
		Key    string
		From   int
		Reason string
	}
)

func (c Start) Stream() domain.Stream    { return StreamOf(c.Key) }
func (c Complete) Stream() domain.Stream { return StreamOf(c.Key) }
func (c Defer) Stream() domain.Stream    { return StreamOf(c.Key) }
func (c Park) Stream() domain.Stream     { return StreamOf(c.Key) }
func (c Resume) Stream() domain.Stream   { return StreamOf(c.Key) }
func (c Skip) Stream() domain.Stream     { return StreamOf(c.Key) }
func (c Pass) Stream() domain.Stream     { return StreamOf(c.Key) }
func (c Pause) Stream() domain.Stream    { return StreamOf(c.Key) }
func (c Continue) Stream() domain.Stream { return StreamOf(c.Key) }
func (c Release) Stream() domain.Stream  { return StreamOf(c.Key) }
func (c Turn) Stream() domain.Stream     { return StreamOf(c.Key) }

func (c Start) decide(r Run) ([]event, error) {
	if r.Key != "" {
		return nil, nil // once, for ever
	}
	return []event{Started(c)}, nil
}

func (c Complete) decide(r Run) ([]event, error) {
	if r.Status != Ready || r.Step != c.Step {
		return nil, errPassed
	}
	if r.Direction == Undo {
		return []event{StepUndone{c.Step, r.Place().Name}}, nil
	}
	done := StepCompleted{Step: c.Step, Name: r.Place().Name, External: c.External, Found: c.Found}
	if c.Job != r.Job {
		done.Learnt = &c.Job
	}
	return []event{done}, nil
}

func (c Defer) decide(r Run) ([]event, error) {
	if r.Status != Ready || r.Direction != Do || r.Step != c.Step {
		return nil, errPassed
	}
	return []event{Deferred{c.Step, r.Place().Name, c.Code}}, nil
}

func (c Park) decide(r Run) ([]event, error) {
	if r.Status != Ready || r.Step != c.Step {
		return nil, errPassed
	}
	return []event{Parked{c.Step, r.Place().Name, c.Code}}, nil
}

func (c Resume) decide(r Run) ([]event, error) {
	if r.Status != Stopped {
		return nil, notNow("The run is not parked.")
	}
	return []event{Resumed{r.Step, r.Place().Name, c.Reason, c.Input}}, nil
}

func (c Skip) decide(r Run) ([]event, error) {
	if r.Status != Stopped || r.Direction != Do || r.Step != c.Step {
		return nil, notNow("The run is not parked at this step.")
	}
	skipped := StepSkipped{Step: c.Step, Name: r.Place().Name, External: c.External, Reason: c.Reason}
	if c.Job != r.Job {
		skipped.Learnt = &c.Job
	}
	return []event{skipped}, nil
}

func (c Pass) decide(r Run) ([]event, error) {
	if r.Status != Ready || r.Direction != Do || r.Place().Name != c.Name {
		return nil, domain.Refuse(domain.Conflict, "The run does not wait for this.")
	}
	return []event{StepSkipped{Step: r.Step, Name: c.Name, Reason: c.Reason}}, nil
}

func (c Pause) decide(r Run) ([]event, error) {
	switch r.Status {
	case Held:
		return nil, nil
	case Ready:
		return []event{Paused{c.Reason}}, nil
	default:
		return nil, notNow("The run cannot be paused.")
	}
}

func (c Continue) decide(r Run) ([]event, error) {
	switch r.Status {
	case Ready:
		return nil, nil
	case Held:
		return []event{Continued{c.Reason}}, nil
	default:
		return nil, notNow("The run is not paused.")
	}
}

func (c Release) decide(r Run) ([]event, error) {
	if r.Status != Ready {
		return nil, errNobody
	}
	return []event{Released{c.Reason}}, nil
}

// errNobody refuses to take a run from nobody.
var errNobody = notNow("Nobody works on the run.")

func (c Turn) decide(r Run) ([]event, error) {
	switch {
	case r.Key == "" || r.Over():
		return nil, notNow("The run is over.")
	case r.Direction == Undo:
		return nil, nil
	}
	return []event{Turned{c.From, r.Place().Name, c.Reason}}, nil
}
