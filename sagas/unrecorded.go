package sagas

import (
	"context"
	"errors"
	"slices"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// What a worker has done for a run and not yet written: that the run has begun, and
// steps whose successors join them ([Step.Joins]). One append records all of it, each
// step with its own events and their cause. A worker that dies before has done nothing.
type unrecorded struct {
	first    claimed // the run as it is recorded
	done     []doneStep
	enters   string // the queue that the run is handed over to; "": none
	commands []domain.Command
	rows     []eventstore.TxStatement
}

// A doneStep is a run as it was before a step that is done, with the work of that step.
type doneStep struct {
	claimed
	work Work
}

// begun is what is unrecorded when a worker takes up a run: its subject is told at the
// first claim that it has begun (rule T12).
func begun(c claimed) *unrecorded {
	u := &unrecorded{first: c}
	if c.Step == 0 && c.Direction == DirectionDo && c.definition.begun != nil {
		u.commands = c.sequels(c.definition.begun(c.in))
	}
	return u
}

// sequels are commands that follow from what has become of the run until then.
func (c claimed) sequels(commands []domain.Command) []domain.Command {
	sequels := make([]domain.Command, len(commands))
	for i, command := range commands {
		sequels[i] = domain.Sequel{Command: command, Cause: c.origin().Cause}
	}
	return sequels
}

func (u *unrecorded) empty() bool { return len(u.commands) == 0 && len(u.done) == 0 }

// with adds the end of a step. A run that has nothing unrecorded may have nil.
func (u *unrecorded) with(c claimed, commands []domain.Command, rows []eventstore.TxStatement, work Work) *unrecorded {
	if u == nil {
		u = &unrecorded{first: c}
	}
	return &unrecorded{
		first: u.first, enters: u.enters, done: append(slices.Clip(u.done), doneStep{c, work}),
		commands: slices.Concat(u.commands, c.sequels(commands)), rows: slices.Concat(u.rows, rows),
	}
}

// record appends what is unrecorded of a run, with further rows. What names the append
// among those of the run's step.
func (s *executor) record(ctx context.Context, c claimed, u *unrecorded, what string, rows ...eventstore.TxStatement) error {
	rows = slices.Concat(rows, u.rows)
	if u.enters != "" {
		if !c.slot.enters(u.enters) { // an append before this one was refused
			return errNoRoom
		}
		rows = append(rows, roomRow(u.enters))
	}
	err := s.append(u.first.origin().With(ctx), c, s.causeOf(c, what), rows, u.commands)
	c.slot.entered(err == nil)
	if err != nil {
		return err
	}
	s.counts.completed.Add(int64(len(u.done)))
	for _, step := range u.done {
		s.wakes.after(step.work)
	}
	for _, step := range u.done {
		if err := s.faultAt(AfterComplete, step.claimed); err != nil {
			return err
		}
	}
	return nil
}

// settle records what is unrecorded of a run at its present step.
func (s *executor) settle(ctx context.Context, c claimed) error {
	if c.todo == nil || c.todo.empty() {
		return nil
	}
	return s.settleWith(ctx, c, "before")
}

// settleWith records what is unrecorded, with rows that check the lease themselves.
func (s *executor) settleWith(ctx context.Context, c claimed, what string, rows ...eventstore.TxStatement) error {
	switch {
	case len(c.todo.done) > 0:
		rows = append([]eventstore.TxStatement{s.advanceRow(c.todo.first, c.Run, true)}, rows...)
	case !c.todo.empty():
		rows = append([]eventstore.TxStatement{fenceRow(c)}, rows...)
	}
	if err := s.record(ctx, c, c.todo, what, rows...); err != nil {
		return err
	}
	*c.todo = unrecorded{first: c.recorded()}
	return nil
}

// errNoRoom refuses to hand a run over to a queue that has no room, or has other runs.
var errNoRoom = errors.New("the queue has no room")

// roomRow makes sure that a run may go on in a queue at once, instead of waiting for a
// claim there. The row of the queue stays locked until the commit, as in a claim.
func roomRow(queue string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key: queueRow(queue), SQL: `update saga_queue set queue = queue where queue = $1 and has_room($1, $2)`, Args: []any{queue, breaks},
		WantRows: 1, ErrIfNot: errNoRoom,
	}
}

// recorded is a run of which all is recorded.
func (c claimed) recorded() claimed {
	c.todo = nil
	return c
}

// settleBefore records what is unrecorded before a failure is handled, and returns the
// run and the failure to handle. If the append is refused, one of the steps in it is to
// blame: without an error the worker goes back to the first and records one by one. A run
// that cannot be handed over is left to its queue.
func (s *executor) settleBefore(ctx context.Context, c claimed, failure error) (claimed, error) {
	if c.todo.empty() || drops(failure) {
		return c, failure
	}
	first, steps := c.todo.first, len(c.todo.done)
	first.hold, first.until = c.hold, c.hold.ends()
	if ctx.Err() != nil || DatabaseAway(failure) {
		return first, failure
	}
	err := s.settle(ctx, c)
	if errors.Is(err, errNoRoom) {
		c.todo.enters = ""
		if err = s.record(ctx, c, c.todo, "queued", s.advanceRow(c.todo.first, c.Run, false)); err == nil {
			s.wakes.Wake(c.At().Queue)
			return claimed{}, nil
		}
	}
	switch {
	case err == nil:
		return c, failure
	case steps == 0 || drops(err) || DatabaseAway(err):
		return first, err
	}
	first.alone = true
	return first, nil
}

// drops tells whether a failure leaves nothing to be written: the lease is lost.
func drops(err error) bool {
	return errors.Is(err, ErrKilled) || errors.Is(err, ErrFenced) || errors.Is(err, errMovedOn)
}
