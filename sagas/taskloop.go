package sagas

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

// serve claims and works on tasks until ctx ends. What is being claimed or worked on then goes
// on in the context work.
func (t *Tasks) serve(ctx, work context.Context) {
	woken, room := t.runner.Woken(t.name), make(chan struct{}, t.batch)
	var groups sync.WaitGroup
	defer groups.Wait()
	for ctx.Err() == nil {
		free := takeRoom(room)
		group, err := t.claim(work, free, nil)
		if err != nil && ctx.Err() == nil {
			t.runner.log.WarnContext(ctx, "no tasks were claimed", "queue", t.name, "error", Scrub(err))
		}
		for range free - len(group) {
			<-room
		}
		if len(group) > 0 {
			groups.Go(func() { _, _ = t.workOn(work, group, func() { <-room }) })
		}
		if len(group) < free { // no other is due
			clock.Pausing(ctx, Jittered(t.policy.Look), woken)
		}
	}
}

// takeRoom waits until half of the room is free, so that many tasks are claimed at a time, and
// takes all that is free.
func takeRoom(room chan struct{}) (taken int) {
	for ; taken < max(cap(room)/2, 1); taken++ {
		room <- struct{}{}
	}
	for ; taken < cap(room); taken++ {
		select {
		case room <- struct{}{}:
		default:
			return taken
		}
	}
	return taken
}

// claim leases the tasks that are due first.
func (t *Tasks) claim(ctx context.Context, limit int, at *time.Time) ([]*TaskLease, error) {
	until := clock.Now().Add(t.policy.Lease * 5 / 6)
	sql, args := t.rows.claim(limit, t.policy.Lease, at)
	rows, _ := t.runner.pool.Query(ctx, sql, args...)
	group, err := pgx.CollectRows(rows, t.scan)
	for _, task := range group {
		task.Until = until
	}
	return group, SQLError(err, "claim tasks of %s", t.name)
}

// scan reads a row of a claim. The columns that are the queue's own go to more.
func (l *TaskLease) scan(row pgx.CollectableRow, more []any) error {
	var failing float64
	err := row.Scan(append([]any{&l.fresh, &l.Key, &l.Attempts, &failing, &l.token}, more...)...)
	l.Failing = Seconds(failing)
	return err
}

// All works on every task that is due or waits for another attempt, each once, and counts those
// that were done. One that fails stops no other.
func (t *Tasks) All(ctx context.Context) (done int, failures error) {
	var begun time.Time
	err := t.runner.pool.QueryRow(ctx, `
		with hurried as (update `+t.rows.name()+` set next_at = business_now()
			where `+t.rows.among()+` and next_at > business_now() and `+t.rows.waits()+`)
		select business_now()`).Scan(&begun)
	if err != nil {
		return 0, SQLError(err, "begin with %s", t.name)
	}
	for ctx.Err() == nil {
		group, err := t.claim(ctx, t.batch, &begun)
		if err != nil || len(group) == 0 {
			return done, errors.Join(failures, err)
		}
		n, err := t.workOn(ctx, group, func() {})
		done, failures = done+n, errors.Join(failures, err)
	}
	return done, failures
}

// workOn works on tasks that were claimed together. Ended is called after each.
func (t *Tasks) workOn(ctx context.Context, group []*TaskLease, ended func()) (done int, failures error) {
	together := t.load != nil && Guarded(func() error { return t.load(ctx, group) }) == nil
	var all sync.WaitGroup
	var mu sync.Mutex
	places := make(chan struct{}, t.atOnce)
	for _, task := range group {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places; ended() }()
			end, err := t.attempt(ctx, task, together)
			t.settle(ctx, task, end, err)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && (end == TaskDone || end == TaskRecorded) {
				done++
			}
			failures = errors.Join(failures, err)
		})
	}
	all.Wait()
	return done, failures
}

// attempt works on one task, guarded against panics. The context ends with the lease.
func (t *Tasks) attempt(ctx context.Context, task *TaskLease, loaded bool) (end TaskEnd, err error) {
	ctx, cancel := context.WithDeadlineCause(ctx, task.Until, ErrFenced)
	defer cancel()
	if ctx.Err() != nil {
		return end, context.Cause(ctx)
	}
	err = Guarded(func() (err error) {
		if t.load != nil && !loaded { // what one task needs cannot be read stops no other
			if err := t.load(ctx, []*TaskLease{task}); err != nil {
				return err
			}
		}
		end, err = t.do(ctx, task)
		return err
	})
	return end, err
}

// settle writes what becomes of a task after an attempt. A worker that has lost its lease writes
// nothing.
func (t *Tasks) settle(ctx context.Context, task *TaskLease, end TaskEnd, failure error) {
	stopped := ctx.Err() != nil
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.runner.times.Write)
	defer cancel()
	var err error
	switch {
	case failure == nil:
		err = t.end(ctx, task, end)
	case errors.Is(failure, ErrFenced):
		err = ErrFenced
	case errors.Is(failure, ErrKilled):
		return
	case stopped:
		err = t.rows.again(ctx, task.Key, task.token, 0)
	case DatabaseAway(failure):
		t.warn(ctx, task, failure)
		err = t.rows.again(ctx, task.Key, task.token, t.runner.times.Poll)
	default:
		err = t.fail(ctx, task, failure)
	}
	if errors.Is(err, ErrFenced) {
		t.runner.CountFenced()
	} else if err != nil {
		t.runner.log.WarnContext(ctx, "a task could not be settled",
			"queue", t.name, "key", task.Key, "error", Scrub(err))
	}
}

