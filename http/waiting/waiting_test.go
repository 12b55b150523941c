package waiting_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hostpanel/http/waiting"
)

// A log grows at these times after its beginning.
type growing struct {
	began time.Time
	at    []time.Duration
}

func (g growing) Changed() <-chan struct{} {
	next := make(chan struct{})
	for _, at := range g.at {
		if left := at - time.Since(g.began); left > 0 {
			time.AfterFunc(left, func() { close(next) })
			break
		}
	}
	return next
}

// looks waits while the log grows at these times, and tells when it was looked at.
func looks(t *testing.T, most time.Duration, overAt int, grows ...time.Duration) (at []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		log := growing{time.Now(), grows}
		err := waiting.For(t.Context(), log, most, func(context.Context) (bool, error) {
			at = append(at, time.Since(log.began))
			return len(at) == overAt, nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	return at
}

func inMilliseconds(of ...time.Duration) (all []time.Duration) {
	for _, n := range of {
		all = append(all, n*time.Millisecond)
	}
	return all
}

func TestAnAnswerLooksWhenTheLogHasGrown(t *testing.T) {
	for name, c := range map[string]struct {
		most         time.Duration
		over         int
		grows, looks []time.Duration
	}{
		"what is over at once is not waited for":      {time.Minute, 1, nil, inMilliseconds(0)},
		"no wait is one look":                         {0, 9, nil, inMilliseconds(0)},
		"growth is looked at when it comes":           {time.Minute, 3, inMilliseconds(300, 333), inMilliseconds(0, 300, 333)},
		"growth during a pause is looked at after it": {time.Minute, 3, inMilliseconds(1, 6, 7), inMilliseconds(0, 5, 15)},
		"a hint that is lost costs a second":          {time.Minute, 3, nil, inMilliseconds(0, 1000, 2000)},
		"at the end it looks once more":               {1500 * time.Millisecond, 9, nil, inMilliseconds(0, 1000, 1500)},
	} {
		t.Run(name, func(t *testing.T) {
			if at := looks(t, c.most, c.over, c.grows...); !slices.Equal(at, c.looks) {
				t.Errorf("it looked at %v instead of %v", at, c.looks)
			}
		})
	}
}

func TestABusyLogIsLookedAtTenTimesASecondAtMost(t *testing.T) {
	var busy []time.Duration
	for after := time.Millisecond; after < 10*time.Second; after += time.Millisecond {
		busy = append(busy, after)
	}
	if at := looks(t, 10*time.Second, -1, busy...); len(at) > 106 {
		t.Errorf("it looked %d times in ten seconds", len(at))
	}
}

func TestAWaitEndsWithItsCallAndWithAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, gone := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer gone()
		n, began := 0, time.Now()
		if err := waiting.For(
			ctx, growing{}, time.Minute, func(context.Context) (bool, error) { n++; return false, nil },
		); !errors.Is(err, context.DeadlineExceeded) || n != 1 || time.Since(began) != 200*time.Millisecond {
			t.Errorf("a wait of a caller who has gone ends with %v after %d looks and %v", err, n, time.Since(began))
		}
		fault := errors.New("the database is away")
		if err := waiting.For(
			t.Context(), growing{}, time.Minute, func(context.Context) (bool, error) { return false, fault },
		); !errors.Is(err, fault) {
			t.Errorf("a look that fails ends it with %v", err)
		}
	})
}
