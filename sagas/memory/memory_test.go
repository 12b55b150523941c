package memory

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestStepsInARowReadAnOrderOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		read := func(context.Context) (int, error) { reads++; return reads, nil }
		see := func(ctx context.Context, why string, want int) {
			t.Helper()
			if got, err := Read(ctx, "order", read); got != want || err != nil {
				t.Errorf("%s: read %d instead of %d, %v", why, got, want, err)
			}
		}
		see(t.Context(), "beside a run", 1)
		see(t.Context(), "beside a run, again", 2)
		run := With(t.Context())
		see(run, "in a run", 3)
		see(run, "in its next step", 3)
		Forget(run)
		see(run, "once it has recorded a step", 4)
		time.Sleep(rememberedFor - 1)
		see(run, "a moment before it is too old", 4)
		time.Sleep(time.Nanosecond)
		see(run, "when it is too old", 5)

		_, err := Read(With(t.Context()), "order", func(context.Context) (int, error) { return 0, errors.New("away") })
		if err == nil {
			t.Error("an error is no answer")
		}
	})
}
