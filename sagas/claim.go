package sagas

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/eventstore/clock"
)

// serve claims the runs of one queue and works on them, a bounded number at a
// time, until ctx ends. What is being claimed or worked on then goes on in the context
// work: a claim whose answer is lost would keep its run until the lease ends. A run that
// ends makes room, which matters if others were left at the last claim.
func (s *executor) serve(ctx, work context.Context, queue string, limit int) {
	woken := s.wakes.of(queue)
	q := s.slots.serve(queue, limit, woken)
	for ctx.Err() == nil {
		room, ended := s.slots.room(q)
		runs, more, err := s.claimSome(work, queue, room)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "no runs were claimed", "queue", queue, "error", err)
		}
		for _, c := range runs {
			c.slot = s.slots.take(queue)
			s.workers.Go(func() {
				defer c.slot.leave()
				s.workOn(work, c)
			})
		}
		if s.slots.claimed(q, more, ended) && err == nil {
			continue // there is room again
		}
		clock.Pausing(ctx, Jittered(s.times.Poll), woken)
	}
}

// claimSome claims runs where there is room for them. It tells whether others may be
// left.
func (s *executor) claimSome(ctx context.Context, queue string, room int) ([]claimed, bool, error) {
	if room <= 0 {
		return nil, true, nil
	}
	return s.claim(ctx, queue, room)
}

// WorkOne claims the run of a queue that is due first, and works on it until it ends,
// waits or leaves the queue. It returns the key of the run, or "" if none is due.
// [Runner.Run] does this for all queues at once, and renews the leases of long calls.
func (s *Runner) WorkOne(ctx context.Context, queue string) (key string, err error) {
	runs, _, err := s.executor.claim(ctx, queue, 1)
	for _, c := range runs {
		key = c.Key
		s.executor.workOn(ctx, c)
	}
	return key, err
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
// lease. Left says that further runs are due.
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
