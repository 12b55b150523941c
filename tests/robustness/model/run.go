package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// A Row is the work row of a run.
type Row struct {
	Run         sagas.Run
	Status      string
	Attempt     int
	Token       int64
	RunAt       time.Time
	Deadline    time.Time // zero: none
	Lease       time.Time // zero: none
	Awaits      string
	Correlation uuid.UUID
}

// A Queue is one place where runs wait their turn.
type Queue struct {
	Most   int
	Paused bool
	Fails  int
	Open   time.Time // until when its breaker is open; zero: it is closed
}

// An AttemptKey names an attempt.
type AttemptKey struct {
	Run   uuid.UUID
	Token int64
	Step  int
}

// An Attempt is what is kept of one.
type Attempt struct {
	Began, Ended, Next time.Time
	Outcome, Class     string
}

// claimed is a run in the hands of a worker, as it was when it was claimed.
type claimed struct {
	sagas.Run
	in       trips.Trip
	before   []byte
	queue    string
	attempt  int
	token    int64
	left     time.Duration
	deadline bool
	since    time.Time
	ahead    time.Duration
	head     int
	mail     uuid.UUID // its correlation
	todo     *unrecorded
	alone    bool // its steps are recorded one by one
}

func budgetOf(r sagas.Run) time.Duration {
	if r.Over() {
		return 0
	}
	return stepOf(r).Policy.Budget
}

// stepOf is the step that a run stands at, with the policy for its direction.
func stepOf(r sagas.Run) trips.Step {
	s := trips.StepNamed(r.At().Name)
	if r.Direction == sagas.DirectionUndo && s.IsEffect() {
		quarantine := s.Policy.Quarantine
		s.Policy = trips.Times.UndoPolicy()
		s.Policy.Quarantine = quarantine
	}
	return s
}

// setDeadline starts the budget of the run's step.
func (m *Model) setDeadline(w *Row, r sagas.Run) {
	w.Deadline = time.Time{}
	if budget := budgetOf(r); budget > 0 {
		w.Deadline = m.Business().Add(budget)
	}
}

func (m *Model) startRow(r sagas.Run, correlation uuid.UUID) row {
	return row{
		holds: func() bool { return m.Runs[r.ID()] == nil }, err: errConflict,
		make: func() {
			w := &Row{Run: r, Status: "ready", RunAt: m.Business(), Correlation: correlation}
			m.setDeadline(w, r)
			m.Runs[r.ID()] = w
		},
	}
}

// Start starts a run by itself.
func (m *Model) Start(meta domain.Metadata, start sagas.Start) (Receipt, error) {
	_, state, _ := decideOn(nil, start)
	return m.executeWith(meta, []row{m.startRow(state.(sagas.Run), meta.ID)}, start)
}

// Due are the runs of a queue that may be claimed next: those before all others.
func (m *Model) Due(queue string) []*Row {
	q := m.Queues[queue]
	if q.Paused || q.Open.After(m.Now) {
		return nil
	}
	room := q.Most
	if q.Fails >= breaks {
		room = 1
	}
	var lost, due []*Row
	for _, w := range m.Runs {
		switch {
		case w.Run.At().Queue != queue:
		case w.Status == "running" && !w.Lease.Before(m.Now):
			room--
		case w.Status == "running":
			lost = append(lost, w)
		case (w.Status == "ready" || w.Status == "waiting") && !w.RunAt.After(m.Business()):
			due = append(due, w)
		}
	}
	if room <= 0 {
		return nil
	}
	if len(lost) > 0 {
		return first(lost, func(w *Row) time.Time { return w.Lease })
	}
	return first(due, func(w *Row) time.Time { return w.RunAt })
}

const breaks = 5

// first are the rows with the least time.
func first(rows []*Row, at func(*Row) time.Time) []*Row {
	slices.SortFunc(rows, func(a, b *Row) int {
		return cmp.Or(at(a).Compare(at(b)), bytes.Compare([]byte(a.Run.Key), []byte(b.Run.Key)))
	})
	for i, w := range rows {
		if !at(w).Equal(at(rows[0])) {
			return rows[:i]
		}
	}
	return rows
}

func (m *Model) claim(w *Row) claimed {
	w.Status, w.Attempt, w.Token, w.Lease = "running", w.Attempt+1, w.Token+1, m.Now.Add(trips.Times.Lease)
	c := claimed{
		Run: w.Run, queue: w.Run.At().Queue, attempt: w.Attempt, token: w.Token, since: m.Now, ahead: m.Ahead,
		head: len(m.Events), mail: w.Correlation,
	}
	c.Status = sagas.StatusReady
	if !w.Deadline.IsZero() {
		c.left, c.deadline = asRead(w.Deadline.Sub(m.Business())), true
	}
	return c
}

// Work claims the run that is due first and works on it, as a worker of a process does.
// Of several that are due at the same moment it takes the one with the key.
func (m *Model) Work(queue, key string) string {
	due := m.Due(queue)
	if len(due) == 0 {
		return ""
	}
	at := max(0, slices.IndexFunc(due, func(w *Row) bool { return w.Run.Key == key }))
	c := m.claim(due[at])
	for on := true; on; {
		c, on = m.attemptStep(c)
	}
	return due[at].Run.Key
}

