package sagas

import (
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/wording"
)

// EventTypes lists every event that the streams of runs may hold. The stream of
// a run is "saga-<id>", and its id follows from its key. Stored are:
//
//	saga.started               the key, the definition, the frozen list of steps with
//	                           their queues, the input, and the order if there is one
//	saga.step_completed        the step, the id of what was made outside, whether a
//	                           look-up found it, and the input if the step changed it
//	saga.step_skipped          the same, with an operator's reason
//	saga.step_deferred         the run goes on without the step, which another run
//	                           takes over
//	saga.effect_lost           what a step had made outside is gone; the run goes back to it
//	saga.superseded            a later run of the same stream takes the run's place
//	saga.parked                an operator is needed, and why
//	saga.retried               with the operator's reason and corrections
//	saga.paused, .resumed      by an operator
//	saga.lease_released        taken away from its worker by an operator
//	saga.compensation_started  with the first step to undo
//	saga.step_undone
//
// A step is stored as its place in the list, counted from 0, and its name.
// Inputs are stored as JSON of the input type of the definition.
var EventTypes = []domain.EventType{
	domain.Register[Started](), domain.Register[StepCompleted](), domain.Register[StepUndone](), domain.Register[StepSkipped](),
	domain.Register[Deferred](), domain.Register[Parked](), domain.Register[Retried](), domain.Register[Paused](),
	domain.Register[Resumed](), domain.Register[CompensationStarted](), domain.Register[LeaseReleased](),
	domain.Register[EffectLost](), domain.Register[Superseded](),
}

type (
	// Started: a run begins, with its list of steps.
	Started struct {
		Key        string          `json:"key"`
		Definition string          `json:"definition"`
		Steps      []StepRef       `json:"steps"`
		Input      json.RawMessage `json:"input"`
		Order      uuid.UUID       `json:"order,omitzero"`
	}
	// StepCompleted: a step is done. External is the outside id; Found: a look-up found
	// what the step would have made. Input is that of the later steps; nil: as before.
	StepCompleted struct {
		Step     int             `json:"step"`
		Name     string          `json:"name"`
		External string          `json:"external,omitempty"`
		Found    bool            `json:"found,omitempty"`
		Input    json.RawMessage `json:"input,omitempty"`
	}
	// StepUndone: compensation has taken back a step.
	StepUndone struct {
		Step int    `json:"step"`
		Name string `json:"name"`
	}
	// StepSkipped: an operator has done the step by hand.
	StepSkipped struct {
		Step     int             `json:"step"`
		Name     string          `json:"name"`
		External string          `json:"external,omitempty"`
		Reason   string          `json:"reason"`
		Input    json.RawMessage `json:"input,omitempty"`
	}
	// Deferred: the run goes on without the effect of a step; Code says why.
	Deferred struct {
		Step int    `json:"step"`
		Name string `json:"name"`
		Code string `json:"code"`
	}
	// EffectLost: look-ups have proved that what a step had made outside is gone. The
	// run goes back to that step. At is the wait that missed it.
	EffectLost struct {
		Step int    `json:"step"`
		Name string `json:"name"`
		At   string `json:"at"`
	}
	// Superseded: a later run of the same stream takes the place of a parked run,
	// which ends at this step.
	Superseded struct {
		Step int    `json:"step"`
		Name string `json:"name"`
	}
	// Parked: the run waits for an operator at a step; Code says why.
	Parked struct {
		Step int    `json:"step"`
		Name string `json:"name"`
		Code string `json:"code"`
	}
	// Retried: an operator lets a parked run try its step again.
	Retried struct {
		Step        int               `json:"step"`
		Name        string            `json:"name"`
		Reason      string            `json:"reason"`
		Corrections map[string]string `json:"corrections,omitempty"`
		Input       json.RawMessage   `json:"input,omitempty"` // as corrected
	}
	// Paused: an operator keeps the run from going on.
	Paused struct {
		Reason string `json:"reason"`
	}
	// Resumed: a paused run may go on.
	Resumed struct {
		Reason string `json:"reason"`
	}
	// LeaseReleased: an operator has taken the run from its worker.
	LeaseReleased struct {
		Reason string `json:"reason"`
	}
	// CompensationStarted: the run takes back what it has done, last step first.
	CompensationStarted struct {
		Step   int    `json:"step"` // the first one to be taken back; -1: there is none
		Name   string `json:"name"` // at which it stood
		Reason string `json:"reason"`
	}
)

