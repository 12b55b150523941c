package credentials_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore/credentials"
)

// begin opens a browser session of user 12.
func begin(t *testing.T, s vault) string {
	t.Helper()
	id, err := s.OpenSession(t.Context(), 12, 3)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func visit(t *testing.T, s vault, id string) (domain.Session, bool) {
	t.Helper()
	found, live, err := s.Session(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return found, live
}

func TestASessionTellsWhoIsThere(t *testing.T) {
	s := newVault(t)
	id, other := begin(t, s), begin(t, s)
	if len(id) < 43 || id == other {
		t.Errorf("ids %q and %q do not have 256 random bits", id, other)
	}
	found, live := visit(t, s, id)
	if !live || found.User != 12 || found.Version != 3 || !found.ConfirmedAt.IsZero() || time.Since(found.StartedAt).Abs() > time.Minute {
		t.Errorf("%+v, %v", found, live)
	}
	if _, live := visit(t, s, "guessed"); live {
		t.Error("a guessed id opens a session")
	}
	for range 2 {
		if err := s.EndSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if _, live := visit(t, s, id); live {
		t.Error("signed out, and still there")
	}
	if _, live := visit(t, s, other); !live {
		t.Error("the user's other browser was signed out too")
	}
}

func TestAUserWhoChoseItStaysSignedInWithoutVisits(t *testing.T) {
	for _, c := range []struct {
		what, after string
		live        bool
	}{
		{"a day", `started_at = now() - interval '24 hours', seen_at = now() - interval '24 hours'`, true},
		{"a month", `started_at = now() - interval '29 days 23 hours', seen_at = now() - interval '29 days'`, true},
		{"a longer one", `started_at = now() - interval '30 days 1 minute', seen_at = now()`, false},
	} {
		s := newVault(t)
		id, other := begin(t, s), begin(t, s)
		until, err := s.StaySignedIn(t.Context(), id)
		if err != nil || time.Until(until).Round(time.Hour) != 30*24*time.Hour {
			t.Fatalf("until %s, %v", until, err)
		}
		if found, _ := visit(t, s, id); !found.StaysUntil.Equal(until) {
			t.Errorf("%+v, not until %s", found, until)
		}
		change(t, s, `update browser_sessions set `+c.after)
		if _, live := visit(t, s, id); live != c.live {
			t.Errorf("after %s: %v", c.what, live)
		}
		if _, live := visit(t, s, other); live {
			t.Errorf("after %s the user's other browser is signed in", c.what)
		}
		if err := s.Vault.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		renewed, err := s.RenewSession(t.Context(), id)
		if found, live := visit(t, s, renewed); (err == nil) != c.live || live != c.live || live && found.StaysUntil.IsZero() {
			t.Errorf("renewed after %s: %+v %v", c.what, found, err)
		}
	}
}

func TestASessionEndsWithoutVisitsAndAfterTwelveHours(t *testing.T) {
	for _, c := range []struct {
		what, after string
		live        bool
	}{
		{"a short break", `seen_at = now() - interval '29 minutes'`, true},
		{"a long break", `seen_at = now() - interval '31 minutes'`, false},
		{"a long day", `started_at = now() - interval '11 hours 59 minutes'`, true},
		{"a longer one", `started_at = now() - interval '12 hours 1 minute'`, false},
	} {
		s := newVault(t)
		id := begin(t, s)
		change(t, s, `update browser_sessions set `+c.after)
		if _, live := visit(t, s, id); live != c.live {
			t.Errorf("after %s: %v", c.what, live)
		}
		if _, err := s.RenewSession(t.Context(), id); (err == nil) != c.live {
			t.Errorf("renewed after %s: %v", c.what, err)
		}
	}
}

func TestVisitsAreNotedOnceAMinute(t *testing.T) {
	s := newVault(t)
	id := begin(t, s)
	seen := func() (age time.Duration) {
		t.Helper()
		if err := s.Pool().QueryRow(t.Context(), `select now() - seen_at from browser_sessions`).Scan(&age); err != nil {
			t.Fatal(err)
		}
		return age
	}
	change(t, s, `update browser_sessions set seen_at = now() - interval '50 seconds'`)
	visit(t, s, id)
	if age := seen(); age < 50*time.Second {
		t.Errorf("noted after less than a minute: %v", age)
	}
	change(t, s, `update browser_sessions set seen_at = now() - interval '25 minutes'`)
	visit(t, s, id)
	if age := seen(); age > 20*time.Second {
		t.Errorf("not noted: %v", age)
	}
}

// Entering the password again gives the session a new id.
func TestASessionIsRenewedOnce(t *testing.T) {
	s := newVault(t)
	id := begin(t, s)
	started, _ := visit(t, s, id)
	var renewed atomic.Int32
	var fresh atomic.Value
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch newID, err := s.RenewSession(context.Background(), id); {
			case err == nil:
				renewed.Add(1)
				fresh.Store(newID)
			case !errors.Is(err, credentials.ErrSession):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if renewed.Load() != 1 {
		t.Fatalf("renewed %d times", renewed.Load())
	}
	if _, live := visit(t, s, id); live {
		t.Error("the old id still opens the session")
	}
	found, live := visit(t, s, fresh.Load().(string))
	if !live || found.User != 12 || found.Version != 3 || found.StartedAt != started.StartedAt ||
		found.ConfirmedAt.Before(found.StartedAt) {
		t.Errorf("%+v, %v", found, live)
	}
}