func (m *Model) attemptStep(c claimed) (claimed, bool) {
	c.in, c.before = trips.InputOf(c.Run), sagas.Encode(trips.InputOf(c.Run))
	if c.todo == nil {
		c.todo = &unrecorded{first: c}
	}
	step := stepOf(c.Run)
	result, err := m.attempt(&c, step)
	if err == nil {
		var next claimed
		var on bool
		if next, on, err = m.finish(c, result); err == nil {
			m.see(step, c, nil)
			return next, on
		}
	}
	if c, err = c.settleBefore(m, err); err == nil {
		return c, true
	}
	return m.fail(c, stepOf(c.Run), err)
}

// A result is what came of an attempt.
type result struct {
	command  sagas.Command
	rows     []row
	commands []domain.Command
	releases domain.Stream
	outcome  string
	class    domain.Class
	counted  bool
	outside  bool
}

func (m *Model) attempt(c *claimed, step trips.Step) (result, error) {
	switch {
	case c.Direction == sagas.DirectionUndo:
		return m.undoStep(c, step)
	case step.Kind == trips.Local:
		return m.local(c, step)
	case step.Kind == trips.Look || step.Kind == trips.Gate:
		return m.wait(c, step)
	}
	return m.effect(c, step)
}

func (m *Model) local(c *claimed, step trips.Step) (result, error) {
	r := result{command: c.completed("", false)}
	if step.Name == "open" {
		r.commands, r.releases = []domain.Command{trips.GateTrouble(c.in.Gate).Report(m.Business())}, trips.GateStream(c.in.Gate)
		return r, nil
	}
	if c.in.Line > 0 {
		if err := m.afterEarlier(*c); err != nil {
			return result{}, err
		}
	}
	r.commands = []domain.Command{trips.NoteOf(c.in.Name, m.Outside.Note(c.in.Name), m.Business())}
	return r, nil
}

func (m *Model) wait(c *claimed, step trips.Step) (result, error) {
	ready, err := false, error(nil)
	if step.Kind == trips.Gate {
		if ready = m.Incident(trips.GateStream(c.in.Gate)).Open; !ready {
			err = sagas.Await(trips.GateStream(c.in.Gate), "gate", 0)
		}
	} else if ready, err = m.Outside.Ready(trips.ClaimOf(c.in)); errors.Is(err, sagas.ErrAbsent) {
		if err := c.settle(m); err != nil {
			return result{}, err
		}
		return m.missed(c, step)
	}
	if err == nil && !ready {
		err = notReady(*c, step)
	}
	return result{command: c.completed("", false), outside: true}, err
}

func notReady(c claimed, step trips.Step) error {
	return sagas.TooEarly("not_ready", nextLook(c, step))
}

func nextLook(c claimed, step trips.Step) time.Duration {
	p, looking := step.Policy, step.Policy.Budget-c.left
	for d := p.First; d < p.Last; d *= 2 {
		if looking < 2*d-p.First {
			return d
		}
	}
	return p.Last
}

func (c *claimed) completed(external string, found bool) sagas.Complete {
	return sagas.Complete{Key: c.Key, Step: c.Step, External: external, Found: found, Input: c.learnt()}
}

func (c *claimed) learnt() json.RawMessage {
	if now := sagas.Encode(c.in); !bytes.Equal(now, c.before) {
		return now
	}
	return nil
}

// held is the row of a run, if a worker with this token still has it at this step.
func (m *Model) held(c claimed) *Row {
	if w := m.Runs[c.ID()]; w.Token == c.token && w.Status == "running" && rowStep(w.Run) == c.Step {
		return w
	}
	return nil
}

func rowStep(r sagas.Run) int { return min(r.Step, len(r.Steps)-1) }

func (m *Model) finish(c claimed, e result) (claimed, bool, error) {
	_, state, err := decideOn(c.Run, e.command)
	if err != nil {
		return c, false, err
	}
	next := state.(sagas.Run)
	if err := m.at(sagas.BeforeComplete, c); err != nil {
		return c, false, err
	}
	back := c.Direction == sagas.DirectionDo && next.Step < c.Step
	keep := next.Status == sagas.StatusReady && !back && (next.At().Queue == c.queue || next.At().Queue == sagas.LocalQueue)
	todo := c.todo.with(c, append([]domain.Command{e.command}, e.commands...), m.endingRows(c, e))
	if keep && joins(next) && !c.alone && c.Direction == sagas.DirectionDo {
		m.Seen = append(m.Seen, "joined: "+c.At().Name+" and "+next.At().Name)
		joined := c.after(next, true)
		joined.todo = todo
		return joined, true, nil
	}
	if err := todo.record(m, c, string(next.Status), todo.first.advanceRow(m, next, keep)); err != nil {
		return c, false, err
	}
	return c.after(next, keep), keep, nil
}

// after is the run once its step is done.
func (c claimed) after(next sagas.Run, keep bool) claimed {
	done := claimed{
		Run: next, queue: c.queue, token: c.token, attempt: 1, since: c.since, ahead: c.ahead, head: c.head,
		mail: c.mail, alone: c.alone && keep,
	}
	if budget := budgetOf(next); budget > 0 {
		done.left, done.deadline = budget, true
	}
	return done
}

func (m *Model) workerMeta(c claimed, what string) domain.Metadata {
	return domain.Metadata{
		ID: causeID(c, what), Actor: "system:" + strings.TrimSuffix(c.Definition, "/1"), Saga: c.Key, Correlation: c.mail, Cause: c.cause(),
	}
}

// cause is what an attempt follows from: what has become of the run until then.
func (c claimed) cause() domain.Cause {
	return domain.EventCause(sagas.StreamOf(c.Key), int(c.Version))
}
