package sagas

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

// Leases with fencing tokens decide which worker has a run (docs/sagas.md,
// "Leases"). Only the database's clock counts.

// ErrFenced means that the worker has lost its lease on the run. Its writes are
// dropped.
var ErrFenced = errors.New("the lease is lost")

// claimed is a run read from its work row, with its lease.
type claimed struct {
	Run
	id       uuid.UUID
	queue    string
	attempt  int
	token    int64
	left     time.Duration // until the step's deadline; negative: past it
	deadline bool          // whether it has one
	until    time.Time     // end of the lease, by our clock, counted from before the claim
	since    time.Time     // of the claim, by the database's clock
	ahead    time.Duration // of the business clock in the database
	head     int64         // position of the last event in the log at the claim
	hold     *hold

	restored   bool // it may have gone on elsewhere: it, or its order, stands in the backup that the panel was restored from
	looksFirst bool // the panel was restored lately

	correlation uuid.UUID

	definition *definition
	in         any    // the input, decoded for this attempt
	before     []byte // the input as it was written before

	slot  *slot       // nil: its worker serves no queue
	todo  *unrecorded // nil: all of the run is recorded
	alone bool        // its steps are recorded one by one
}

// claimRuns leases runs of a queue. The function claim_runs describes how.
const claimRuns = `
select s.id, claimable, s.key, s.definition, s.steps, s.input, coalesce(s.order_id, '00000000-0000-0000-0000-000000000000'),
	s.direction, s.step, s.cancel_requested, s.stream_version, s.queue, s.attempt, s.lease_token, s.correlation,
	coalesce(extract(epoch from s.step_deadline - business_now()), 0)::float8, s.step_deadline is not null, real_now(),
		business_now() - real_now(),
	(select coalesce(max(position), 0) from events), looks_first(), was_restored(s.id, s.correlation)
from (select claimable, (run).* from claim_runs($1, $2, $3, $4, $5, $6)) s`

// breaks is the number of consecutive failures that opens a queue's breaker.
const breaks = 5

// claim leases up to limit runs of a queue: due runs, and runs with an expired
// lease. It tells whether others are left.
func (s *executor) claim(ctx context.Context, queue string, limit int) (runs []claimed, left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.times.Write)
	defer cancel()
	until := clock.Now().Add(s.times.Lease)
	claimable := 0
	rows, _ := s.pool.Query(ctx, claimRuns, queue, limit, s.worker, s.times.Lease, s.definitions.names(), breaks)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (claimed, error) { return scanClaimed(row, &claimable) })
	if err != nil {
		return nil, true, fmt.Errorf("claim runs of %s: %w", queue, err)
	}
	for _, c := range found {
		if c.id == uuid.Nil {
			return nil, true, nil
		}
		c.until = until
		s.store.Clock().Learn(c.ahead) // steps decide by the clock that made the run due
		runs = append(runs, c)
	}
	return runs, claimable > len(runs), nil
}

// scanClaimed scans a leased run, or none if there is no room for what is due.
func scanClaimed(row pgx.CollectableRow, claimable *int) (c claimed, err error) {
	if row.RawValues()[0] == nil {
		return c, nil
	}
	var left float64
	err = row.Scan(&c.id, claimable, &c.Key, &c.Definition, &c.Steps, &c.Input, &c.Order, &c.Direction, &c.Step, &c.Cancel, &c.Version,
		&c.queue, &c.attempt, &c.token, &c.correlation, &left, &c.deadline, &c.since, &c.ahead, &c.head, &c.looksFirst, &c.restored)
	c.Status, c.left = StatusReady, Seconds(left)
	return c, err
}

// renew extends leases and returns the runs that are still leased. It skips locked
// rows, so that it cannot deadlock.
func renew(ctx context.Context, pool *pgxpool.Pool, ids []uuid.UUID, tokens []int64, lease time.Duration) ([]uuid.UUID, error) {
	rows, _ := pool.Query(ctx, `
		update saga_run set lease_until = real_now() + $3::interval where id in (
			select r.id from saga_run r join unnest($1::uuid[], $2::bigint[]) h(id, token) on r.id = h.id and r.lease_token = h.token
			where r.status = 'running' for update of r skip locked)
		returning id`, ids, tokens, lease)
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

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
