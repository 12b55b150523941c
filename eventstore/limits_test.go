package eventstore_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func take(t *testing.T, s *eventstore.Store, limit int) domain.Quota {
	t.Helper()
	q, err := s.Take(t.Context(), "sign-in:ana", limit, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestACallThatIsGivenBackNeverCame(t *testing.T) {
	s := newStore(t)
	for range 3 {
		take(t, s, 3)
	}
	if take(t, s, 3).Allowed {
		t.Error("a fourth of three")
	}
	if err := s.GiveBack(t.Context(), "sign-in:ana"); err != nil {
		t.Fatal(err)
	}
	if q := take(t, s, 3); !q.Allowed || q.Remaining != 0 {
		t.Errorf("after one was given back: %+v", q)
	}
	for range 5 { // more than were taken
		if err := s.GiveBack(t.Context(), "sign-in:ana"); err != nil {
			t.Fatal(err)
		}
	}
	if q := take(t, s, 3); !q.Allowed || q.Remaining != 2 {
		t.Errorf("after all were given back: %+v", q)
	}
	if err := s.GiveBack(t.Context(), "nobody"); err != nil {
		t.Error(err)
	}
}

func TestAForgottenKeyHasItsWholeLimit(t *testing.T) {
	s := newStore(t)
	take(t, s, 1)
	if err := s.Forget(t.Context(), "sign-in:ana"); err != nil {
		t.Fatal(err)
	}
	if q := take(t, s, 1); !q.Allowed {
		t.Errorf("%+v", q)
	}
}

// A flood of sign-ins with the right password leaves the limit as it was.
func TestWhatIsTakenAndGivenBackInAFloodAddsUp(t *testing.T) {
	s := newStore(t)
	var wg sync.WaitGroup
	for range 60 {
		wg.Go(func() {
			q, err := s.Take(context.Background(), "sign-in:ana", 100, time.Minute)
			if err == nil && q.Allowed {
				err = s.GiveBack(context.Background(), "sign-in:ana")
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if q := take(t, s, 100); q.Remaining != 99 {
		t.Errorf("%+v", q)
	}
}

func TestLimitsAreNotWrittenAhead(t *testing.T) {
	s := newStore(t)
	var kind string
	if err := s.Pool().QueryRow(t.Context(), `select relpersistence::text from pg_class where relname = 'rate_windows'`).Scan(&kind); err != nil || kind != "u" {
		t.Errorf("%q, %v", kind, err)
	}
}

func TestTheSweepTakesWhatHasExpiredAndNothingElse(t *testing.T) {
	s := newStore(t)
	left := func() map[string]int {
		t.Helper()
		counts := map[string]int{}
		for _, table := range []string{"secret_handoff", "once_keys", "one_time_tokens", "refresh_tokens", "refresh_families", "browser_sessions", "rate_windows"} {
			var n int
			if err := s.Pool().QueryRow(t.Context(), `select count(*) from `+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			counts[table] = n
		}
		return counts
	}
	grow := func(name string) {
		t.Helper()
		rows := append(eventstore.TokenRows(name, name, 12, time.Hour), s.HandOff("ftp", name, []byte("s"), time.Hour))
		key := domain.OnceKey{Key: name, Fingerprints: [][]byte{{1}}, Keep: domain.KeepDay}
		if _, err := s.ExecuteWith(t.Context(), domain.Cause{Key: &key}, rows); err != nil {
			t.Fatal(err)
		}
		signIn(t, s, name)
		begin(t, s)
		if _, err := s.Take(t.Context(), name, 5, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	grow("old")
	for _, expired := range []string{
		`update secret_handoff set expires_at = now() - interval '1 second'`, `update once_keys set expires_at = now() - interval '1 second'`,
		`update one_time_tokens set expires_at = now() - interval '31 days'`, `update refresh_tokens set expires_at = now() - interval '1 second'`,
		`update refresh_families set expires_at = now() - interval '1 second'`, `update browser_sessions set seen_at = now() - interval '31 minutes'`,
		`update rate_windows set calls = array[now() - interval '25 hours']`,
	} {
		change(t, s, expired)
	}
	grow("new")
	rotate(t, s, "new", "newer")
	change(t, s, `insert into rate_windows values ('given back', '{}', true)`)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	for table, n := range left() {
		want := 1
		if table == "refresh_tokens" {
			want = 2 // a used one is recognised as long as it would have lived
		}
		if n != want {
			t.Errorf("%d rows of %s are left, want %d", n, table, want)
		}
	}
}

func TestWithoutTheDatabaseNobodyIsLetIn(t *testing.T) {
	s := eventstoretest.Store(t, facts)
	ctx := t.Context()
	s.Pool().Close()
	for what, ask := range map[string]func() error{
		"issue":     func() error { return s.IssueRefresh(ctx, "a", uuid.New(), 12, nextWeek) },
		"rotate":    func() error { _, err := s.RotateRefresh(ctx, "a", "b", nextWeek); return err },
		"revoke":    func() error { _, err := s.RevokeRefresh(ctx, "a"); return err },
		"state":     func() error { _, err := s.RefreshState(ctx, "a"); return err },
		"open":      func() error { _, err := s.OpenSession(ctx, 12, 1); return err },
		"session":   func() error { _, _, err := s.Session(ctx, "a"); return err },
		"renew":     func() error { _, err := s.RenewSession(ctx, "a"); return err },
		"end":       func() error { return s.EndSession(ctx, "a") },
		"password":  func() error { _, err := s.CheckPassword(ctx, 12, "correct horse"); return err },
		"give back": func() error { return s.GiveBack(ctx, "a") },
		"forget":    func() error { return s.Forget(ctx, "a") },
		"sweep":     func() error { return s.Sweep(ctx) },
	} {
		if err := ask(); !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
