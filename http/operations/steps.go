package operations

import (
	"strings"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/operations"
)

const provisionKind = "provision" // of the runs that set an order up

// phases are the five steps of the interface, by the first part of the names
// of the steps that carry them out.
var phases = map[string]int64{"account": 1, "tenant": 2, "site": 2, "vm": 2, "billing": 3, "welcome": 4, "activate": 5}

func phaseOf(step string) int64 {
	first, _, _ := strings.Cut(step, ".")
	return phases[first]
}

// stepStatuses are how a step may stand. One that the run stands at stands as
// the run does.
var stepStatuses = []string{"ahead", "ready", "running", "waiting", "parked", "paused", "done", "skipped", "deferred", "undone"}

// A stepEntry is one step of the setup of an order.
type stepEntry struct {
	step, status, lastError, externalID string
	phase, attempts                     int64
	startedAt, finishedAt, nextAt       *time.Time
}

// Fields are the step.
func (e *stepEntry) Fields() field.Set {
	return field.Set{
		field.Text("step", &e.step).ReadOnly(),
		field.Int("phase", &e.phase).ReadOnly().Doc("1 account, 2 resource, 3 invoice, 4 mail, 5 active."),
		field.Text("status", &e.status).Among(stepStatuses...).ReadOnly(),
		field.Int("attempts", &e.attempts).ReadOnly(),
		field.Text("last_error", &e.lastError).ReadOnly(),
		field.Text("external_id", &e.externalID).ReadOnly(),
		field.NullTime("started_at", &e.startedAt).ReadOnly(),
		field.NullTime("finished_at", &e.finishedAt).ReadOnly(),
		field.NullTime("next_attempt_at", &e.nextAt).ReadOnly(),
	}
}

// stepsOf are the steps of an order's setup; none while it is not paid.
func stepsOf(d operations.OrderDetail) []stepEntry {
	for _, r := range d.Runs {
		if r.Kind == provisionKind {
			return stepsOfRun(r, endingsOf(r, d.Events))
		}
	}
	return nil
}

func stepsOfRun(r operations.Run, ended map[int]ending) []stepEntry {
	steps, begins := make([]stepEntry, len(r.Steps)), &r.CreatedAt
	for i, place := range r.Steps {
		e := &steps[i]
		*e = stepEntry{step: place.Name, phase: phaseOf(place.Name), status: statusOf(r, i, ended)}
		for _, effect := range r.Effects {
			if effect.Step == place.Name {
				e.externalID = effect.ExternalID
			}
		}
		e.tried(r, i)
		if end, over := ended[i]; over {
			if e.startedAt == nil {
				e.startedAt = begins // it took no attempt of its own
			}
			e.finishedAt, begins = &end.at, &end.at
		}
		if i == r.Step && (r.Status == "ready" || r.Status == "waiting") {
			e.nextAt = &r.RunAt
		}
	}
	return steps
}

// tried counts what was tried at a step.
func (e *stepEntry) tried(r operations.Run, step int) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Step != step {
			continue
		}
		if e.startedAt == nil {
			e.startedAt = &a.StartedAt
		}
		if a.ErrorClass != "wait" {
			e.attempts++
		}
		if a.Error != "" {
			e.lastError = a.Error
		}
	}
}

// statusOf is how a step of a run stands.
func statusOf(r operations.Run, step int, ended map[int]ending) string {
	end, over := ended[step]
	switch {
	case over:
		return end.status
	case step == r.Step && !r.Over():
		return r.Status
	}
	return "ahead"
}

// An ending is when and how a step came to its end.
type ending struct {
	at     time.Time
	status string
}

// endings are the events that end a step.
var endings = map[string]string{
	"saga.step_completed": "done", "saga.step_skipped": "skipped", "saga.step_deferred": "deferred", "saga.step_undone": "undone",
}

// endingsOf are the ends of the steps of a run, by their place in its list.
func endingsOf(r operations.Run, facts []operations.RecordedEvent) map[int]ending {
	ended := map[int]ending{}
	for _, f := range facts {
		if status, ends := endings[f.Name]; ends && f.Stream == r.Stream() {
			ended[f.StepFact().Step] = ending{f.RecordedAt, status}
		}
	}
	return ended
}

// endingsIn are the ends of the steps of a run, as far as it knows itself: by where it
// stands, what was tried, and what was done outside.
func endingsIn(r operations.Run) map[int]ending {
	ended := map[int]ending{}
	for i := range r.Steps {
		if i < r.Step || r.Status == "done" {
			ended[i] = ending{r.UpdatedAt, "done"}
		}
	}
	for _, a := range r.Attempts {
		if e, over := ended[a.Step]; over && a.FinishedAt != nil {
			ended[a.Step] = ending{*a.FinishedAt, e.status}
		}
	}
	for _, e := range r.Effects {
		if e.State != "skipped" && e.State != "deferred" && e.State != "undone" {
			continue
		}
		for i, place := range r.Steps {
			if place.Name == e.Step {
				ended[i] = ending{e.UpdatedAt, e.State}
			}
		}
	}
	return ended
}
