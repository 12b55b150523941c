package model

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// The commands of operators.

// Retry lets a parked run go on, with a corrected label unless that is "".
func (m *Model) Retry(meta domain.Metadata, key, label string) error {
	run := m.Run(key)
	if run.Key == "" {
		return sagas.ErrNoRun
	}
	resume := sagas.Retry{Key: key, Reason: Reason}
	var rows []row
	if label != "" {
		var err error
		resume.Corrections = map[string]string{"label": label}
		if resume.Input, rows, err = m.correct(run, label); err != nil {
			return err
		}
	}
	return m.overrule(meta, run, resume, rows)
}

// Reason is why operators do what they do here.
const Reason = "on order"

func (m *Model) correct(run sagas.Run, label string) ([]byte, []row, error) {
	in := trips.InputOf(run)
	if run.At().Name != "make" {
		return nil, nil, domain.RefuseField("input", "This step has no such input.")
	}
	owner := trips.ClaimOf(in)
	in.Label = label
	switch e := m.Effects[trips.KeyOf("make", in)]; {
	case e == nil:
		return sagas.Encode(in), nil, nil
	case e.State != sagas.EffectAbsent:
		return nil, nil, sagas.NotNow("What was asked for before may exist. Retry without changes first.")
	default:
		return sagas.Encode(in), []row{{make: func() { e.Asked = false; m.freeClaims(owner) }}}, nil
	}
}

// Skip completes the step of a parked run by hand.
func (m *Model) Skip(meta domain.Metadata, key, name, external string) error {
	run := m.Run(key)
	switch {
	case run.Key == "":
		return sagas.ErrNoRun
	case run.Status != sagas.StatusParked:
		return sagas.NotNow("The run is not parked.")
	case run.At().Name != name || !trips.StepNamed(name).IsEffect() && name != "made":
		return domain.RefuseField("step", `"`+name+`" is not a valid choice.`)
	}
	step, c := trips.StepNamed(name), claimed{Run: run, in: trips.InputOf(run), before: sagas.Encode(trips.InputOf(run))}
	made := step
	if name == "made" {
		made = trips.StepNamed("make")
	}
	proof, err := m.Outside.Proof(c.in, made, external)
	if err != nil {
		return err
	}
	c.confirmed(made, proof, true)
	if name == "made" {
		if _, err := m.Outside.Ready(trips.ClaimOf(c.in)); err != nil {
			return sagas.NotNow("What the run waits for cannot be looked at now.")
		}
	}
	skipped := row{make: func() { m.skipEffect(trips.KeyOf(made.Name, c.in), run.ID(), made.Name, external) }}
	return m.overrule(
		meta, run, sagas.Skip{Key: key, Step: run.Step, External: external, Reason: Reason, Input: c.learnt()},
		[]row{skipped},
	)
}

func (m *Model) skipEffect(key string, run uuid.UUID, step, external string) {
	e := m.Effects[key]
	if e == nil {
		e = &Effect{Run: run, Step: step, Keyed: m.Now, Generation: 1}
		m.Effects[key] = e
	}
	e.State, e.External = sagas.EffectSkipped, external
}

// Direct carries out a command that needs nothing but the run.
func (m *Model) Direct(meta domain.Metadata, key string, what func(sagas.Run) sagas.Command) error {
	run := m.Run(key)
	if run.Key == "" {
		return sagas.ErrNoRun
	}
	return m.overrule(meta, run, what(run), nil)
}

// Pause, Continue, TakeBack and Pass are what [Model.Direct] is asked for.
func Pause(r sagas.Run) sagas.Command { return sagas.Pause{Key: r.Key, Reason: Reason} }

// Continue ends a pause.
func Continue(r sagas.Run) sagas.Command { return sagas.Resume{Key: r.Key, Reason: Reason} }

// Pass ends the wait for a gate.
func Pass(r sagas.Run) sagas.Command {
	return sagas.Pass{Key: r.Key, Name: "gate", Reason: Reason}
}

// TakeBack compensates from the present step, or the one before if that is no effect.
func TakeBack(r sagas.Run) sagas.Command {
	from := r.Step
	if !trips.StepNamed(r.At().Name).IsEffect() {
		from--
	}
	return sagas.Compensate{Key: r.Key, From: from, Reason: Reason}
}

func (m *Model) overrule(meta domain.Metadata, run sagas.Run, c sagas.Command, rows []row) error {
	events, state, err := decideOn(run, c)
	if err != nil || len(events) == 0 {
		return err
	}
	next := state.(sagas.Run)
	meta.Saga = run.Key
	rows = append(rows, row{make: func() {
		w := m.Runs[run.ID()]
		w.Run, w.Status, w.Attempt, w.RunAt, w.Lease, w.Token = next, string(next.Status), 0, m.Business(), time.Time{}, w.Token+1
		m.setDeadline(w, next)
	}})
	_, err = m.executeWith(meta, rows, c)
	return err
}

// Release takes a run from its worker.
func (m *Model) Release(meta domain.Metadata, key string) error {
	run := m.Run(key)
	if run.Key == "" {
		return sagas.ErrNoRun
	}
	w := m.Runs[run.ID()]
	released := row{
		holds: func() bool { return slices.Contains([]string{"running", "waiting"}, w.Status) },
		err:   sagas.NotNow("No worker holds the run."),
		make: func() {
			w.Run = m.Run(key)
			w.Run.Version++
			w.Status, w.RunAt, w.Lease, w.Awaits, w.Token = "ready", m.Business(), time.Time{}, "", w.Token+1
		},
	}
	meta.Saga = key
	_, err := m.executeWith(meta, []row{released}, sagas.ReleaseLease{Key: key, Reason: Reason})
	return err
}

// LabelOf is the box that a run is about.
func LabelOf(run sagas.Run) string {
	if run.Key != "" {
		return trips.InputOf(run).Label
	}
	return ""
}
