package model

import (
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/trips"
)

// unrecorded is what a worker has done for a run and not yet written: steps whose
// successors join them. One write has all of it.
type unrecorded struct {
	first    claimed // the run as it is recorded
	done     []claimed
	commands []domain.Command
	rows     []row
}

// joins tells whether a run may stand at its step before what comes before is recorded.
func joins(r sagas.Run) bool { return r.Definition == trips.Joining && stepOf(r).Joins }

// with adds the end of a step, each with its own cause.
func (u *unrecorded) with(c claimed, commands []domain.Command, rows []row) *unrecorded {
	sequels := make([]domain.Command, len(commands))
	for i, command := range commands {
		sequels[i] = domain.Sequel{Command: command, Cause: c.cause()}
	}
	return &unrecorded{
		first: u.first, done: append(slices.Clip(u.done), c),
		commands: slices.Concat(u.commands, sequels), rows: slices.Concat(u.rows, rows),
	}
}

// record writes what is unrecorded, with further rows.
func (u *unrecorded) record(m *Model, c claimed, what string, rows ...row) error {
	meta := m.workerMeta(c, what)
	meta.Cause = u.first.cause()
	if _, err := m.executeWith(meta, slices.Concat(rows, u.rows), u.commands...); err != nil {
		return err
	}
	for _, step := range u.done {
		if err := m.at(sagas.AfterComplete, step); err != nil {
			return err
		}
	}
	return nil
}

// settle records what is unrecorded of a run at its present step.
func (c claimed) settle(m *Model) error {
	if len(c.todo.done) == 0 {
		return nil
	}
	return c.settleWith(m, "before")
}

func (c claimed) settleWith(m *Model, what string, rows ...row) error {
	if len(c.todo.done) > 0 {
		rows = append([]row{c.todo.first.advanceRow(m, c.Run, true)}, rows...)
	}
	if err := c.todo.record(m, c, what, rows...); err != nil {
		return err
	}
	now := c
	now.todo = nil
	*c.todo = unrecorded{first: now}
	return nil
}

// settleBefore records what is unrecorded before a failure is handled. If that is
// refused, the worker goes back to the first step and records one by one.
func (c claimed) settleBefore(m *Model, failure error) (claimed, error) {
	if len(c.todo.done) == 0 || dropped(failure) {
		return c, failure
	}
	first := c.todo.first
	err := c.settle(m)
	switch {
	case err == nil:
		return c, failure
	case dropped(err):
		return first, err
	}
	m.Seen = append(m.Seen, "joined steps are recorded one by one")
	first.alone = true
	return first, nil
}

var (
	errContested   = errors.New("another resource has the object")
	errNotIntended = errors.New("the lease is too short, or the request is another one")
)
