package sagas

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"

	"github.com/google/uuid"
)

// What operators may do with runs. Each command is a fact with its actor and
// reason; one that touches a run that is being worked on takes the lease away,
// so either the worker or the operator wins (docs/sagas.md, "Operators").

// changeable are the fields that an operator may correct, by the step that
// they matter to.
var changeable = map[string]string{"site": "domain", "vm": "os_choice"}

// Retry lets the parked provisioning of an order go on at the step where it
// stopped, under the same effect keys (rule T15); one that is being taken back
// goes on with that. Input changes what the step
// works with: "domain" at site, "os_choice" at vm; nil changes nothing.
func (s *Sagas) Retry(ctx context.Context, cause domain.Cause, id uuid.UUID, input map[string]string, reason string) error {
	run, err := s.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	if run.Direction == Undo { // what could not be taken back
		return s.overrule(ctx, byOperator(cause, id), run, Resume{Key: run.Key, Reason: reason}, nil)
	}
	at := run.Place().Name
	resume := order.Resume{ID: id, Step: at, How: order.Retry, Reason: reason, At: s.now()}
	var rows []eventstore.Row
	if len(input) > 0 {
		resume.How = order.RetryWithInput
		if rows, err = s.changeInput(ctx, run, input); err != nil {
			return err
		}
	}
	return s.overrule(ctx, byOperator(cause, id), run, Resume{Key: run.Key, Reason: reason, Input: input}, rows, resume)
}

// provisioningOf is the provisioning of an order. One that has none cannot be
// provisioned yet, or any more.
func (s *Sagas) provisioningOf(ctx context.Context, id uuid.UUID) (Run, error) {
	return s.runFor(ctx, "provision", id, "Nothing is being set up for the order.")
}

// runFor is the one run of its kind for an order. An order that has none is
// refused with what that means.
func (s *Sagas) runFor(ctx context.Context, kind string, id uuid.UUID, none string) (Run, error) {
	run, err := s.run(ctx, kind+":"+id.String())
	if errors.Is(err, errNoRun) {
		if _, err := s.order(ctx, id); err != nil {
			return run, err
		}
		return run, notNow(none)
	}
	return run, err
}

// changeInput checks a changed input. It may only change what has certainly
// not been done under the old one.
func (s *Sagas) changeInput(ctx context.Context, run Run, input map[string]string) ([]eventstore.Row, error) {
	step := s.steps[run.Place().Name]
	for name, value := range input {
		if changeable[step.name] != name || value == "" {
			return nil, domain.RefuseField("input", "This step has no such input.")
		}
	}
	key := step.effect.key(run.Job)
	e, err := s.entry(ctx, key)
	if err != nil {
		return nil, err
	}
	call, err := step.effect.prepare(ctx, run.Job)
	switch {
	case err != nil:
		return nil, err
	case e.state == "":
		return nil, nil
	case e.state != absent:
		return nil, &domain.Error{Code: domain.Conflict, Reason: "invalid_state", Message: "What was asked for before may exist. Retry without changes first."}
	}
	return []eventstore.Row{
		{
			Key: "effect/" + key, SQL: `update effect set request_mac = ''::bytea, updated_at = now() where key = $1 and state = 'absent'`,
			Args: []any{key}, Touches: 1,
		},
		freeRow(call.Claim.Owner, Claim{}),
	}, nil
}

// byOperator is the cause of an operator's command.
func byOperator(c domain.Cause, order uuid.UUID) domain.Cause {
	if c.ID == uuid.Nil {
		c.ID = uuid.New()
	}
	if c.Correlation == uuid.Nil {
		c.Correlation = order
	}
	return c
}

// Skip puts the step where an order is parked behind it, because a person has
// done it by hand. What they made is looked up first; local steps and waits
// cannot be skipped.
func (s *Sagas) Skip(ctx context.Context, cause domain.Cause, id uuid.UUID, name, external, reason string) error {
	run, err := s.provisioningOf(ctx, id)
	if err != nil {
		return err
	}
	step := s.steps[run.Place().Name]
	switch {
	case run.Status != Stopped:
		return notNow("The run is not parked.")
	case step.name != name || step.effect == nil:
		return domain.RefuseField("step", `"`+name+`" is not a valid choice.`)
	}
	call, proof, err := s.proof(ctx, run, step, external)
	if err != nil {
		return err
	}
	e := claimed{Run: run}.confirmed(call, proof, true)
	key := step.effect.key(run.Job)
	rows := append(e.work.Rows, eventstore.Row{
		Key: "effect/" + key,
		SQL: `insert into effect (key, saga_id, step, state, request_mac, external_id, token) values ($1, $2, $3, 'skipped', ''::bytea, nullif($4, ''), 0)
			on conflict (key) do update set state = 'skipped', external_id = excluded.external_id, updated_at = now()`,
		Args: []any{key, run.ID(), step.name, external}, Touches: 1,
	})
	skip := Skip{Key: run.Key, Step: run.Step, External: external, Reason: reason, Job: e.command.(Complete).Job}
	resume := order.Resume{ID: id, Step: name, How: order.Skip, Reason: reason, Proof: external, At: s.now()}
	return s.overrule(ctx, byOperator(cause, id), run, skip, rows, append([]domain.Command{resume}, e.work.Commands...)...)
}

