package credentials_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

var nextWeek = time.Now().Add(7 * 24 * time.Hour)

// signIn issues the first refresh token of user 12.
func signIn(t *testing.T, s vault, jti string) uuid.UUID {
	t.Helper()
	family := uuid.New()
	if err := s.IssueRefresh(t.Context(), jti, family, 12, 1, nextWeek); err != nil {
		t.Fatal(err)
	}
	return family
}

func rotate(t *testing.T, s vault, old, fresh string) domain.Rotation {
	t.Helper()
	r, err := s.RotateRefresh(t.Context(), old, fresh, nextWeek)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func worth(t *testing.T, s vault, jti string) domain.RotationState {
	t.Helper()
	r, err := s.RefreshState(t.Context(), jti)
	if err != nil {
		t.Fatal(err)
	}
	return r.State
}

func change(t *testing.T, s vault, sql string, args ...any) {
	t.Helper()
	if _, err := s.Pool().Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// longAgo moves all uses of tokens before the permitted ten seconds.
func longAgo(t *testing.T, s vault) {
	t.Helper()
	change(t, s, `update refresh_tokens set used_at = used_at - interval '11 seconds'`)
}

func TestARefreshTokenIsReplacedByOneOfItsFamily(t *testing.T) {
	s := newVault(t)
	family := signIn(t, s, "a")
	if r := rotate(t, s, "a", "b"); r != (domain.Rotation{State: domain.TokenFresh, User: 12, Family: family}) {
		t.Errorf("%+v", r)
	}
	if r := rotate(t, s, "a", "c"); r != (domain.Rotation{State: domain.TokenUsed, User: 12, Family: family}) {
		t.Errorf("a second time, a moment later: %+v", r)
	}
	for jti, want := range map[string]domain.RotationState{"a": domain.TokenUsed, "b": domain.TokenFresh, "c": domain.TokenUnknown} {
		if got := worth(t, s, jti); got != want {
			t.Errorf("%s is %s, want %s", jti, got, want)
		}
	}
	if r := rotate(t, s, "never issued", "d"); r != (domain.Rotation{State: domain.TokenUnknown}) {
		t.Errorf("a token that was never issued: %+v", r)
	}
}

func TestAHundredRotationsAtOnceGiveOneNewToken(t *testing.T) {
	s := newVault(t)
	signIn(t, s, "old")
	states := atOnce(t, 100, func(n int) (domain.Rotation, error) {
		return s.RotateRefresh(context.Background(), "old", fmt.Sprint("new", n), nextWeek)
	})
	if states[domain.TokenFresh] != 1 || states[domain.TokenUsed] != 99 {
		t.Errorf("%v", states)
	}
	var tokens int
	if err := s.Pool().QueryRow(t.Context(), `select count(*) from refresh_tokens`).Scan(&tokens); err != nil || tokens != 2 {
		t.Errorf("%d tokens, %v", tokens, err)
	}
}

// atOnce makes simultaneous calls and counts the returned states.
func atOnce(t *testing.T, calls int, show func(n int) (domain.Rotation, error)) map[domain.RotationState]int {
	t.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	states := map[domain.RotationState]int{}
	for n := range calls {
		wg.Go(func() {
			r, err := show(n)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			states[r.State]++
		})
	}
	wg.Wait()
	return states
}

func TestACopiedTokenEndsItsFamilyAndOneIsTold(t *testing.T) {
	s := newVault(t)
	signIn(t, s, "a")
	signIn(t, s, "elsewhere")
	rotate(t, s, "a", "b")
	longAgo(t, s)
	if got := worth(t, s, "a"); got != domain.TokenUsed || worth(t, s, "b") != domain.TokenFresh {
		t.Errorf("a read has ended the family: %s", got)
	}
	states := atOnce(t, 50, func(n int) (domain.Rotation, error) {
		return s.RotateRefresh(context.Background(), "a", fmt.Sprint("c", n), nextWeek)
	})
	if states[domain.TokenReused] != 1 || states[domain.TokenUsed] != 49 {
		t.Errorf("%v", states)
	}
	if r := rotate(t, s, "b", "d"); r.State != domain.TokenUsed {
		t.Errorf("the newest token of the family: %+v", r)
	}
	if got := worth(t, s, "elsewhere"); got != domain.TokenFresh {
		t.Errorf("another sign-in of the same user is %s", got)
	}
}

// A reuse and a regular rotation at the same time leave no valid token of the
// family, in either order.
func TestNoTokenEscapesTheEndOfItsFamily(t *testing.T) {
	s := newVault(t)
	for round := range 40 {
		name := func(what string) string { return fmt.Sprint(what, round) }
		signIn(t, s, name("a"))
		rotate(t, s, name("a"), name("b"))
		longAgo(t, s)
		atOnce(t, 2, func(n int) (domain.Rotation, error) {
			return s.RotateRefresh(context.Background(), name([]string{"a", "b"}[n]), name([]string{"x", "c"}[n]), nextWeek)
		})
		for _, what := range []string{"a", "b", "c", "x"} {
			if got := worth(t, s, name(what)); got == domain.TokenFresh {
				t.Fatalf("round %d: %s is %s", round, what, got)
			}
		}
	}
}

func TestARevokedTokenIsOver(t *testing.T) {
	s := newVault(t)
	signIn(t, s, "a")
	states := atOnce(t, 20, func(int) (domain.Rotation, error) { return s.RevokeRefresh(context.Background(), "a") })
	if states[domain.TokenFresh] != 1 || states[domain.TokenUsed] != 19 {
		t.Errorf("%v", states)
	}
	if r := rotate(t, s, "a", "b"); r.State != domain.TokenUsed || worth(t, s, "b") != domain.TokenUnknown {
		t.Errorf("%+v", r)
	}
	signIn(t, s, "c")
	rotate(t, s, "c", "d")
	longAgo(t, s)
	if r, err := s.RevokeRefresh(t.Context(), "c"); err != nil || r.State != domain.TokenReused || worth(t, s, "d") != domain.TokenUsed {
		t.Errorf("an old copy is revoked: %+v, %v", r, err)
	}
}

func TestAnExpiredTokenIsUnknown(t *testing.T) {
	s := newVault(t)
	if err := s.IssueRefresh(t.Context(), "a", uuid.New(), 12, 1, time.Now().Add(-time.Second)); err != nil {
		t.Fatal(err)
	}
	if r := rotate(t, s, "a", "b"); r.State != domain.TokenUnknown {
		t.Errorf("%+v", r)
	}
}

func TestOfTokensAndSessionsOnlyHashesAreKept(t *testing.T) {
	s := newVault(t)
	signIn(t, s, "0123456789abcdef0123456789abcdef")
	id := begin(t, s)
	var kept string
	if err := s.Pool().QueryRow(t.Context(), `
		select (select string_agg(r::text || encode(r.hash, 'escape'), '') from refresh_tokens r)
			|| (select string_agg(b::text || encode(b.hash, 'escape'), '') from browser_sessions b)`).Scan(&kept); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(kept, "0123456789abcdef") || strings.Contains(kept, id) {
		t.Errorf("kept: %s", kept)
	}
}