func (Started) EventName() string             { return "saga.started" }
func (StepCompleted) EventName() string       { return "saga.step_completed" }
func (StepUndone) EventName() string          { return "saga.step_undone" }
func (StepSkipped) EventName() string         { return "saga.step_skipped" }
func (Deferred) EventName() string            { return "saga.step_deferred" }
func (EffectLost) EventName() string          { return "saga.effect_lost" }
func (Superseded) EventName() string          { return "saga.superseded" }
func (Parked) EventName() string              { return "saga.parked" }
func (Retried) EventName() string             { return "saga.retried" }
func (Paused) EventName() string              { return "saga.paused" }
func (Resumed) EventName() string             { return "saga.resumed" }
func (LeaseReleased) EventName() string       { return "saga.lease_released" }
func (CompensationStarted) EventName() string { return "saga.compensation_started" }

func (e Started) Says() string {
	return fmt.Sprintf("run %s begins, %s", e.Definition, wording.Count(len(e.Steps), "step"))
}

func (e StepCompleted) Says() string {
	return "done: " + e.Name + wording.Around(", made ", e.External, "") + map[bool]string{true: " (it was there already)"}[e.Found]
}

func (e StepUndone) Says() string { return "taken back: " + e.Name }

func (e StepSkipped) Says() string {
	return "skipped: " + e.Name + wording.Around(", proof ", e.External, "") + wording.Around(" (", e.Reason, ")")
}

func (e Deferred) Says() string { return "put off: " + e.Name + ", " + wording.Spaced(e.Code) }
func (e EffectLost) Says() string {
	return "missed at " + e.At + ": what was made is gone, back to " + e.Name
}

func (e Superseded) Says() string {
	return "ended at " + e.Name + ": a later request takes its place"
}

func (e Parked) Says() string  { return "stopped at " + e.Name + ": " + wording.Spaced(e.Code) }
func (e Retried) Says() string { return "goes on at " + e.Name + wording.Around(" (", e.Reason, ")") }
func (e Paused) Says() string  { return "paused" + wording.Around(" (", e.Reason, ")") }
func (e Resumed) Says() string { return "goes on" + wording.Around(" (", e.Reason, ")") }
func (e LeaseReleased) Says() string {
	return "taken from the worker that held it" + wording.Around(" (", e.Reason, ")")
}

func (e CompensationStarted) Says() string {
	return "to be taken back, from " + e.Name + wording.Around(" (", e.Reason, ")")
}

func (e Started) evolve(Run) Run {
	return Run{
		Key: e.Key, Definition: e.Definition, Steps: e.Steps, Input: e.Input, Order: e.Order, Direction: DirectionDo,
		Status: StatusReady,
	}
}

func (e StepCompleted) evolve(r Run) Run { return r.learn(e.Input).forward() }

func (e StepSkipped) evolve(r Run) Run {
	r.Status = StatusReady
	return r.learn(e.Input).forward()
}

func (Deferred) evolve(r Run) Run { return r.forward() }

func (StepUndone) evolve(r Run) Run { return r.backTo(r.Step - 1) }

func (e EffectLost) evolve(r Run) Run {
	r.Step, r.Lost = e.Step, r.Lost+1
	return r
}

func (Superseded) evolve(r Run) Run { r.Status = StatusDone; return r }

func (Parked) evolve(r Run) Run  { r.Status = StatusParked; return r }
func (Paused) evolve(r Run) Run  { r.Status = StatusPaused; return r }
func (Resumed) evolve(r Run) Run { r.Status = StatusReady; return r }

func (LeaseReleased) evolve(r Run) Run { return r }

func (e Retried) evolve(r Run) Run {
	r.Status, r.Lost = StatusReady, 0
	return r.learn(e.Input)
}

func (e CompensationStarted) evolve(r Run) Run {
	r.Direction, r.Status, r.Cancel = DirectionUndo, StatusReady, true
	return r.backTo(e.Step)
}

// forward puts the present step behind the run.
func (r Run) forward() Run {
	r.Step++
	if r.Step == len(r.Steps) {
		r.Status = StatusDone
	}
	return r
}

// backTo makes a step the next one to be taken back.
func (r Run) backTo(step int) Run {
	r.Step = max(step, 0)
	if step < 0 {
		r.Status = StatusUndone
	}
	return r
}

func (r Run) learn(input json.RawMessage) Run {
	if input != nil {
		r.Input = input
	}
	return r
}