// proof looks up what an operator says that they have made.
func (s *Sagas) proof(ctx context.Context, run Run, step step, external string) (Call, Result, error) {
	call, err := step.effect.prepare(ctx, run.Job)
	if err != nil || call.Lookup == nil {
		return call, Result{External: external}, err
	}
	if external == "" {
		return call, Result{}, domain.RefuseField("external_id", "This field is required.")
	}
	limited, cancel := context.WithTimeout(ctx, s.call(step))
	defer cancel()
	found, is, err := call.Lookup(limited)
	if err != nil || is != Yes || found.External != external {
		err = domain.RefuseField("external_id", "Nothing of ours was found under this id.")
	}
	return call, found, err
}

// RetryRun lets any parked run go on at the step where it stopped.
func (s *Sagas) RetryRun(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	return s.direct(ctx, cause, id, func(r Run) command { return Resume{Key: r.Key, Reason: reason} })
}

// Pause keeps a run from going on.
func (s *Sagas) Pause(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	return s.direct(ctx, cause, id, func(r Run) command { return Pause{Key: r.Key, Reason: reason} })
}

// Continue ends a pause.
func (s *Sagas) Continue(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	return s.direct(ctx, cause, id, func(r Run) command { return Continue{Key: r.Key, Reason: reason} })
}

// TakeBack turns a run round: it undoes what it has done, last step first. To
// take back the provisioning of an order is to cancel the order.
func (s *Sagas) TakeBack(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	run, _, err := eventstore.Fold(ctx, s.store, Decider, domain.Stream{Category: Category, ID: id.String()})
	if err != nil {
		return err
	}
	if s.of(run).undone != nil && !run.Over() {
		return s.Cancel(ctx, cause, run.Order, reason)
	}
	return s.direct(ctx, cause, id, func(r Run) command { return s.turning(r, reason) })
}

// Release takes a run away from whoever works on it, or lets one that waits
// for its time go on now.
func (s *Sagas) Release(ctx context.Context, cause domain.Cause, id uuid.UUID, reason string) error {
	run, err := s.runNumbered(ctx, id)
	if err != nil {
		return err
	}
	row := eventstore.Row{
		Key: "saga_run/" + id.String(),
		SQL: `update saga_run set status = 'ready', run_at = now(), lease_until = null, worker = null, awaits = '',
				lease_token = lease_token + 1, stream_version = $2
			where id = $1 and stream_version = $2 - 1 and status in ('running', 'waiting')`,
		Args: []any{id, run.Version + 1}, Touches: 1, Else: errNobody,
	}
	cause = byOperator(cause, run.Order)
	cause.Saga = run.Key
	if _, err = s.store.ExecuteWith(ctx, cause, []eventstore.Row{row}, Release{Key: run.Key, Reason: reason}); err == nil {
		s.wake(run.Place().Queue)
	}
	return err
}

func (s *Sagas) direct(ctx context.Context, cause domain.Cause, id uuid.UUID, what func(Run) command) error {
	run, err := s.runNumbered(ctx, id)
	if err != nil {
		return err
	}
	return s.overrule(ctx, byOperator(cause, run.Order), run, what(run), nil)
}

func (s *Sagas) runNumbered(ctx context.Context, id uuid.UUID) (Run, error) {
	run, _, err := eventstore.Fold(ctx, s.store, Decider, domain.Stream{Category: Category, ID: id.String()})
	if err == nil && run.Key == "" {
		err = errNoRun
	}
	return run, err
}

var errNoRun = domain.Refuse(domain.NotFound, "No Saga matches the given query.")

func (s *Sagas) run(ctx context.Context, key string) (Run, error) {
	run, _, err := eventstore.Fold(ctx, s.store, Decider, StreamOf(key))
	if err == nil && run.Key == "" {
		err = errNoRun
	}
	return run, err
}

// overrule carries out an operator's command on a run, with what belongs to it.
func (s *Sagas) overrule(ctx context.Context, cause domain.Cause, run Run, c command, rows []eventstore.Row, more ...domain.Command) error {
	facts, err := Decider.Decide(run, c)
	if err != nil || len(facts) == 0 {
		return err
	}
	next := run
	for _, f := range facts {
		next = Decider.Evolve(next, f)
	}
	cause.Saga = run.Key
	_, err = s.store.ExecuteWith(ctx, cause, append(rows, s.overruleRow(next)), append([]domain.Command{c}, more...)...)
	if err == nil && next.Status == Ready {
		s.wake(next.Place().Queue)
	}
	return err
}
