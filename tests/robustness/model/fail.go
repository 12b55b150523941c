package model

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// fail settles a failed attempt.
func (m *Model) fail(c claimed, step trips.Step, err error) (claimed, bool) {
	m.see(step, c, err)
	if dropped(err) {
		return c, false
	}
	if lack := new(domain.Failure); errors.As(err, &lack) && lack.Lacks != "" {
		m.withoutAccess(c, lack)
		return c, false
	}
	class, wait := sagas.Classify(err)
	late := c.deadline && c.left <= 0
	if late && c.ahead > 0 && m.triedSinceDeadline(c) < 3 {
		late, c.deadline = false, false
	}
	if class == domain.Waiting && !late {
		m.putBack(c, waitOf(c, step, wait, err))
		return c, false
	}
	if step.Kind != trips.Local && !step.Independent && domain.CodeOf(err) == "" && (class == domain.Transient || class == domain.Unknown) {
		m.countFailure(c)
	}
	if class == domain.Permanent || usedUp(step, c) {
		return m.giveUp(c, step, class, sagas.CodeOf(err))
	}
	m.putBack(c, outcome{text: "retry", class: string(class), delay: max(wait, trips.Times.Floor, step.Policy.Least), counts: true})
	return c, false
}

// triedSinceDeadline is how often the step was tried after the deadline that its row has.
func (m *Model) triedSinceDeadline(c claimed) (n int) {
	w := m.Runs[c.ID()]
	if w == nil || w.Deadline.IsZero() {
		return 0
	}
	for key, a := range m.Attempts {
		if key.Run == c.ID() && key.Step == c.Step && a.Ended.After(w.Deadline) {
			n++
		}
	}
	return n
}

// see notes what a step came to, for the table of what was covered.
func (m *Model) see(step trips.Step, c claimed, err error) {
	what := "completed"
	switch {
	case errors.Is(err, sagas.ErrKilled):
		what = "killed"
	case dropped(err):
		what = "fenced"
	case err != nil:
		what = sagas.CodeOf(err)
	}
	m.Seen = append(m.Seen, string(c.Direction)+" "+step.Name+": "+what)
}

// dropped tells whether a worker writes nothing: it was killed, or has lost its run.
func dropped(err error) bool {
	return errors.Is(err, sagas.ErrKilled) || errors.Is(err, sagas.ErrFenced) ||
		domain.CodeOf(err) == domain.Conflict && err.Error() == "The run has moved on."
}

func usedUp(step trips.Step, c claimed) bool {
	return c.deadline && c.left <= 0 || step.Policy.Attempts > 0 && c.attempt >= step.Policy.Attempts
}

// An outcome is that of an attempt that did not complete its step.
type outcome struct {
	text, class string
	delay       time.Duration
	counts      bool
	awaits      string
}

func waitOf(c claimed, step trips.Step, after time.Duration, err error) outcome {
	v := outcome{text: "wait", class: string(domain.Waiting), delay: max(after, trips.Times.Floor)}
	if code := sagas.CodeOf(err); code == "gate" || code == earlier && after == 0 {
		awaited, _ := trips.LineOf(c.in)
		if code == "gate" {
			awaited = trips.GateStream(c.in.Gate)
		}
		v.awaits, v.delay = awaited.String(), max(nextLook(c, step), trips.Times.Floor)
	}
	return v
}

// putBack gives a run back until its next attempt. It tells whether the worker is alive.
func (m *Model) putBack(c claimed, v outcome) bool {
	if v.awaits != "" && m.at(sagas.Waiting, c) != nil {
		return false
	}
	w := m.held(c)
	if w == nil {
		return true
	}
	if position(m.streams, v.awaits) > c.head {
		v.delay = 0
	}
	w.Status, w.RunAt, w.Lease, w.Awaits = "waiting", m.Now.Add(c.ahead).Add(v.delay.Truncate(time.Microsecond)), time.Time{}, v.awaits
	if !v.counts {
		w.Attempt = max(0, w.Attempt-1)
	}
	m.noteAttempt(c, Attempt{Outcome: v.text, Class: v.class, Next: w.RunAt})
	return true
}

// position is that of the last event of a stream.
func position(streams map[domain.Stream]*stream, awaited string) int {
	for at, s := range streams {
		if at.String() == awaited && len(s.events) > 0 {
			return s.events[len(s.events)-1]
		}
	}
	return 0
}

