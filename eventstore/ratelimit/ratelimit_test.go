package ratelimit_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/ratelimit"
)

func windows(t *testing.T) (*ratelimit.Windows, *pgxpool.Pool) {
	t.Helper()
	pool := eventstoretest.Pool(t, eventstoretest.URL(t))
	return ratelimit.Open(pool), pool
}

func take(t *testing.T, w *ratelimit.Windows, limit int) domain.Quota {
	t.Helper()
	q, err := w.Take(t.Context(), "sign-in:ana", limit, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestACallThatIsGivenBackNeverCame(t *testing.T) {
	w, _ := windows(t)
	for range 3 {
		take(t, w, 3)
	}
	if take(t, w, 3).Allowed {
		t.Error("a fourth of three")
	}
	if err := w.GiveBack(t.Context(), "sign-in:ana"); err != nil {
		t.Fatal(err)
	}
	if q := take(t, w, 3); !q.Allowed || q.Remaining != 0 {
		t.Errorf("after one was given back: %+v", q)
	}
	for range 5 { // more than were taken
		if err := w.GiveBack(t.Context(), "sign-in:ana"); err != nil {
			t.Fatal(err)
		}
	}
	if q := take(t, w, 3); !q.Allowed || q.Remaining != 2 {
		t.Errorf("after all were given back: %+v", q)
	}
	if err := w.GiveBack(t.Context(), "an unknown key"); err != nil {
		t.Error(err)
	}
}

func TestAForgottenKeyHasItsWholeLimit(t *testing.T) {
	w, _ := windows(t)
	take(t, w, 1)
	if err := w.Forget(t.Context(), "sign-in:ana"); err != nil {
		t.Fatal(err)
	}
	if q := take(t, w, 1); !q.Allowed {
		t.Errorf("%+v", q)
	}
}

// A flood of sign-ins with the right password leaves the limit as it was.
func TestWhatIsTakenAndGivenBackInAFloodAddsUp(t *testing.T) {
	w, _ := windows(t)
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			q, err := w.Take(context.Background(), "sign-in:ana", 100, time.Minute)
			if err == nil && q.Allowed {
				err = w.GiveBack(context.Background(), "sign-in:ana")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if q := take(t, w, 100); q.Remaining != 99 {
		t.Errorf("%+v", q)
	}
}

func TestLimitsAreNotWrittenAhead(t *testing.T) {
	_, pool := windows(t)
	var kind string
	if err := pool.QueryRow(t.Context(), `select relpersistence::text from pg_class where relname = 'rate_windows'`).
		Scan(&kind); err != nil ||
		kind != "u" {
		t.Errorf("%q, %v", kind, err)
	}
}

func TestALimitIsExactUnderAFlood(t *testing.T) {
	w, _ := windows(t)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			q, err := w.Take(context.Background(), "key:a", 60, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if q.Allowed {
				allowed.Add(1)
			} else if q.Wait <= 0 || q.Wait > time.Minute || q.Remaining != 0 {
				t.Errorf("refused with %+v", q)
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 60 {
		t.Errorf("%d calls were allowed, want 60", allowed.Load())
	}
	if q, err := w.Take(t.Context(), "key:b", 60, time.Minute); err != nil || !q.Allowed || q.Remaining != 59 {
		t.Errorf("another key: %+v, %v", q, err)
	}
}

func TestTheWindowSlides(t *testing.T) {
	w, _ := windows(t)
	window := 200 * time.Millisecond
	var granted []time.Time
	for len(granted) < 6 {
		before := time.Now()
		q, err := w.Take(t.Context(), "k", 2, window)
		if err != nil {
			t.Fatal(err)
		}
		if !q.Allowed {
			time.Sleep(q.Wait) // as a client is told
			continue
		}
		granted = append(granted, before)
	}
	if took := time.Since(granted[0]); took < 2*window {
		t.Errorf("six calls of two in %v took only %v", window, took)
	}
}

func TestTheSweepDeletesWhatHasExpired(t *testing.T) {
	w, pool := windows(t)
	for _, key := range []string{"old", "new"} {
		if _, err := w.Take(t.Context(), key, 5, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := pool.Exec(t.Context(), `
		update rate_windows set calls = array[now() - interval '25 hours'] where key = 'old';
		insert into rate_windows values ('given back', '{}', true)`); err != nil {
		t.Fatal(err)
	}
	if err := w.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left string
	if err := pool.QueryRow(t.Context(), `select string_agg(key, ',') from rate_windows`).Scan(&left); err != nil || left != "new" {
		t.Errorf("%q are left, %v", left, err)
	}
}

func TestWithoutTheDatabaseNothingIsCounted(t *testing.T) {
	w, pool := windows(t)
	pool.Close()
	_, taken := w.Take(t.Context(), "a", 1, time.Minute)
	for what, err := range map[string]error{
		"take": taken, "give back": w.GiveBack(t.Context(), "a"), "forget": w.Forget(t.Context(), "a"), "sweep": w.Sweep(t.Context()),
	} {
		if !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
