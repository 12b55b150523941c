package billing

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas"
)

// A backlog is what each process works on by itself, as long as something in it is due.
// Several processes may do so at once: what is done has happened once.
type backlog[D any] struct {
	queue      string // whose wake-ups begin a look at once
	undone     string // what is said if it fails: "subscriptions were not renewed"
	atOnce     int    // how many one process works on at a time
	inRecovery bool   // also while a restored panel is in recovery mode
	shuffled   bool   // in any order, so that several processes seldom work on the same
	read       func(ctx context.Context, after D) ([]D, error)
	do         func(ctx context.Context, d D) (done bool, err error)
}

// mostDue is how many are read at once.
const mostDue = 500

// keeping works on what is due until ctx ends. What has begun goes on in the context work.
func (b backlog[D]) keeping(s *Service) func(ctx, work context.Context) {
	return func(ctx, work context.Context) {
		woken := s.Runner.Woken(b.queue)
		for ctx.Err() == nil {
			done, err := b.all(ctx, work, s.Runner)
			switch {
			case err == nil || ctx.Err() != nil:
			case sagas.DatabaseAway(err):
				s.Runner.Log().WarnContext(ctx, b.undone, "error", sagas.Scrub(err))
			default:
				s.Runner.Alarm(ctx, b.undone, "error", sagas.Scrub(err))
			}
			if done == 0 || err != nil {
				clock.Pausing(ctx, sagas.Jittered(s.Look), woken)
			}
		}
	}
}

// all works on each that is due, and returns how many were done. One that fails stops no
// other.
func (b backlog[D]) all(ctx, work context.Context, runner *sagas.Runner) (done int, failures error) {
	if resting, err := runner.InRecovery(ctx); err != nil || resting && !b.inRecovery {
		return 0, err
	}
	var last D
	for ctx.Err() == nil {
		due, err := b.read(ctx, last)
		if err != nil || len(due) == 0 {
			return done, errors.Join(err, failures)
		}
		last = due[len(due)-1]
		n, err := b.each(ctx, work, due)
		done, failures = done+n, errors.Join(failures, err)
	}
	return done, failures
}

func (b backlog[D]) each(ctx, work context.Context, due []D) (done int, failures error) {
	if b.shuffled {
		rand.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	}
	room := make(chan struct{}, b.atOnce)
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, d := range due {
		if ctx.Err() != nil {
			break
		}
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			var isDone bool
			err := sagas.Guarded(func() (err error) {
				isDone, err = b.do(work, d)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case isDone:
				done++
			case err != nil && domain.CodeOf(err) != domain.Conflict: // another process was faster
				failures = errors.Join(failures, err)
			}
		})
	}
	all.Wait()
	return done, failures
}
