package sagas

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/recovery"
)

// Operators' commands on runs. Each is recorded as an event with actor and reason.
// A command on a running run ends the lease, so that either the worker or the
// operator wins (docs/runs.md, "Operators").

// Operators are the views of runs, and the commands with which a person
// overrules them (docs/runs.md, "Operators").
type Operators struct {
	store       *eventstore.Store
	pool        *pgxpool.Pool
	times       Times
	now         func() time.Time
	definitions *definitions
	queues      *queues
	runs        runs
	ledger      *ledger
	wakes       *wakes
	counts      *counts
	tasks       *tasks
}

// ResumeRun continues a parked run at its present step, with the same effect keys
// (rule T15). Corrections change the input of the step; nil: no change. More are
// commands for the run's subject.
func (s *Operators) ResumeRun(
	ctx context.Context, cause domain.Metadata, run Run, corrections map[string]string, reason string,
	more ...domain.Command,
) error {
	resume := Retry{Key: run.Key, Reason: reason, Corrections: corrections}
	var rows []eventstore.TxStatement
	if len(corrections) > 0 {
		var err error
		if resume.Input, rows, err = s.correct(ctx, run, corrections); err != nil {
			return err
		}
	}
	return s.Overrule(ctx, ByOperator(cause, run.Order), run, resume, rows, more...)
}

// correct returns a run's input with corrections. They may concern only effects
// that were certainly not done with the old input.
func (s *Operators) correct(
	ctx context.Context, run Run, corrections map[string]string,
) (json.RawMessage, []eventstore.TxStatement, error) {
	c, step, err := s.standing(run)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range corrections {
		if step.corrections[name] == nil || value == "" {
			return nil, nil, domain.RefuseField("input", "This step has no such input.")
		}
	}
	key := step.effect.key(c.in)
	e, err := s.ledger.Effect(ctx, key)
	if err != nil {
		return nil, nil, err
	}
	call, err := step.effect.prepare(ctx, c.in)
	if err != nil {
		return nil, nil, err
	}
	for name, value := range corrections {
		step.corrections[name](c.in, value)
	}
	switch e.State {
	case "":
		return Encode(c.in), nil, nil
	case EffectAbsent:
		return Encode(c.in), []eventstore.TxStatement{
			{
				Key: "effect/" + key, SQL: `update effect set request_mac = ''::bytea, updated_at = real_now()
					where key = $1 and state = 'absent'`,
				Args: []any{key}, WantRows: 1,
			},
			FreeClaims(call.Claim.Owner, Claim{}),
		}, nil
	default:
		return nil, nil, NotNow("What was asked for before may exist. Retry without changes first.")
	}
}

// standing returns a run with its decoded input, and its present step.
func (s *Operators) standing(run Run) (c claimed, step step, err error) {
	d, step, known := s.definitions.stepOf(run)
	if !known {
		return c, step, NotNow("The run belongs to another version of the program.")
	}
	c.Run = run
	c.definition, c.in, c.before, err = decoded(d, run.Input)
	return c, step, err
}

// ByOperator is the cause of an operator's command.
func ByOperator(c domain.Metadata, order uuid.UUID) domain.Metadata {
	if c.ID == uuid.Nil {
		c.ID = uuid.New()
	}
	if c.Correlation == uuid.Nil {
		c.Correlation = order
	}
	return c
}

// SkipStep completes the step of a parked run that an operator has done by hand. It
// looks the object up first. A wait is skipped with the proof of the effect that it
// waits for. Local steps and other waits cannot be skipped. More are commands for
// the run's subject.
func (s *Operators) SkipStep(
	ctx context.Context, cause domain.Metadata, run Run, name, external, reason string, more ...domain.Command,
) error {
	c, step, err := s.standing(run)
	switch {
	case err != nil:
		return err
	case run.Status != StatusParked:
		return errNotParked
	case step.name != name:
		return domain.RefuseField("step", `"`+name+`" is not a valid choice.`)
	}
	made, _ := c.definition.step(cmp.Or(step.of, name))
	if made.effect == nil {
		return domain.RefuseField("step", `"`+name+`" is not a valid choice.`)
	}
	call, proof, err := s.proof(ctx, c, made, external)
	if err != nil {
		return err
	}
	e := c.confirmed(call, proof, true)
	if e.work, err = s.passed(ctx, c, step, e.work); err != nil {
		return err
	}
	key := made.effect.key(c.in)
	rows := append(e.work.rows(), eventstore.TxStatement{
		Key: "effect/" + key,
		SQL: `insert into effect (key, saga_id, step, state, request_mac, external_id, token) values ($1, $2, $3,
			'skipped', ''::bytea, nullif($4, ''), 0)
			on conflict (key) do update set state = 'skipped', external_id = excluded.external_id, updated_at = real_now()`,
		Args: []any{key, run.ID(), made.name, external}, WantRows: 1,
	})
	skip := Skip{Key: run.Key, Step: run.Step, External: external, Reason: reason, Input: c.learnt()}
	if err := s.Overrule(ctx, ByOperator(cause, run.Order), run, skip, rows, append(more, e.work.Commands...)...); err != nil {
		return err
	}
	s.wakes.after(e.work)
	return nil
}

// passed adds what a skipped wait has seen. An effect has seen nothing more.
func (s *Operators) passed(ctx context.Context, c claimed, step step, work Work) (Work, error) {
	if step.wait == nil {
		return work, nil
	}
	limited, cancel := context.WithTimeout(ctx, s.times.call(step))
	defer cancel()
	_, seen, err := step.wait(limited, c.in)
	if err != nil {
		return work, NotNow("What the run waits for cannot be looked at now.")
	}
	return work.And(seen), nil
}

