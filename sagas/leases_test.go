package sagas_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas"
	"hostpanel/sagas/sagastest"
)

func TestAWorkerKeepsItsRunWhileItsQueueStays(t *testing.T) { // G-4
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	w.Must(w.Runner.Drill(t.Context(), "one"))
	w.Eventually("the drill is over", func() bool { return w.RunOf("drill:one").Status == sagas.StatusDone })
	w.Equal("claims of the five steps", w.Count(`select lease_token from saga_run where key = 'drill:one'`), 1)
}

// An engine that answers only when the caller gives up.
type silentEngine struct {
	*sagastest.Engine
	asked, gaveUp chan error
	answers       *atomic.Bool
}

func (e silentEngine) Create(ctx context.Context, o hosting.EngineObject) (int64, error) {
	if e.answers.Swap(true) {
		return e.Engine.Create(ctx, o)
	}
	limit, _ := ctx.Deadline()
	if left := time.Until(limit); left > 2500*time.Millisecond {
		e.asked <- errors.New("the call may take " + left.String())
	}
	e.asked <- nil
	<-ctx.Done()
	e.gaveUp <- context.Cause(ctx)
	return 0, domain.Fail(domain.Unknown, "timeout", ctx.Err())
}
