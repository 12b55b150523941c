package sagas

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas/memory"
)

// An executor claims runs and works on their steps: it calls systems outside,
// keeps the ledger and the leases, settles failures, and compensates.
type executor struct {
	store *eventstore.Store
	pool  *pgxpool.Pool
	times Times
	now   func() time.Time
	log   *slog.Logger
	fault faults

	definitions *definitions
	runs        runs
	ledger      *ledger
	wakes       *wakes
	incidents   *incidents
	counts      *counts

	worker  string
	leases  leases
	slots   slots
	workers sync.WaitGroup
}

func (s *executor) faultAt(p Point, c claimed) error { return s.fault.at(p, c.Run) }

// workOn executes the steps of a run until it ends, waits or fails.
func (s *executor) workOn(ctx context.Context, c claimed) {
	id := c.id
	ctx = memory.With(ctx)
	for on := true; on && ctx.Err() == nil; {
		stepCtx, h := s.leases.take(ctx, c)
		c.hold = h
		c, on = s.attemptStep(c.origin().With(stepCtx), c)
		s.leases.drop(id, h)
	}
}

// attemptStep makes one attempt at the run's present step. It returns the run after
// it, and whether this worker continues with the run.
func (s *executor) attemptStep(ctx context.Context, c claimed) (claimed, bool) {
	d, step, known := s.definitions.stepOf(c.Run)
	if !known {
		alarm(ctx, s.log, "a run names a step that this program lacks", "run", c.id, "step", c.At().Name)
		return c, false
	}
	var err error
	if c.definition, c.in, c.before, err = decoded(d, c.Input); err != nil {
		alarm(ctx, s.log, "the input of a run cannot be read", "run", c.id, "error", err)
		return c, false
	}
	if c.todo == nil {
		c.todo = begun(c)
	}
	var next claimed
	step = s.definitions.stepInDirection(c.Run, step)
	err = Guarded(func() error {
		e, err := s.attempt(ctx, c, step)
		if err == nil {
			next, err = s.finish(ctx, c, e)
		}
		return err
	})
	if err == nil {
		return next, next.hold != nil
	}
	if c, err = s.settleBefore(ctx, c, err); err == nil {
		return c, c.hold != nil
	}
	_, step, _ = s.definitions.stepOf(c.Run)
	step = s.definitions.stepInDirection(c.Run, step)
	next, err = s.handleFailure(ctx, c, step, err)
	if err != nil {
		s.log.WarnContext(ctx, "an attempt could not be settled", "run", c.id, "step", step.name, "error", Scrub(err))
	}
	return next, next.hold != nil
}

// decoded returns the decoded input of a run, and its encoding.
func decoded(d *definition, input json.RawMessage) (*definition, any, []byte, error) {
	in, err := d.decode(input)
	return d, in, Encode(in), err
}

// Guarded turns a panic into an error, so that one faulty step does not end the
// process.
func Guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v at %s", p, debug.Stack())
		}
	}()
	return do()
}

// An attemptResult is the result of an attempt: the run's next command, with further
// rows and commands.
type attemptResult struct {
	command Command
	work    Work
	outcome string // of the attempt, for operators
	class   domain.Class
	text    string
	counted bool // the attempt has a row
	outside bool // the outside system has answered, which closes the queue's breaker
}

// attempt tries the step once.
func (s *executor) attempt(ctx context.Context, c claimed, step step) (attemptResult, error) {
	switch {
	case c.Direction == DirectionUndo:
		return s.compensateStep(ctx, c, step)
	case step.local != nil:
		return s.doLocal(ctx, c, step.local.do)
	case step.wait != nil:
		return s.checkWait(ctx, c, step)
	}
	return s.doEffect(ctx, c, step)
}

func (s *executor) doLocal(ctx context.Context, c claimed, do func(context.Context, any) (Work, error)) (attemptResult, error) {
	work, err := do(ctx, c.in)
	if err != nil {
		return attemptResult{}, err
	}
	return attemptResult{command: c.completed(Result{}, false), work: work}, nil
}

