package sagas

import (
	"context"

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
