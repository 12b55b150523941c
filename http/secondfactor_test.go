package http_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"hostpanel/domain"
)

const (
	codeMissing = `{"detail":"A code of the second factor is required.","code":"otp_required"}`
	codeWrong   = `{"detail":"The code is wrong, or was used before.","code":"otp_required"}`
	codesSpent  = `{"detail":"There were too many wrong codes. Use a recovery code.","code":"otp_required"}`
	noAccount   = `{"detail":"No active account found with the given credentials"}`
	enrolFirst  = `{"detail":"A superuser has to set up a second factor first.","code":"second_factor_required"}`
)

// code is what an app shows, some steps of time from now.
func code(t testing.TB, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// wrongCode is a code of six digits that is wrong for some minutes.
func wrongCode(t testing.TB, secret string) string {
	t.Helper()
	right := map[string]bool{}
	for steps := -4; steps <= 4; steps++ {
		right[code(t, secret, steps)] = true
	}
	for n := 0; ; n++ {
		if wrong := fmt.Sprintf("%06d", n); !right[wrong] {
			return wrong
		}
	}
}

// enrolled gives a user a second factor. No code is used up.
func (s *shop) enrolled(t testing.TB, user int64) (secret string, recovery []string) {
	t.Helper()
	secret, err := s.Accounts.ProposeFactor(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	if recovery, err = s.Accounts.EnableFactor(t.Context(), domain.Metadata{Actor: "user:2"}, user, code(t, secret, 0)); err != nil {
		t.Fatal(err)
	}
	s.forgetsCodes(t)
	return secret, recovery
}

// forgetsCodes makes codes good that were used before.
func (s *shop) forgetsCodes(t testing.TB) {
	t.Helper()
	if _, err := s.owner.Exec(t.Context(), `update second_factors set last_step = 0`); err != nil {
		t.Fatal(err)
	}
}

// tryCode signs in at the API, from an address.
func (s *shop) tryCode(from, email, password, otp string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/token/", strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q,"otp":%q}`, email, password, otp)))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

func from(n int) string { return fmt.Sprintf("203.0.%d.1:1", n) }

func TestASignInNeedsACodeToo(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	answers(t, "before", s.tryCode(from(0), emails[ana], goodPassword, "whatever"), http.StatusOK, "")
	secret, recovery := s.enrolled(t, ana)
	for i, c := range []struct {
		what, password, otp string
		status              int
		body                string
	}{
		{"no code", goodPassword, "", 401, codeMissing},
		{"a wrong code", goodPassword, wrongCode(t, secret), 401, codeWrong},
		{"no code at all", goodPassword, "later", 401, codeWrong},
		{"an old code", goodPassword, code(t, secret, -3), 401, codeWrong},
		{"a code of the future", goodPassword, code(t, secret, 3), 401, codeWrong},
		{"a wrong password", "wrong", code(t, secret, 0), 401, noAccount},
		{"the code, which the wrong password has not used up", goodPassword, code(t, secret, 0)[:3] + " " + code(t, secret, 0)[3:], 200, ""},
		{"the same code again", goodPassword, code(t, secret, 0), 401, codeWrong},
		{"a recovery code", goodPassword, recovery[0], 200, ""},
		{"the same recovery code", goodPassword, recovery[0], 401, codeWrong},
		{"another one in capitals", goodPassword, strings.ToUpper(recovery[1]), 200, ""},
		{"a text that is too long", goodPassword, strings.Repeat("1", 65), 400, `{"otp":["Ensure this field has no more than 64 characters."]}`},
	} {
		w := s.tryCode(from(i), emails[ana], c.password, c.otp)
		answers(t, c.what, w, c.status, c.body)
		if c.status == 401 && c.body != noAccount && (w.Header().Get("X-Error-Code") != "otp_required" || w.Header().Get("WWW-Authenticate") == "") {
			t.Errorf("%s: %v", c.what, w.Header())
		}
	}
	if n := s.count(t, `select count(*) from recovery_codes where user_id = $1`, ana); n != 8 {
		t.Errorf("%d recovery codes are left", n)
	}
	answers(t, "another user", s.tryCode(from(0), emails[ben], goodPassword, ""), http.StatusOK, "")
}

func TestARightPasswordWithoutACodeIsAFailure(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	secret, _ := s.enrolled(t, ana)
	before := s.events(t, "security.sign_in_refused")
	for i := range 5 {
		answers(t, "without a code", s.tryCode(from(i/5), emails[ana], goodPassword, ""), http.StatusUnauthorized, codeMissing)
	}
	if n := s.events(t, "security.sign_in_refused") - before; n != 5 {
		t.Errorf("%d refusals are written down", n)
	}
	answers(t, "the sixth time", s.tryCode(from(0), emails[ana], goodPassword, code(t, secret, 0)), http.StatusTooManyRequests, "")
	for range 4 {
		answers(t, "a wrong password", s.tryCode(from(1), emails[ana], "wrong", ""), http.StatusUnauthorized, noAccount)
	}
	answers(t, "the right one resets nothing", s.tryCode(from(1), emails[ana], goodPassword, ""), http.StatusUnauthorized, codeMissing)
	answers(t, "after five failures", s.tryCode(from(1), emails[ana], goodPassword, code(t, secret, 0)), http.StatusTooManyRequests, "")
	answers(t, "elsewhere", s.tryCode(from(2), emails[ana], goodPassword, code(t, secret, 0)), http.StatusOK, "")
}

func TestCodesAreLimitedPerAccountOverAllAddresses(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	secret, recovery := s.enrolled(t, ana)
	for i := range 10 {
		answers(t, "a guess", s.tryCode(from(i), emails[ana], goodPassword, wrongCode(t, secret)), http.StatusUnauthorized, codeWrong)
	}
	answers(t, "the right code", s.tryCode(from(11), emails[ana], goodPassword, code(t, secret, 0)), http.StatusUnauthorized, codesSpent)
	answers(t, "a recovery code", s.tryCode(from(12), emails[ana], goodPassword, recovery[0]), http.StatusOK, "")
	answers(t, "the right code after that", s.tryCode(from(13), emails[ana], goodPassword, code(t, secret, 0)), http.StatusUnauthorized, codesSpent)
}

func TestRightCodesAreNotCountedAsGuesses(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	secret, _ := s.enrolled(t, ana)
	for i := range 12 {
		answers(t, "a right code", s.tryCode(from(i), emails[ana], goodPassword, code(t, secret, 0)), http.StatusOK, "")
		s.forgetsCodes(t)
	}
}

// Passwords are hashed one per core, and who waits too long is told so. No other test
// hashes meanwhile.
func TestOfManySignInsAtOnceWithOneCodeOneSucceeds(t *testing.T) {
	s := openShop(t).people(t)
	secret, recovery := s.enrolled(t, ana)
	for what, otp := range map[string]string{"code": code(t, secret, 0), "recovery code": recovery[0]} {
		right := 0
		for _, w := range s.atOnce(40, func(i int) *httptest.ResponseRecorder { return s.tryCode(from(i), emails[ana], goodPassword, otp) }) {
			if w.Code == http.StatusOK {
				right++
			} else if w.Code != http.StatusUnauthorized {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		if right != 1 {
			t.Errorf("the %s was accepted %d times", what, right)
		}
	}
}

func TestANewPasswordKeepsTheSecondFactor(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	secret, _ := s.enrolled(t, ana)
	if w := s.choose(s.link(t, ana), "a new password, really", "a new password, really"); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	answers(t, "no code", s.tryCode(from(0), emails[ana], "a new password, really", ""), http.StatusUnauthorized, codeMissing)
	answers(t, "a code", s.tryCode(from(0), emails[ana], "a new password, really", code(t, secret, 0)), http.StatusOK, "")
}

func TestSwitchingOnEndsWhatBeganWithThePasswordAlone(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	pair := answered[struct{ Refresh, Access string }](t, s.try("192.0.2.1:1", emails[ana], goodPassword))
	answers(t, "before", s.call("GET", "/api/me/", "", bearer(pair.Access)...), http.StatusOK, "")
	s.enrolled(t, ana)
	answers(t, "the token", s.call("GET", "/api/me/", "", bearer(pair.Access)...), http.StatusUnauthorized, "")
	answers(t, "the refresh token", s.call("POST", "/api/token/refresh/", `{"refresh":"`+pair.Refresh+`"}`), http.StatusUnauthorized, "")
}

func TestAnOperatorSwitchesASecondFactorOff(t *testing.T) {
	t.Parallel()
	s := office(t)
	s.enrolled(t, ana)
	off := func(body string) *httptest.ResponseRecorder {
		return s.operate("POST", "users/2/disable_second_factor/", body)
	}
	answers(t, "without a reason", off(`{}`), http.StatusBadRequest, `{"reason":["This field is required."]}`)
	if w := off(`{"reason":"Came in person: the telephone is lost."}`); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"has_second_factor":false`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	answers(t, "a second time", off(`{"reason":"Again."}`), http.StatusConflict, `{"detail":"The second factor is not on.","code":"invalid_state"}`)
	answers(t, "the password alone", s.try("192.0.2.1:1", emails[ana], goodPassword), http.StatusOK, "")
	if n := s.count(t, `select count(*) from events where name = 'account.second_factor_disabled' and data ->> 'reason' like 'Came in person%' and actor = 'operator:1'`); n != 1 {
		t.Errorf("%d events say who did it and why", n)
	}
	if n := s.count(t, `select (select count(*) from second_factors) + (select count(*) from recovery_codes)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestAnErasedPersonLeavesNoSecondFactor(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.enrolled(t, ana)
	if err := s.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, ana); err != nil {
		t.Fatal(err)
	}
	if n := s.count(t, `select (select count(*) from second_factors) + (select count(*) from recovery_codes)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

var shownSecret = regexp.MustCompile(`<code>([A-Z2-7 ]+)</code>`)
