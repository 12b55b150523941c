package sagas

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// errKilled is how tests end a worker as if its process had been killed:
// nothing is released, nothing is written any more.
var errKilled = errors.New("killed")

// point is a place where tests can kill, stop or delay a worker.
type point string

const (
	beforeIntent   point = "before_intent"
	afterIntent    point = "after_intent"
	sent           point = "sent"
	answered       point = "answered"
	beforeComplete point = "before_complete"
	afterComplete  point = "after_complete"
)

func (s *Sagas) at(p point, c claimed) error {
	if s.fault == nil {
		return nil
	}
	return s.fault(p, c)
}

// work carries a run on, step by step, as far as this worker can.
func (s *Sagas) work(ctx context.Context, c claimed) {
	id := c.id
	for on := true; on && ctx.Err() == nil; {
		stepCtx, h := s.leases.take(ctx, c)
		c.hold = h
		c, on = s.step(stepCtx, c)
		s.leases.drop(id, h)
	}
}

// step makes one attempt at the run's present step. It answers with what the
// run has become, and whether this worker goes on with it.
func (s *Sagas) step(ctx context.Context, c claimed) (claimed, bool) {
	step, known := s.steps[c.Place().Name]
	if !known {
		s.alarm(ctx, "a run names a step that this program lacks", "run", c.id, "step", c.Place().Name)
		return c, false
	}
	var next claimed
	step = s.directed(c.Run, step)
	err := guarded(func() error {
		e, err := s.attempt(ctx, c, step)
		if err == nil {
			next, err = s.finish(ctx, c, e)
		}
		return err
	})
	if err == nil {
		return next, next.hold != nil
	}
	next, err = s.settle(ctx, c, step, err)
	if err != nil {
		s.log.WarnContext(ctx, "an attempt could not be settled", "run", c.id, "step", step.name, "error", scrub(err))
	}
	return next, next.hold != nil
}

// directed is a step as it is tried in the direction of its run: what is taken
// back has a policy of its own.
func (s *Sagas) directed(r Run, step step) step {
	if r.Direction == Undo && step.effect != nil {
		quarantine := step.policy.Quarantine
		step.policy = s.policies.undo
		step.policy.Quarantine = quarantine
	}
	return step
}

// guarded turns a panic into an error: one bad step must not end the work on
// all others.
func guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v at %s", p, debug.Stack())
		}
	}()
	return do()
}

// An ending is how an attempt moves its run on: the run's own command, and
// what happens together with it.
type ending struct {
	command command
	work    Work
	outcome string // of the attempt, for operators
	class   domain.Class
	text    string
	counted bool // the attempt has a row
	outside bool // the outside has answered, so its queue works
}

// attempt tries the step once.
func (s *Sagas) attempt(ctx context.Context, c claimed, step step) (ending, error) {
	if err := s.begin(ctx, c); err != nil {
		return ending{}, err
	}
	switch {
	case c.Direction == Undo:
		return s.takeBack(ctx, c, step)
	case step.local != nil:
		return s.doLocal(ctx, c, step.local.do)
	case step.wait != nil:
		return s.look(ctx, c, step)
	}
	return s.doEffect(ctx, c, step)
}

// begin tells the saga's subject, at the first claim of a run, that the run
// has begun (rule T12).
func (s *Sagas) begin(ctx context.Context, c claimed) error {
	list := s.of(c.Run)
	if c.Step > 0 || c.Direction == Undo || list.begun == nil {
		return nil
	}
	return s.append(ctx, c, s.cause(c, "begin"), []eventstore.Row{held(c)}, list.begun(c.Job))
}

// held is the fence of what a worker writes while its run stays where it is.
func held(c claimed) eventstore.Row {
	return eventstore.Row{
		Key: "saga_run/" + c.id.String(), SQL: `update saga_run set worker = worker where id = $1 and lease_token = $2 and status = 'running'`,
		Args: []any{c.id, c.token}, Touches: 1, Else: errFenced,
	}
}

func (s *Sagas) doLocal(ctx context.Context, c claimed, do func(context.Context, Job) (Work, error)) (ending, error) {
	work, err := do(ctx, c.Job)
	if err != nil {
		return ending{}, err
	}
	return ending{command: c.completed(work, Result{}, false), work: work}, nil
}

// look asks whether what the step waits for is so.
func (s *Sagas) look(ctx context.Context, c claimed, step step) (ending, error) {
	if err := s.enough(ctx, c, s.call(step)); err != nil {
		return ending{}, err
	}
	call, cancel := context.WithTimeout(ctx, s.call(step))
	defer cancel()
	ready, work, err := step.wait.ready(call, c.Job)
	if err != nil {
		return ending{}, s.timedOut(ctx, call, err)
	}
	if !ready {
		return ending{}, &domain.Failure{Class: domain.Waiting, Code: "not_ready", RetryAfter: step.policy.again(c), Err: errors.New("not yet")}
	}
	return ending{command: c.completed(work, Result{}, false), work: work, outside: true}, nil
}

// again is how long to wait for the next look: twice as long each time.
func (p Policy) again(c claimed) time.Duration {
	looking := p.Budget - c.left
	for d := p.First; d < p.Last; d *= 2 {
		if looking < 2*d-p.First {
			return d
		}
	}
	return p.Last
}

