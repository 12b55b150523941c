package sagas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// TooEarly says that nothing is wrong but that the step has to wait.
func TooEarly(code string, after time.Duration) error {
	return &domain.Failure{Class: domain.Waiting, Code: code, RetryAfter: after, Err: errors.New("too early")}
}

// awaiting is a wait that ends early when a run has changed another resource.
type awaiting struct {
	about domain.Stream
	error
}

func (a *awaiting) Unwrap() error { return a.error }

// Await says that the step waits for what a stream is about: [Work.Releases] ends
// the wait. Otherwise the run looks again after a while; zero: as its policy says.
func Await(about domain.Stream, code string, after time.Duration) error {
	return &awaiting{
		about,
		&domain.Failure{Class: domain.Waiting, Code: code, RetryAfter: after, Err: fmt.Errorf("it waits for %s", about)},
	}
}

// waitOf is the error of an attempt that has to wait, as an outcome.
func (s *executor) waitOf(c claimed, step step, class domain.Class, after time.Duration, err error) attemptOutcome {
	v := attemptOutcome{outcome: "wait", class: string(class), text: Scrub(err), delay: max(after, s.times.Floor)}
	if a, is := errors.AsType[*awaiting](err); is {
		v.awaits, v.delay = a.about.String(), cmp.Or(after, max(step.policy.nextLook(c), s.times.Floor))
	}
	return v
}

// releaseRow lets runs go on that wait for what a stream is about. They check for
// themselves whether they can.
func releaseRow(about domain.Stream) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key:  "saga_run/awaits/" + about.String(),
		SQL:  `select release_runs($1)`,
		Args: []any{about.String()}, WantRows: eventstore.AnyRows,
	}
}

// EndWaits lets runs go on that wait for what a stream is about, as [Work.Releases] does with
// a step.
func (s *Runner) EndWaits(ctx context.Context, about domain.Stream) error {
	row := releaseRow(about)
	_, err := s.Exec(ctx, "release runs that wait", row.SQL, row.Args...)
	return err
}

// An earlierRun is a run of the same stream that has yet to take its first step.
type earlierRun struct {
	ID     uuid.UUID `db:"id"`
	Status Status    `db:"status"`
	Queue  string    `db:"queue"`
}

// AfterEarlier lets runs of the same stream with lower numbers come first. One
// that is parked is superseded.
func (s *Runner) AfterEarlier(ctx context.Context, stream domain.Stream, number int) error {
	rows, _ := s.pool.Query(ctx, `
		select id, status, queue from saga_run
		where about = $1 and about <> '' and status not in ('done', 'undone') and (step = 0 or status = 'parked')
			and number < $2`, stream.String(),
		number)
	earlier, err := pgx.CollectRows(rows, pgx.RowToStructByName[earlierRun])
	if err != nil {
		return SQLError(err, "look for earlier runs of %s", stream)
	}
	wait := false
	for _, r := range earlier {
		over := false
		if r.Status == StatusParked {
			over, err = s.supersede(ctx, r.ID)
		} else {
			err = s.hasten(ctx, r)
		}
		if err != nil {
			return err
		}
		wait = wait || !over
	}
	if wait {
		return Await(stream, "earlier_wish", 0)
	}
	return nil
}

// supersede ends a parked run, now that a later one takes its place. A call
// without an answer may still be on its way: its quarantine comes first.
func (s *Runner) supersede(ctx context.Context, id uuid.UUID) (over bool, err error) {
	run, err := s.withID(ctx, id)
	if err != nil {
		return false, err
	}
	c, step, err := s.Operators.standing(run)
	if err != nil {
		return false, err
	}
	var rows []eventstore.TxStatement
	if step.effect != nil {
		key := step.effect.key(c.in)
		known, err := s.ledger.Effect(ctx, key)
		if err != nil {
			return false, err
		}
		if left := step.policy.Quarantine - known.Age; known.MayHaveHappened() && left > 0 {
			return false, TooEarly("earlier_wish", left)
		}
		rows = append(rows, supersededRow(key))
	}
	cause := domain.Metadata{ID: uuid.NewSHA1(id, []byte("superseded")), Actor: "system:engine"}
	err = s.Operators.Overrule(ctx, cause, run, Supersede{Key: run.Key}, rows)
	if domain.CodeOf(err) == domain.Conflict {
		return false, nil // an operator has decided in the meantime
	}
	return err == nil, err
}

// supersededRow leaves an effect without an answer to the run that takes over.
func supersededRow(key string) eventstore.TxStatement {
	return eventstore.TxStatement{
		Key:  "effect/" + key,
		SQL:  `update effect set state = 'deferred', updated_at = real_now() where key = $1 and state in ('intended', 'unknown')`,
		Args: []any{key}, WantRows: eventstore.AnyRows,
	}
}

// hasten makes an earlier run due, instead of letting it wait for its next
// attempt.
func (s *Runner) hasten(ctx context.Context, r earlierRun) error {
	n, err := s.Exec(ctx, "hasten an earlier run", `
		update saga_run set run_at = business_now() where id in (
			select id from saga_run where id = $1 and status = 'waiting' and run_at > business_now() for update skip locked)`, r.ID)
	if n > 0 {
		s.Wake(r.Queue)
	}
	return err
}

// IsLive tells whether there is a run with a key that is not over.
func (s runs) IsLive(ctx context.Context, key string) (live bool, err error) {
	err = s.store.Pool().QueryRow(
		ctx, `select exists (select from saga_run where key = $1 and status not in ('done', 'undone'))`, key,
	).Scan(&live)
	return live, SQLError(err, "look for run %s", key)
}
