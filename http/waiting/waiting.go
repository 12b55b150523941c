// Package waiting lets an answer wait for what others do about its request: the engine, a
// payment provider, a run (docs/log.md, "Hints").
package waiting

import (
	"context"
	"time"
)

// Log tells when the log grows: the channel closes at the next event.
type Log interface{ Changed() <-chan struct{} }

const (
	soon    = 5 * time.Millisecond   // between the first two looks, at least; then twice as long each time
	late    = 100 * time.Millisecond // between two looks, at least: others may fill the log
	unheard = time.Second            // between two looks, at most: a hint may get lost
)

// For looks at once, and again when the log has grown, until a look tells that the wait is over
// or fails. When the time most has passed it looks once more and ends.
func For(ctx context.Context, log Log, most time.Duration, look func(context.Context) (over bool, err error)) error {
	enough := time.NewTimer(most)
	defer enough.Stop()
	last := most <= 0
	for pause := soon; ; pause = min(2*pause, late) {
		grown := log.Changed() // asked for before the look, so that nothing is missed between
		over, err := look(ctx)
		if over || err != nil || last {
			return err
		}
		last = rest(ctx, pause, enough.C, nil) || rest(ctx, unheard-pause, enough.C, grown)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// rest ends after a pause, or earlier when the log has grown. It tells whether the whole wait has
// come to its end meanwhile.
func rest(ctx context.Context, pause time.Duration, enough <-chan time.Time, grown <-chan struct{}) (isEnough bool) {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return true
	case <-enough:
		return true
	case <-t.C:
	case <-grown:
	}
	return false
}
