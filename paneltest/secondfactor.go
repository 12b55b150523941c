package paneltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"hostpanel/domain"
)

// Code is what an app shows, some steps of time from now.
func Code(t testing.TB, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// WrongCode is a code of six digits that is wrong for some minutes.
func WrongCode(t testing.TB, secret string) string {
	t.Helper()
	right := map[string]bool{}
	for steps := -4; steps <= 4; steps++ {
		right[Code(t, secret, steps)] = true
	}
	for n := 0; ; n++ {
		if wrong := fmt.Sprintf("%06d", n); !right[wrong] {
			return wrong
		}
	}
}

// Enrolled gives a user a second factor. No code is used up.
func (s *Shop) Enrolled(t testing.TB, user int64) (secret string, recovery []string) {
	t.Helper()
	secret, err := s.Accounts.ProposeFactor(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if recovery, err = s.Accounts.EnableFactor(t.Context(), domain.Metadata{Actor: "user:2"}, user, Code(t, secret, 0)); err != nil {
		t.Fatal(err)
	}
	s.ForgetsCodes(t)
	return secret, recovery
}

// ForgetsCodes makes codes good that were used before.
func (s *Shop) ForgetsCodes(t testing.TB) {
	t.Helper()
	if _, err := s.Owner.Exec(t.Context(), `update second_factors set last_step = 0`); err != nil {
		t.Fatal(err)
	}
}
