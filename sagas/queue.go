package sagas

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
)

// How many runs of a queue are worked on at once, unless more is said.
const (
	localLimit  = 16
	remoteLimit = 4
)

// An attemptOutcome is the outcome of an attempt that did not complete its step.
type attemptOutcome struct {
	outcome string // "retry", "wait", "released"
	class   string
	text    string // for operators, scrubbed
	delay   time.Duration
	counts  bool
	awaits  string // the resource that the run waits for
}

// putBack ends the lease, schedules the next attempt, and records this one. The delay
// counts from the business time of the claim: an advance since then shortens it. What
// the run waits for may have changed since the claim, which wakes no run in work: then
// there is no delay.
func (s *executor) putBack(ctx context.Context, c claimed, v attemptOutcome) error {
	if v.awaits != "" {
		if err := s.faultAt(Waiting, c); err != nil {
			return err
		}
	}
	free := 1
	if v.counts {
		free = 0
	}
	due := false
	err := s.pool.QueryRow(ctx, `
		with back as (
			update saga_run set status = 'waiting', run_at = real_now() + $10::interval + case
					when awaited_position($9) > $11 then interval '0' else $4::interval end,
				attempt = greatest(0, attempt - $5::int), awaits = $9,
				lease_until = null, worker = null
			where id = $1 and lease_token = $2 and status = 'running' and step = $3 returning id, run_at)
		insert into saga_attempt (saga_id, token, step, finished_at, outcome, error_class, error, next_run_at)
		select id, $2, $3, business_now(), $6, nullif($7, ''), nullif($8, ''), run_at from back
		on conflict (saga_id, token, step) do update set finished_at = excluded.finished_at, outcome = excluded.outcome,
			error_class = excluded.error_class, error = excluded.error, next_run_at = excluded.next_run_at
		returning next_run_at <= business_now()`,
		c.id, c.token, c.Step, v.delay, free, v.outcome, v.class, v.text, v.awaits, c.ahead, c.head).Scan(&due)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ErrFenced
	case err != nil:
		return fmt.Errorf("put back %s: %w", c.Key, err)
	case due: // the delay was shortened by an advance of the clock, or by what the run waits for
		s.wakes.WakeHere(c.queue)
	}
	s.wakes.WakeLater(c.queue, v.delay)
	return nil
}

// failed counts a failure against the breaker of the run's queue. The breaker counts
// outages, not calls: a call that was made before the breaker opened says nothing
// about the time after.
func (s *executor) failed(ctx context.Context, c claimed) error {
	_, err := s.pool.Exec(ctx, `
		update saga_queue set fails = fails + 1, open_until = case when fails + 1 >= $2 then
			real_now() + least($4::interval, $3::interval * power(2, least(fails + 1 - $2, 20))) end
		where queue = $1 and coalesce(open_until, '-infinity') <= $5`, c.At().Queue, breaks, s.times.Break, s.times.BreakMax, c.since)
	if err != nil {
		return fmt.Errorf("count a failure of %s: %w", c.At().Queue, err)
	}
	return nil
}

// queues are those that this process serves.
type queues struct {
	limits map[string]int // how many runs all processes work on at once
	set    map[string]int // limits that win
	stand  atomic.Bool    // all have their rows
}

// add adds a queue. The first call counts; what was set wins.
func (q *queues) add(queue string, limit int) {
	if _, added := q.limits[queue]; added {
		return
	}
	if set, ok := q.set[queue]; ok {
		limit = set
	}
	q.limits[queue] = limit
}

// ensure creates the rows of the queues that this program serves. Existing
// rows keep an operator's settings.
func (q *queues) ensure(ctx context.Context, pool *pgxpool.Pool) error {
	for queue, limit := range q.limits {
		_, err := pool.Exec(ctx, `insert into saga_queue (queue, max_in_flight) values ($1, $2) on conflict do nothing`, queue, limit)
		if err != nil {
			return fmt.Errorf("make queue %s: %w", queue, err)
		}
	}
	q.stand.Store(true)
	return nil
}

// oneRow leaves out the rows of queues that stand, and of others but the first of
// each: one append may start hundreds of runs.
func (q *queues) oneRow(starts []eventstore.Start) []eventstore.Start {
	seen := map[string]bool{}
	if q.stand.Load() {
		for queue := range q.limits {
			seen[queueRow(queue)] = true
		}
	}
	for i, start := range starts {
		if queue := start.Rows[0].Key; seen[queue] {
			starts[i].Rows = start.Rows[1:]
		} else {
			seen[queue] = true
		}
	}
	return starts
}

// queueRow is the key of statements about a queue.
func queueRow(queue string) string { return "saga_queue/" + queue }
