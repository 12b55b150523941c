package model

import (
	"cmp"
	"time"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// advanceRow moves a run on, if the worker still has it.
func (c claimed) advanceRow(m *Model, next sagas.Run, keep bool) row {
	return row{holds: func() bool { return m.held(c) != nil }, err: sagas.ErrFenced, make: func() { m.advance(m.Runs[c.ID()], next, keep) }}
}

// endingRows are the rows of an attempt's end, but for that of the run.
func (m *Model) endingRows(c claimed, e result) []row {
	return append(e.rows, row{make: func() {
		if e.releases != (domain.Stream{}) {
			m.release(e.releases.String())
		}
		if e.counted || e.class != "" {
			m.noteAttempt(c, Attempt{Outcome: cmp.Or(e.outcome, "completed"), Class: string(e.class)})
		}
		if q := m.Queues[c.At().Queue]; e.outside && q.Fails > 0 {
			q.Fails, q.Open = 0, time.Time{}
		}
	}})
}

func (m *Model) advance(w *Row, next sagas.Run, keep bool) {
	w.Run, w.Status, w.Attempt = next, string(next.Status), 0
	m.setDeadline(w, next)
	if keep {
		w.Status, w.Attempt, w.Lease = "running", 1, m.Now.Add(trips.Times.Lease)
		return
	}
	w.RunAt, w.Lease = m.Business(), time.Time{}
}

func (m *Model) release(awaited string) {
	for _, w := range m.Runs {
		if w.Awaits == awaited && w.Status == "waiting" {
			w.RunAt = m.Business()
		}
	}
}

func (m *Model) noteAttempt(c claimed, a Attempt) {
	key := AttemptKey{c.ID(), c.token, c.Step}
	a.Began, a.Ended = m.Business(), m.Business()
	if was := m.Attempts[key]; was != nil {
		a.Began = was.Began
		if a.Next.IsZero() {
			a.Next = was.Next
		}
	}
	m.Attempts[key] = &a
}