func (m *Model) countFailure(c claimed) {
	q := m.Queues[c.At().Queue]
	if q.Open.After(c.since) {
		return
	}
	q.Fails, q.Open = q.Fails+1, time.Time{}
	if q.Fails >= breaks {
		q.Open = m.Now.Add(min(trips.Times.BreakMax, trips.Times.Break<<min(q.Fails-breaks, 20)))
	}
}

func (m *Model) withoutAccess(c claimed, lack *domain.Failure) {
	q := m.Queues[c.At().Queue]
	q.Fails = max(q.Fails, breaks)
	if until := m.Now.Add(lack.Rest); until.After(q.Open) {
		q.Open = until
	}
	if !m.putBack(
		c,
		outcome{
			text: "wait", class: "access", delay: max(lack.RetryAfter, trips.Times.Floor),
			awaits: "access/" + c.At().Queue + "/" + lack.Lacks,
		},
	) {
		return
	}
	report := operations.AccessTrouble(c.At().Queue, lack.Code, lack.Lacks).Report(m.Business())
	meta := m.workerMeta(c, "")
	meta.ID, meta.Actor, meta.Saga = chance, sagas.IncidentReporter, ""
	if _, err := m.Execute(meta, report); err != nil {
		panic(err)
	}
}

func (m *Model) giveUp(c claimed, step trips.Step, class domain.Class, code string) (claimed, bool) {
	e := result{outcome: "parked", class: class, command: sagas.Park{Key: c.Key, Step: c.Step, Code: code}}
	if step.IsEffect() && step.Policy.Defer && c.Direction == sagas.DirectionDo {
		e.outcome, e.command = "deferred", sagas.Defer{Key: c.Key, Step: c.Step, Code: code}
		e.rows = append(e.rows, m.deferredRow(c, step))
	}
	m.Seen = append(m.Seen, string(c.Direction)+" "+step.Name+": "+e.outcome)
	next, on, err := m.finish(c, e)
	return next, on && err == nil
}

func (m *Model) deferredRow(c claimed, step trips.Step) row {
	key := trips.KeyOf(step.Name, c.in)
	return row{
		holds: func() bool { e := m.Effects[key]; return e == nil || slices.Contains(open, e.State) }, err: sagas.ErrFenced,
		make: func() {
			e := m.Effects[key]
			if e == nil {
				e = &Effect{Step: step.Name, Keyed: m.Now, Generation: 1}
				m.Effects[key] = e
			}
			e.State, e.Token, e.Run = sagas.EffectDeferred, c.token, c.ID()
		},
	}
}

// mostLost is how often what was lost is made anew.
const mostLost = 3

// missed decides about a wait that found nothing.
func (m *Model) missed(c *claimed, step trips.Step) (result, error) {
	to := slices.IndexFunc(c.Steps, func(r sagas.StepRef) bool { return r.Name == "make" })
	if to < 0 {
		return result{}, notReady(*c, step)
	}
	key := trips.KeyOf("make", c.in)
	known, quarantine := m.known(key), trips.StepNamed("make").Policy.Quarantine
	switch {
	case known.State != sagas.EffectConfirmed && known.State != sagas.EffectSkipped:
		return result{}, notReady(*c, step)
	case known.age(m.Now) < quarantine:
		return result{}, sagas.TooEarly("not_ready", min(nextLook(*c, step), quarantine-known.age(m.Now)))
	case m.Run(c.Key).Lost >= mostLost:
		return result{}, domain.Fail(domain.Permanent, "lost", errors.New("lost each time"))
	}
	made := []sagas.EffectState{sagas.EffectConfirmed, sagas.EffectSkipped}
	return result{
		command: sagas.GoBack{Key: c.Key, Step: c.Step, To: to}, outside: true,
		rows: []row{{
			holds: func() bool { return slices.Contains(made, m.Effects[key].State) }, err: sagas.ErrFenced,
			make: func() {
				e := m.Effects[key]
				e.State, e.External, e.Asked = sagas.EffectAbsent, "", false
			},
		}},
	}, nil
}

// causeID is the id of a worker's write.
func causeID(c claimed, what string) uuid.UUID {
	return uuid.NewSHA1(c.ID(), fmt.Appendf(nil, "%d/%d/%s", c.token, c.Step, what))
}