// checkWait checks the condition of a wait.
func (s *executor) checkWait(ctx context.Context, c claimed, step step) (attemptResult, error) {
	var ready bool
	var work Work
	err := s.limited(ctx, c, step, func(ctx context.Context) (err error) {
		ready, work, err = step.wait(ctx, c.in)
		return err
	})
	if errors.Is(err, ErrAbsent) {
		if err := s.settle(ctx, c); err != nil {
			return attemptResult{}, err
		}
		return s.missed(ctx, c, step)
	}
	if err != nil {
		return attemptResult{}, err
	}
	if !ready {
		return attemptResult{}, notReady(c, step)
	}
	return attemptResult{command: c.completed(Result{}, false), work: work, outside: true}, nil
}

// nextLook is the delay before the next check; it doubles each time.
func (p Policy) nextLook(c claimed) time.Duration {
	looking := p.Budget - c.left
	for d := p.First; d < p.Last; d *= 2 {
		if looking < 2*d-p.First {
			return d
		}
	}
	return p.Last
}

// call is the timeout of one call of a step, which is shorter than a lease.
func (t Times) call(step step) time.Duration {
	limit := step.policy.Timeout
	if limit == 0 {
		limit = t.Call
	}
	return min(limit, t.Lease*5/6)
}

// timedOut returns the reason for the stop of the worker, if it was stopped. It is
// more specific than the error of the interrupted call.
func (s *executor) timedOut(worker, call context.Context, err error) error {
	if worker.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(worker), err)
	}
	if call.Err() != nil && domain.ClassOf(err) == domain.Unknown {
		return domain.Fail(domain.Unknown, "timeout", err)
	}
	return err
}

// completed is the command that completes the claimed step.
func (c claimed) completed(r Result, found bool) Complete {
	return Complete{Key: c.Key, Step: c.Step, External: r.External, Found: found, Input: c.learnt()}
}

// learnt is the input if the step has changed it; nil: unchanged.
func (c claimed) learnt() json.RawMessage {
	if now := Encode(c.in); !bytes.Equal(now, c.before) {
		return now
	}
	return nil
}

// finish ends an attempt. The completion of a step waits for the next one if that joins
// it; otherwise fence, rows and events are one append. The result holds a lease if this
// worker continues with the run.
func (s *executor) finish(ctx context.Context, c claimed, e attemptResult) (claimed, error) {
	events, err := Decider.Decide(c.Run, e.command)
	if err != nil {
		return c, err
	}
	next := c.Run
	for _, f := range events {
		next = Decider.Evolve(next, f)
	}
	if err := s.faultAt(BeforeComplete, c); err != nil {
		return c, err
	}
	commands := append([]domain.Command{e.command}, e.work.Commands...)
	if next.Status == StatusUndone && c.definition.undone != nil {
		commands = append(commands, c.definition.undone(c.in)...)
	}
	back := c.Direction == DirectionDo && next.Step < c.Step // needs another token, for its causes and attempts
	stays := next.At().Queue == c.queue || next.At().Queue == LocalQueue
	keep := next.Status == StatusReady && !back && (stays || c.Direction == DirectionDo && c.slot.enter(next.At().Queue))
	todo := c.todo.with(c, commands, c.endingRows(e), e.work)
	if keep && !stays {
		todo.enters = next.At().Queue
	}
	if _, step, _ := s.definitions.stepOf(next); keep && step.joins && !c.alone && c.Direction == DirectionDo {
		joined := s.advanced(c, next, true, c.hold.ends())
		joined.todo = todo
		return joined, nil
	}
	until := clock.Now().Add(s.times.Lease)
	err = s.record(ctx, c, todo, string(next.Status), s.advanceRow(todo.first, next, keep))
	if errors.Is(err, errNoRoom) {
		keep = false
		todo.enters = ""
		err = s.record(ctx, c, todo, string(next.Status), s.advanceRow(todo.first, next, keep))
	}
	if err != nil {
		return c, err
	}
	return s.advanced(c, next, keep, until), nil
}

