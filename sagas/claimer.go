package sagas

import (
	"context"
	"sync/atomic"
)

// serve claims the runs of one queue and works on them, a bounded number at a
// time, until ctx ends. The work itself goes on in its own context.
func (s *executor) serve(ctx, work context.Context, queue string, limit int) {
	var active atomic.Int32
	woken := s.wakes.of(queue)
	for ctx.Err() == nil {
		room := limit - int(active.Load())
		runs, err := s.claimSome(ctx, queue, room)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "no runs were claimed", "queue", queue, "error", err)
		}
		for _, c := range runs {
			active.Add(1)
			s.workers.Add(1)
			go func() {
				defer s.workers.Done()
				s.workOn(work, c)
				active.Add(-1)
				nudge(woken) // there is room again
			}()
		}
		Pausing(ctx, Jittered(s.times.Poll), woken)
	}
}

func (s *executor) claimSome(ctx context.Context, queue string, room int) ([]claimed, error) {
	if room <= 0 {
		return nil, nil
	}
	return s.claim(ctx, queue, room)
}
