package sagas_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
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

// A worker whose call fails after its run was taken over tells the tenant of no attempt.
func TestAWorkerWithoutItsLeaseTellsNothing(t *testing.T) { // G-1
	t.Parallel()
	r := sagastest.NewEndpoints()
	w := sagastest.NewWorld(t, func(o *assembly.Options) { o.Webhooks, o.Times.Lease = r, 500*time.Millisecond })
	sagastest.Listens(w, 1, 17)
	taken, over := make(chan struct{}), make(chan struct{})
	r.Answers(sagastest.URLOf(1), func(_ context.Context, nth int) (int, error) {
		if nth == 1 {
			<-taken
			return sagastest.Answer(500)
		}
		w.Frozen.To(false) // the second worker keeps its lease
		close(taken)
		<-over
		return 204, nil
	})
	w.Frozen.To(true)
	w.Goes()
	id := sagastest.Sends(w, 1, 17)
	w.Eventually("the first worker has told, or found out", func() bool {
		return w.Runner.Fenced() > 0 || w.Often(webhook.DeliveryStream(id), "webhook.delivery_attempted") > 0
	})
	close(over)
	sagastest.Delivered(w, id, webhook.Succeeded)
	w.Equal("attempts that failed", w.Often(webhook.DeliveryStream(id), "webhook.delivery_attempted"), 0)
}