func (t *Tasks) end(ctx context.Context, task *TaskLease, end TaskEnd) error {
	switch {
	case end == TaskRecorded:
		return nil
	case end.how == "again":
		t.runner.WakeLater(t.name, end.pause)
		return t.rows.again(ctx, task.Key, task.token, end.pause)
	case end == TaskIdle && task.fresh: // it is due all the same: not at once again
		return t.rows.again(ctx, task.Key, task.token, t.policy.Look)
	}
	return t.rows.over(ctx, task.Key, task.token)
}

// fail schedules another attempt, or parks the task for an operator.
func (t *Tasks) fail(ctx context.Context, task *TaskLease, failure error) error {
	if t.origin != nil {
		ctx = t.origin(task).With(ctx)
	}
	class, wait := Classify(failure)
	if n := t.policy.Attempts; n > 0 && (class == domain.Permanent || task.Attempts+1 >= n) {
		t.runner.Alarm(ctx, "a task is parked", "queue", t.name, "key", task.Key, "error", Scrub(failure))
		parked := t.rows.failed(task.Key, task.token, Scrub(failure), 0, true)
		return unlessSetAside(t.runner.SetAside(ctx, t.trouble(task), parked))
	}
	t.warn(ctx, task, failure)
	pause := max(wait, BackOff(t.runner.times.Floor, t.policy.Base, t.policy.Cap, task.Attempts+1))
	row := t.rows.failed(task.Key, task.token, Scrub(failure), pause, false)
	_, err := t.runner.Exec(ctx, "postpone a task of "+t.name, row.SQL, row.Args...)
	t.runner.WakeLater(t.name, pause)
	return err
}

func unlessSetAside(err error) error {
	if errors.Is(err, ErrSetAside) {
		return nil
	}
	return err
}

func (t *Tasks) warn(ctx context.Context, task *TaskLease, failure error) {
	t.runner.log.WarnContext(ctx, t.failed,
		"queue", t.name, "key", task.Key, "attempts", task.Attempts+1, "error", Scrub(failure))
}

// process works on groups of locked rows until ctx ends.
func (t *Tasks) process(ctx, _ context.Context) {
	for woken := t.runner.Woken(t.name); ctx.Err() == nil; {
		var more bool
		err := Guarded(func() (err error) { more, err = t.Round(ctx); return err })
		if err != nil && ctx.Err() == nil {
			t.runner.log.WarnContext(ctx, t.failed, "queue", t.name, "error", Scrub(err))
		}
		if !more || err != nil {
			clock.Pausing(ctx, Jittered(t.policy.Look), woken)
		}
	}
}

// Round works on the rows that are due first, in one transaction. If that fails, each of them gets
// its own, so that one stops no other. It tells whether others may be due.
func (t *Tasks) Round(ctx context.Context) (more bool, err error) {
	group, err := t.first(ctx, t.batch)
	if err == nil || len(group) < 2 || ctx.Err() != nil {
		return len(group) == t.batch, err
	}
	for range group {
		if _, err := t.first(ctx, 1); err != nil {
			return true, err
		}
	}
	return true, nil
}

// first works on the rows that are due first, at most limit. A single one that fails is put off.
func (t *Tasks) first(ctx context.Context, limit int) (group []*TaskLease, err error) {
	after := func(context.Context) error { return nil }
	err = pgx.BeginFunc(ctx, t.runner.pool, func(tx pgx.Tx) (err error) {
		sql, args := t.rows.locked(limit)
		rows, _ := tx.Query(ctx, sql, args...)
		group, err = pgx.CollectRows(rows, t.scan)
		if err != nil || len(group) == 0 {
			return err
		}
		after, err = t.together(ctx, tx, group)
		return err
	})
	switch {
	case err == nil:
		return group, after(ctx)
	case len(group) == 1 && ctx.Err() == nil:
		return group, t.fail(ctx, group[0], err)
	}
	return group, SQLError(err, "read %s", t.name)
}

// follow looks for work until ctx ends. A row shows that it fails, and one look that does not
// fail deletes it.
func (t *Tasks) follow(ctx, _ context.Context) {
	noted := true // by the process before this one
	for fails := 0; ctx.Err() == nil; {
		var rest Rest
		failure := Guarded(func() (err error) { rest, err = t.look(ctx); return err })
		if ctx.Err() != nil {
			return
		}
		if failure == nil {
			fails = 0
		} else {
			fails++
			rest = Rest{For: max(rest.For, BackOff(t.runner.times.Floor, t.policy.Base, t.policy.Cap, fails))}
			t.runner.log.WarnContext(ctx, t.failed,
				"queue", t.name, "attempts", fails, "error", Scrub(failure))
		}
		if failure != nil || noted {
			if err := t.rows.look(ctx, failure, rest.For); err == nil {
				noted = failure != nil
			}
		}
		clock.Pausing(ctx, rest.For, rest.Until)
	}
}