// proof looks up the object that an operator has created by hand.
func (s *Operators) proof(ctx context.Context, c claimed, step step, external string) (Call, Result, error) {
	call, err := step.effect.prepare(ctx, c.in)
	if err == nil {
		err = recovery.Keep(ctx, s.pool)
	}
	if err != nil || call.Lookup == nil {
		return call, Result{External: external}, err
	}
	if external == "" {
		return call, Result{}, domain.RefuseField("external_id", "This field is required.")
	}
	limited, cancel := context.WithTimeout(ctx, s.times.call(step))
	defer cancel()
	found, is, err := call.Lookup(limited)
	if err != nil || is != Yes || found.External != external {
		err = domain.RefuseField("external_id", "Nothing of ours was found under this id.")
	}
	return call, found, err
}

// RetryRun continues a parked run at its present step, or makes a parked task due.
func (s *Operators) RetryRun(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	if _, err := s.runs.withID(ctx, id); errors.Is(err, ErrNoRun) {
		return s.retryTask(ctx, cause, id, reason)
	}
	return s.direct(ctx, cause, id, func(r Run) Command { return Retry{Key: r.Key, Reason: reason} })
}

// Pause pauses a run.
func (s *Operators) Pause(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	return s.direct(ctx, cause, id, func(r Run) Command { return Pause{Key: r.Key, Reason: reason} })
}

// Continue ends a pause.
func (s *Operators) Continue(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	return s.direct(ctx, cause, id, func(r Run) Command { return Resume{Key: r.Key, Reason: reason} })
}

// TakeBack compensates a run: it undoes its steps, last step first. A saga may add
// further commands.
func (s *Operators) TakeBack(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	run, err := s.runs.withID(ctx, id)
	if err != nil {
		return err
	}
	if d := s.definitions.sagas[run.Definition]; d != nil && d.takeBack != nil && !run.Over() {
		return d.takeBack(ctx, cause, run, reason)
	}
	return s.direct(ctx, cause, id, func(r Run) Command { return s.Compensation(r, reason) })
}

// Compensation is the command that compensates a run from its present step.
func (s *Operators) Compensation(r Run, reason string) Compensate {
	from := r.Step
	if _, step, _ := s.definitions.stepOf(r); step.effect == nil {
		from-- // the present step has not happened yet, or changes nothing
	}
	return Compensate{Key: r.Key, From: from, Reason: reason}
}

// Release ends the lease of a running run, or makes a waiting run due now.
func (s *Operators) Release(ctx context.Context, cause domain.Metadata, id uuid.UUID, reason string) error {
	run, err := s.runs.withID(ctx, id)
	if err != nil {
		return err
	}
	row := eventstore.TxStatement{
		Key: "saga_run/" + id.String(),
		SQL: `update saga_run set status = 'ready', run_at = business_now(), lease_until = null, worker = null, awaits = '',
				lease_token = lease_token + 1, stream_version = $2
			where id = $1 and stream_version = $2 - 1 and status in ('running', 'waiting')`,
		Args: []any{id, run.Version + 1}, WantRows: 1, ErrIfNot: errNotWorkedOn,
	}
	cause = ByOperator(cause, run.Order)
	cause.Saga = run.Key
	if _, err = s.store.ExecuteWith(ctx, cause, []eventstore.TxStatement{row}, ReleaseLease{Key: run.Key, Reason: reason}); err == nil {
		s.wakes.Wake(run.At().Queue)
	}
	return err
}

func (s *Operators) direct(ctx context.Context, cause domain.Metadata, id uuid.UUID, what func(Run) Command) error {
	run, err := s.runs.withID(ctx, id)
	if err != nil {
		return err
	}
	return s.Overrule(ctx, ByOperator(cause, run.Order), run, what(run), nil)
}

// runs are read from the log.
type runs struct{ store *eventstore.Store }

func (s runs) withID(ctx context.Context, id uuid.UUID) (Run, error) {
	run, _, err := eventstore.Fold(ctx, s.store, Decider, domain.Stream{Category: Category, ID: id.String()})
	if err == nil && run.Key == "" {
		err = ErrNoRun
	}
	return run, err
}

// ErrNoRun is the refusal for a run that does not exist.
var ErrNoRun = domain.Refuse(domain.NotFound, "No Saga matches the given query.")

// RunNamed returns the run with a key, or [ErrNoRun].
func (s runs) RunNamed(ctx context.Context, key string) (Run, error) {
	run, _, err := eventstore.Fold(ctx, s.store, Decider, StreamOf(key))
	if err == nil && run.Key == "" {
		err = ErrNoRun
	}
	return run, err
}

// Overrule executes an operator's command on a run, with further rows and commands.
func (s *Operators) Overrule(
	ctx context.Context, cause domain.Metadata, run Run, c Command, rows []eventstore.TxStatement, more ...domain.Command,
) error {
	events, err := Decider.Decide(run, c)
	if err != nil || len(events) == 0 {
		return err
	}
	next := run
	for _, f := range events {
		next = Decider.Evolve(next, f)
	}
	cause.Saga = run.Key
	_, err = s.store.ExecuteWith(ctx, cause, append(rows, s.overruleRow(next)), append([]domain.Command{c}, more...)...)
	if err == nil && next.Status == StatusReady {
		s.wakes.Wake(next.At().Queue)
	}
	return err
}
