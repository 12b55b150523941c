package sagas

import (
	"hostpanel/domain"

	"github.com/google/uuid"
)

// Facts lists every event that the streams of runs and the journals of what
// operators asked for may hold.
var Facts = []domain.Fact{
	domain.FactOf[Started](), domain.FactOf[StepCompleted](), domain.FactOf[StepUndone](), domain.FactOf[StepSkipped](),
	domain.FactOf[Deferred](), domain.FactOf[Parked](), domain.FactOf[Resumed](), domain.FactOf[Paused](),
	domain.FactOf[Continued](), domain.FactOf[Turned](), domain.FactOf[Released](),
	domain.FactOf[RecheckRequested](), domain.FactOf[WebhookReplayed](), domain.FactOf[WebhooksReplayed](),
}

type (
	Started struct {
		Key   string    `json:"key"`
		Def   string    `json:"def"`
		Steps []Place   `json:"steps"`
		Job   Job       `json:"input"`
		Order uuid.UUID `json:"order"`
	}
	StepCompleted struct {
		Step     int    `json:"step"`
		Name     string `json:"name"`
		External string `json:"external,omitempty"`
		Found    bool   `json:"found,omitempty"`
		Learnt   *Job   `json:"input,omitempty"`
	}
	StepUndone struct {
		Step int    `json:"step"`
		Name string `json:"name"`
	}
	StepSkipped struct {
		Step     int    `json:"step"`
		Name     string `json:"name"`
		External string `json:"external,omitempty"`
		Reason   string `json:"reason"`
		Learnt   *Job   `json:"input,omitempty"`
	}
	Deferred struct {
		Step int    `json:"step"`
		Name string `json:"name"`
		Code string `json:"code"`
	}
	Parked struct {
		Step int    `json:"step"`
		Name string `json:"name"`
		Code string `json:"code"`
	}
	Resumed struct {
		Step   int               `json:"step"`
		Name   string            `json:"name"`
		Reason string            `json:"reason"`
		Input  map[string]string `json:"changed,omitempty"`
	}
	Paused struct {
		Reason string `json:"reason"`
	}
	Continued struct {
		Reason string `json:"reason"`
	}
	Released struct {
		Reason string `json:"reason"`
	}
	Turned struct {
		Step   int    `json:"step"` // the first one to be taken back; -1: there is none
		Name   string `json:"name"` // at which it stood
		Reason string `json:"reason"`
	}
)

func (Started) EventName() string       { return "saga.started" }
func (StepCompleted) EventName() string { return "saga.step_completed" }
func (StepUndone) EventName() string    { return "saga.step_undone" }
func (StepSkipped) EventName() string   { return "saga.step_skipped" }
func (Deferred) EventName() string      { return "saga.deferred" }
func (Parked) EventName() string        { return "saga.parked" }
func (Resumed) EventName() string       { return "saga.resumed" }
func (Paused) EventName() string        { return "saga.paused" }
func (Continued) EventName() string     { return "saga.continued" }
func (Released) EventName() string      { return "saga.released" }
func (Turned) EventName() string        { return "saga.turned" }

func (e Started) evolve(Run) Run {
	return Run{Key: e.Key, Def: e.Def, Steps: e.Steps, Job: e.Job, Order: e.Order, Direction: Do, Status: Ready}
}

func (e StepCompleted) evolve(r Run) Run { return r.learn(e.Learnt).forward() }

func (e StepSkipped) evolve(r Run) Run {
	r.Status = Ready
	return r.learn(e.Learnt).forward()
}

func (Deferred) evolve(r Run) Run { return r.forward() }

func (StepUndone) evolve(r Run) Run { return r.backTo(r.Step - 1) }

func (Parked) evolve(r Run) Run    { r.Status = Stopped; return r }
func (Paused) evolve(r Run) Run    { r.Status = Held; return r }
func (Continued) evolve(r Run) Run { r.Status = Ready; return r }

func (Released) evolve(r Run) Run { return r }

func (e Resumed) evolve(r Run) Run {
	r.Status = Ready
	r.Job = r.Job.with(e.Input)
	return r
}

func (e Turned) evolve(r Run) Run {
	r.Direction, r.Status, r.Cancel = Undo, Ready, true
	return r.backTo(e.Step)
}

// forward puts the present step behind the run.
func (r Run) forward() Run {
	r.Step++
	if r.Step == len(r.Steps) {
		r.Status = Done
	}
	return r
}

// backTo makes a step the next one to be taken back.
func (r Run) backTo(step int) Run {
	r.Step = max(step, 0)
	if step < 0 {
		r.Status = Undone
	}
	return r
}

func (r Run) learn(j *Job) Run {
	if j != nil {
		r.Job = *j
	}
	return r
}