// appends is the number of attempts at an append while the database is unavailable.
const appends = 3

// append writes the result of an attempt. Without an answer it is sent again; the
// same cause adds nothing twice.
func (s *executor) append(
	ctx context.Context, c claimed, cause domain.Metadata, rows []eventstore.TxStatement, commands []domain.Command,
) error {
	defer memory.Forget(ctx)
	return c.hold.write(func() (err error) {
		for range appends {
			if _, err = s.store.ExecuteWith(ctx, cause, rows, commands...); !errors.Is(err, eventstore.ErrUnavailable) {
				return err
			}
			clock.Pausing(ctx, s.times.LocalBase, nil)
		}
		return err
	})
}

// endingRows are the rows of an attempt's end, but for the work row.
func (c claimed) endingRows(e attemptResult) []eventstore.TxStatement {
	rows := e.work.rows()
	if e.counted || e.class != "" {
		rows = append(rows, attemptRow(c, e))
	}
	if e.outside {
		rows = append(rows, eventstore.TxStatement{
			Key:     queueRow(c.At().Queue),
			SQL:     `update saga_queue q set fails = 0, open_until = null from arg where q.queue = arg.queue and fails > 0`,
			Columns: "queue text", Args: []any{c.At().Queue}, WantRows: eventstore.AnyRows,
		})
	}
	return rows
}

// attemptRow records the outcome of an attempt.
func attemptRow(c claimed, e attemptResult) eventstore.TxStatement {
	outcome := e.outcome
	if outcome == "" {
		outcome = "completed"
	}
	return eventstore.TxStatement{
		Key: fmt.Sprintf("saga_attempt/%s/%d/%d", c.id, c.token, c.Step),
		SQL: `insert into saga_attempt (saga_id, token, step, finished_at, outcome, error_class, error)
			select id, token, step, business_now(), outcome, nullif(class, ''), nullif(error, '') from arg
			on conflict (saga_id, token, step) do update set finished_at = excluded.finished_at, outcome = excluded.outcome,
				error_class = excluded.error_class, error = excluded.error`,
		Columns: "id uuid, token bigint, step int, outcome text, class text, error text",
		Args:    []any{c.id, c.token, c.Step, outcome, string(e.class), e.text}, WantRows: eventstore.AnyRows,
	}
}

// advanced returns the claimed run after a completed step.
func (s *executor) advanced(c claimed, next Run, keep bool, until time.Time) claimed {
	done := claimed{
		Run: next, id: c.id, queue: c.queue, token: c.token, correlation: c.correlation, attempt: 1, until: until,
		since: c.since, ahead: c.ahead, head: c.head, restored: c.restored, looksFirst: c.looksFirst, alone: c.alone && keep,
	}
	if budget := s.definitions.budget(next); budget != nil {
		done.left, done.deadline = *budget, true
	}
	switch {
	case keep:
		done.hold, done.slot = c.hold, c.slot
		if queue := next.At().Queue; queue != LocalQueue {
			done.queue = queue
		}
	case next.Status == StatusReady:
		s.wakes.Wake(next.At().Queue)
	}
	return done
}

// causeOf is the metadata of a worker's write. A repeat after a lost answer has the
// same id, so that it adds nothing.
func (s *executor) causeOf(c claimed, what string) domain.Metadata {
	id := uuid.NewSHA1(c.id, fmt.Appendf(nil, "%d/%d/%s", c.token, c.Step, what))
	return domain.Metadata{ID: id, Actor: "system:" + c.definition.name, Saga: c.Key}
}

// origin is what a worker's attempt follows from: what has become of the run
// until then.
func (c claimed) origin() domain.Origin {
	return domain.Origin{Cause: domain.EventCause(StreamOf(c.Key), int(c.Version)), Correlation: c.correlation}
}
