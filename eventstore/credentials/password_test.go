package credentials_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

func setPassword(t *testing.T, s vault, user int64, phc string) {
	t.Helper()
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, []eventstore.TxStatement{credentials.PasswordRow(user, phc)}); err != nil {
		t.Fatal(err)
	}
}

// Whether an account exists cannot be told from the work that its password costs.
func TestEveryPasswordCostsOneHash(t *testing.T) {
	s := newVault(t)
	setPassword(t, s, 12, hashed(t, s, "correct horse"))
	setPassword(t, s, 13, "not a hash")
	for _, c := range []struct {
		what, password string
		user           int64
		is             bool
	}{
		{"the right one", "correct horse", 12, true},
		{"a wrong one", "battery staple", 12, false},
		{"none", "", 12, false},
		{"an unknown user", "correct horse", 0, false},
		{"a user who has none", "correct horse", 99, false},
		{"no password of a user who has none", "", 99, false},
		{"a hash that cannot be read", "correct horse", 13, false},
	} {
		before := credentials.PasswordHashes()
		is, err := s.CheckPassword(t.Context(), c.user, c.password)
		if hashes := credentials.PasswordHashes() - before; err != nil || is != c.is || hashes != 1 {
			t.Errorf("%s: %v after %d hashes, %v", c.what, is, hashes, err)
		}
	}
}

// cheap is the hash of a password as it was made at another cost.
func cheap(password string) string {
	salt := []byte("0123456789abcdef")
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=64,t=1,p=1$%s$%s", text(salt), text(argon2.IDKey([]byte(password), salt, 1, 64, 1, 32)))
}

func TestAHashAtOldCostsIsReplacedWhenThePasswordIsKnown(t *testing.T) {
	s := newVault(t)
	kept := func() (phc string) {
		t.Helper()
		if err := s.Pool().QueryRow(t.Context(), `select phc from credentials where user_id = 12`).Scan(&phc); err != nil {
			t.Fatal(err)
		}
		return phc
	}
	s.Vault = s.Hashing(credentials.Cost{})
	old := cheap("correct horse")
	setPassword(t, s, 12, old)
	if is, err := s.CheckPassword(t.Context(), 12, "battery staple"); err != nil || is || kept() != old {
		t.Errorf("a wrong password: %v, %v, %s", is, err, kept())
	}
	if is, err := s.CheckPassword(t.Context(), 12, "correct horse"); err != nil || !is {
		t.Fatalf("%v, %v", is, err)
	}
	renewed := kept()
	if !strings.HasPrefix(renewed, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("renewed as %s", renewed)
	}
	before := credentials.PasswordHashes()
	if is, err := s.CheckPassword(
		t.Context(), 12, "correct horse",
	); err != nil || !is || kept() != renewed || credentials.PasswordHashes() != before+1 {
		t.Errorf("once more: %v, %v", is, err)
	}
}

func TestWhoGivesUpDoesNotWaitForAHash(t *testing.T) {
	s := newVault(t)
	leave := credentials.OccupyHashing()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	before := credentials.PasswordHashes()
	if is, err := s.CheckPassword(ctx, 12, "correct horse"); is || !errors.Is(err, context.DeadlineExceeded) ||
		credentials.PasswordHashes() != before {
		t.Errorf("%v, %v", is, err)
	}
	leave()
	if is, err := s.CheckPassword(t.Context(), 12, "correct horse"); is || err != nil {
		t.Errorf("afterwards: %v, %v", is, err)
	}
}

func hashed(t testing.TB, s vault, password string) string {
	t.Helper()
	phc, err := s.HashPassword(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	return phc
}

func TestPasswordsAreCheckedAgainstTheirHash(t *testing.T) {
	s := newVault(t)
	phc := hashed(t, s, "correct horse")
	setPassword(t, s, 12, phc)
	setPassword(t, s, 13, "")
	for _, check := range []struct {
		user     int64
		password string
		want     bool
	}{
		{12, "correct horse", true},
		{12, "battery staple", false},
		{13, "correct horse", false},
		{13, "", false},
		{14, "correct horse", false},
	} {
		if is, err := s.CheckPassword(t.Context(), check.user, check.password); err != nil || is != check.want {
			t.Errorf("%q for user %d: %v, %v", check.password, check.user, is, err)
		}
	}
	if strings.Contains(phc, "horse") {
		t.Error("the hash shows the password")
	}
}
