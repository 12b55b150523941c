package credentials_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

// A vault is one process with a log beside its credentials.
type vault struct {
	*eventstore.Store
	*credentials.Vault
}

func newVault(t *testing.T) vault {
	t.Helper()
	return open(t, eventstoretest.URL(t), sealing.NewSecretKey())
}

// open starts a process with a list of secret keys.
func open(t *testing.T, url, keys string) vault {
	t.Helper()
	ring, err := sealing.ParseKeyring(keys)
	if err != nil {
		t.Fatal(err)
	}
	pool := eventstoretest.Pool(t, url)
	return vault{
		eventstore.Open(pool, domain.NewCatalogue(), ring, eventstoretest.Caused()),
		credentials.Open(pool, ring).Hashing(eventstoretest.Hashing),
	}
}

func TestTheSweepTakesWhatHasExpiredAndNothingElse(t *testing.T) {
	s := newVault(t)
	left := func() map[string]int {
		t.Helper()
		counts := map[string]int{}
		for _, table := range []string{"secret_handoff", "one_time_tokens", "refresh_tokens", "refresh_families", "browser_sessions"} {
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
		rows := append(credentials.TokenRows(name, name, 12, time.Hour), s.HandOff("ftp", name, []byte("s"), time.Hour))
		if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, rows); err != nil {
			t.Fatal(err)
		}
		signIn(t, s, name)
		begin(t, s)
	}
	grow("old")
	for _, expired := range []string{
		`update secret_handoff set expires_at = now() - interval '1 second'`,
		`update one_time_tokens set expires_at = now() - interval '31 days'`, `update refresh_tokens
			set expires_at = now() - interval '1 second'`,
		`update refresh_families set expires_at = now() - interval '1 second'`, `update browser_sessions
			set seen_at = now() - interval '31 minutes'`,
	} {
		change(t, s, expired)
	}
	grow("new")
	rotate(t, s, "new", "newer")
	if err := s.Vault.Sweep(t.Context()); err != nil {
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

func TestWithoutTheDatabaseNoUserIsLetIn(t *testing.T) {
	s := newVault(t)
	ctx := t.Context()
	s.Pool().Close()
	for what, ask := range map[string]func() error{
		"issue":    func() error { return s.IssueRefresh(ctx, "a", uuid.New(), 12, 1, nextWeek) },
		"rotate":   func() error { _, err := s.RotateRefresh(ctx, "a", "b", nextWeek); return err },
		"revoke":   func() error { _, err := s.RevokeRefresh(ctx, "a"); return err },
		"state":    func() error { _, err := s.RefreshState(ctx, "a"); return err },
		"open":     func() error { _, err := s.OpenSession(ctx, 12, 1); return err },
		"session":  func() error { _, _, err := s.Session(ctx, "a"); return err },
		"peek":     func() error { _, _, err := s.PeekSession(ctx, "a"); return err },
		"renew":    func() error { _, err := s.RenewSession(ctx, "a"); return err },
		"end":      func() error { return s.EndSession(ctx, "a") },
		"password": func() error { _, err := s.CheckPassword(ctx, 12, "correct horse"); return err },
		"propose":  func() error { return s.ProposeFactor(ctx, 12, "secret") },
		"confirm":  func() error { _, err := s.ConfirmFactor(ctx, 12, "123456"); return err },
		"code":     func() error { _, err := s.UseFactorCode(ctx, 12, "123456"); return err },
		"recovery": func() error { _, err := s.UseRecoveryCode(ctx, 12, "aaaa"); return err },
		"left":     func() error { _, err := s.RecoveryCodesLeft(ctx, 12); return err },
		"sign-ins": func() error { _, _, err := s.SignIns(ctx, 12, 1, 0, 10); return err },
		"close":    func() error { _, err := s.CloseSignIn(ctx, 12, 1, uuid.New()); return err },
		"others":   func() error { _, err := s.CloseOtherSignIns(ctx, 12, 1, uuid.New()); return err },
		"begin":    func() error { _, err := s.BeginSignIn(ctx, 12, 1); return err },
		"pending":  func() error { _, _, err := s.PendingSignIn(ctx, "a"); return err },
		"complete": func() error { return s.EndSignIn(ctx, "a") },
		"sweep":    func() error { return s.Vault.Sweep(ctx) },
	} {
		if err := ask(); !errors.Is(err, eventstore.ErrUnavailable) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWhoIsSignedOutHoldsNothingThatOpensADoor(t *testing.T) {
	s := newVault(t)
	signIn(t, s, "a")
	rotate(t, s, "a", "b")
	id, link := begin(t, s), credentials.NewToken()
	setPassword(t, s, 12, hashed(t, s, "correct horse"))
	setPassword(t, s, 13, hashed(t, s, "another horse"))
	for _, rows := range [][]eventstore.TxStatement{credentials.TokenRows(link, "set_password", 12, 1e12), credentials.SignOutRows(12)} {
		if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, rows); err != nil {
			t.Fatal(err)
		}
	}
	_, live := visit(t, s, id)
	is, err := s.CheckPassword(t.Context(), 12, "correct horse")
	_, dead := s.TokenUser(t.Context(), link, "set_password")
	if live || is || err != nil || dead == nil || worth(t, s, "b") != domain.TokenUnknown {
		t.Errorf("session %v, password %v (%v), link %v, refresh token %s", live, is, err, dead, worth(t, s, "b"))
	}
	if is, err := s.CheckPassword(t.Context(), 13, "another horse"); err != nil || !is {
		t.Errorf("another user: %v, %v", is, err)
	}
}