// call is how long one call of a step may take: never longer than most of a lease.
func (s *Sagas) call(step step) time.Duration {
	limit := step.policy.Timeout
	if limit == 0 {
		limit = s.times.Call
	}
	return min(limit, s.times.Lease*5/6)
}

// timedOut gives the reason why the worker was stopped, if it was: it tells
// more than the error of the call that it ended.
func (s *Sagas) timedOut(worker, call context.Context, err error) error {
	if worker.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(worker), err)
	}
	if call.Err() != nil && domain.ClassOf(err) == domain.Unknown {
		return domain.Fail(domain.Unknown, "timeout", err)
	}
	return err
}

// completed is the command that puts the claimed step behind its run.
func (c claimed) completed(work Work, r Result, found bool) Complete {
	job := c.Job
	if work.Learn != nil {
		work.Learn(&job)
	}
	return Complete{Key: c.Key, Step: c.Step, External: r.External, Found: found, Job: job}
}

// finish ends an attempt: fence, rows and facts are one append. The answer has
// a hold if this worker goes on with the run.
func (s *Sagas) finish(ctx context.Context, c claimed, e ending) (claimed, error) {
	facts, err := Decider.Decide(c.Run, e.command)
	if err != nil {
		return c, err
	}
	next := c.Run
	for _, f := range facts {
		next = Decider.Evolve(next, f)
	}
	if err := s.at(beforeComplete, c); err != nil {
		return c, err
	}
	keep := next.Status == Ready && (next.Place().Queue == c.queue || next.Place().Queue == localQueue)
	until := time.Now().Add(s.times.Lease)
	commands := append([]domain.Command{e.command}, e.work.Commands...)
	if list := s.of(c.Run); next.Status == Undone && list.undone != nil {
		commands = append(commands, list.undone(c.Job)...)
	}
	if err := s.append(ctx, c, s.cause(c, string(next.Status)), s.endingRows(c, next, keep, e), commands); err != nil {
		return c, err
	}
	s.completed.Add(1)
	if e.work.Wakes != "" {
		s.wake(e.work.Wakes)
	}
	if err := s.at(afterComplete, c); err != nil {
		return c, err
	}
	return s.after(c, next, keep, until), nil
}

// appends is how often an append is sent when the database gives no answer.
const appends = 3

// append writes what an attempt has led to. If no answer comes it is sent
// again: had it been carried out, the same cause adds nothing.
func (s *Sagas) append(ctx context.Context, c claimed, cause domain.Cause, rows []eventstore.Row, commands []domain.Command) error {
	return c.hold.write(func() (err error) {
		for range appends {
			if _, err = s.store.ExecuteWith(ctx, cause, rows, commands...); !errors.Is(err, eventstore.ErrUnavailable) {
				return err
			}
			pause(ctx, s.times.LocalBase, nil)
		}
		return err
	})
}

func (s *Sagas) endingRows(c claimed, next Run, keep bool, e ending) []eventstore.Row {
	rows := append([]eventstore.Row{s.advanceRow(c, next, keep)}, e.work.Rows...)
	if e.counted || e.class != "" {
		rows = append(rows, attemptRow(c, e))
	}
	if e.outside {
		rows = append(rows, eventstore.Row{
			Key:  "saga_queue/" + c.Place().Queue,
			SQL:  `update saga_queue set fails = 0, open_until = null where queue = $1 and fails > 0`,
			Args: []any{c.Place().Queue}, Touches: eventstore.AnyRows,
		})
	}
	return rows
}

// attemptRow writes down how an attempt ended.
func attemptRow(c claimed, e ending) eventstore.Row {
	outcome := e.outcome
	if outcome == "" {
		outcome = "completed"
	}
	return eventstore.Row{
		Key: fmt.Sprintf("saga_attempt/%s/%d/%d", c.id, c.token, c.Step),
		SQL: `insert into saga_attempt (saga_id, token, step, finished_at, outcome, error_class, error)
			values ($1, $2, $3, now(), $4, nullif($5, ''), nullif($6, ''))
			on conflict (saga_id, token, step) do update set finished_at = excluded.finished_at, outcome = excluded.outcome,
				error_class = excluded.error_class, error = excluded.error`,
		Args: []any{c.id, c.token, c.Step, outcome, string(e.class), e.text}, Touches: eventstore.AnyRows,
	}
}

// after tells what the worker holds once a step is behind the run.
func (s *Sagas) after(c claimed, next Run, keep bool, until time.Time) claimed {
	done := claimed{Run: next, id: c.id, queue: c.queue, token: c.token, attempt: 1, until: until}
	if budget := s.budget(next); budget != nil {
		done.left, done.deadline = *budget, true
	}
	switch {
	case keep:
		done.hold = c.hold
	case next.Status == Ready:
		s.wake(next.Place().Queue)
	}
	return done
}

// cause is on whose behalf a worker writes. A repeat after a lost answer has
// the same id, so it adds nothing.
func (s *Sagas) cause(c claimed, what string) domain.Cause {
	id := uuid.NewSHA1(c.id, fmt.Appendf(nil, "%d/%d/%s", c.token, c.Step, what))
	cause := domain.Cause{ID: id, Actor: "system:" + s.of(c.Run).name, Correlation: c.Order, Saga: c.Key}
	if cause.Correlation == uuid.Nil {
		cause.Correlation = c.id
	}
	return cause
}
