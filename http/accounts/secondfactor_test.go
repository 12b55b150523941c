package accounts_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/paneltest"
)

const (
	codeMissing = `{"detail":"A code of the second factor is required.","code":"otp_required"}`
	codeWrong   = `{"detail":"The code is wrong, or was used before.","code":"otp_required"}`
	codesSpent  = `{"detail":"There were too many wrong codes. Use a recovery code.","code":"otp_required"}`
	noAccount   = `{"detail":"No active account found with the given credentials"}`
	enrolFirst  = `{"detail":"A superuser has to set up a second factor first.","code":"second_factor_required"}`
)

// tryCode signs in at the API, from an address.
func tryCode(s *paneltest.Shop, from, email, password, otp string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/api/token/",
		strings.NewReader(fmt.Sprintf(`{"username":%q,"password":%q,"otp":%q}`, email, password, otp)))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = from
	w := httptest.NewRecorder()
	s.Handler.ServeHTTP(w, r)
	return w
}

func from(n int) string { return fmt.Sprintf("203.0.%d.1:1", n) }

func TestASignInNeedsACodeToo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	paneltest.Answers(t, "before", tryCode(s, from(0), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
		"whatever"), http.StatusOK, "")
	secret, recovery := s.Enrolled(t, paneltest.Ana)
	for i, c := range []struct {
		what, password, otp string
		status              int
		body                string
	}{
		{"no code", paneltest.GoodPassword, "", 401, codeMissing},
		{"a wrong code", paneltest.GoodPassword, paneltest.WrongCode(t, secret), 401, codeWrong},
		{"no code at all", paneltest.GoodPassword, "later", 401, codeWrong},
		{"an old code", paneltest.GoodPassword, paneltest.Code(t, secret, -3), 401, codeWrong},
		{"a code of the future", paneltest.GoodPassword, paneltest.Code(t, secret, 3), 401, codeWrong},
		{"a wrong password", "wrong", paneltest.Code(t, secret, 0), 401, noAccount},
		{
			"the code, which the wrong password has not used up", paneltest.GoodPassword,
			paneltest.Code(t, secret, 0)[:3] + " " + paneltest.Code(t, secret, 0)[3:], 200, "",
		},
		{"the same code again", paneltest.GoodPassword, paneltest.Code(t, secret, 0), 401, codeWrong},
		{"a recovery code", paneltest.GoodPassword, recovery[0], 200, ""},
		{"the same recovery code", paneltest.GoodPassword, recovery[0], 401, codeWrong},
		{"another one in capitals", paneltest.GoodPassword, strings.ToUpper(recovery[1]), 200, ""},
		{
			"a text that is too long", paneltest.GoodPassword, strings.Repeat("1", 65), 400,
			`{"otp":["Ensure this field has no more than 64 characters."]}`,
		},
	} {
		w := tryCode(s, from(i), paneltest.Emails[paneltest.Ana], c.password, c.otp)
		paneltest.Answers(t, c.what, w, c.status, c.body)
		if c.status == 401 && c.body != noAccount && (w.Header().Get("X-Error-Code") != "otp_required" ||
			w.Header().Get("WWW-Authenticate") == "") {
			t.Errorf("%s: %v", c.what, w.Header())
		}
	}
	if n := s.Count(t, `select count(*) from recovery_codes where user_id = $1`, paneltest.Ana); n != 8 {
		t.Errorf("%d recovery codes are left", n)
	}
	paneltest.Answers(t, "another user", tryCode(s, from(0), paneltest.Emails[paneltest.Ben], paneltest.GoodPassword, ""),
		http.StatusOK, "")
}

func TestARightPasswordWithoutACodeIsAFailure(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	secret, _ := s.Enrolled(t, paneltest.Ana)
	before := s.Events(t, "security.sign_in_refused")
	for i := range 5 {
		paneltest.Answers(t, "without a code",
			tryCode(s, from(i/5), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, ""), http.StatusUnauthorized,
			codeMissing)
	}
	if n := s.Events(t, "security.sign_in_refused") - before; n != 5 {
		t.Errorf("%d refusals are written down", n)
	}
	paneltest.Answers(t, "the sixth time", tryCode(s, from(0), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
		paneltest.Code(t, secret, 0)), http.StatusTooManyRequests, "")
	for range 4 {
		paneltest.Answers(t, "a wrong password", tryCode(s, from(1), paneltest.Emails[paneltest.Ana], "wrong", ""),
			http.StatusUnauthorized, noAccount)
	}
	paneltest.Answers(t, "the right one resets nothing",
		tryCode(s, from(1), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, ""), http.StatusUnauthorized,
		codeMissing)
	paneltest.Answers(t, "after five failures",
		tryCode(s, from(1), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, paneltest.Code(t, secret, 0)),
		http.StatusTooManyRequests, "")
	paneltest.Answers(t, "elsewhere", tryCode(s, from(2), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
		paneltest.Code(t, secret, 0)), http.StatusOK, "")
}

func TestCodesAreLimitedPerAccountOverAllAddresses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	secret, recovery := s.Enrolled(t, paneltest.Ana)
	for i := range 10 {
		paneltest.Answers(t, "a guess", tryCode(s, from(i), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
			paneltest.WrongCode(t, secret)), http.StatusUnauthorized, codeWrong)
	}
	paneltest.Answers(t, "the right code", tryCode(s, from(11), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
		paneltest.Code(t, secret, 0)), http.StatusUnauthorized, codesSpent)
	paneltest.Answers(t, "a recovery code",
		tryCode(s, from(12), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, recovery[0]), http.StatusOK, "")
	paneltest.Answers(t, "the right code after that",
		tryCode(s, from(13), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, paneltest.Code(t, secret, 0)),
		http.StatusUnauthorized, codesSpent)
}

func TestRightCodesAreNotCountedAsGuesses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	secret, _ := s.Enrolled(t, paneltest.Ana)
	for i := range 12 {
		paneltest.Answers(t, "a right code", tryCode(s, from(i), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword,
			paneltest.Code(t, secret, 0)), http.StatusOK, "")
		s.ForgetsCodes(t)
	}
}

func TestANewPasswordKeepsTheSecondFactor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	secret, _ := s.Enrolled(t, paneltest.Ana)
	if w := choose(s, s.Link(t, paneltest.Ana), "a new password, really",
		"a new password, really"); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	paneltest.Answers(t, "no code", tryCode(s, from(0), paneltest.Emails[paneltest.Ana], "a new password, really", ""),
		http.StatusUnauthorized, codeMissing)
	paneltest.Answers(t, "a code", tryCode(s, from(0), paneltest.Emails[paneltest.Ana], "a new password, really",
		paneltest.Code(t, secret, 0)), http.StatusOK, "")
}

func TestSwitchingOnEndsWhatBeganWithThePasswordAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	pair := paneltest.Answered[struct{ Refresh, Access string }](t,
		s.Try("192.0.2.1:1", paneltest.Emails[paneltest.Ana], paneltest.GoodPassword))
	paneltest.Answers(t, "before", s.Call("GET", "/api/me/", "", paneltest.Bearer(pair.Access)...), http.StatusOK, "")
	s.Enrolled(t, paneltest.Ana)
	paneltest.Answers(t, "the token", s.Call("GET", "/api/me/", "", paneltest.Bearer(pair.Access)...),
		http.StatusUnauthorized, "")
	paneltest.Answers(t, "the refresh token", s.Call("POST", "/api/token/refresh/", `{"refresh":"`+pair.Refresh+`"}`),
		http.StatusUnauthorized, "")
}

func TestAnOperatorSwitchesASecondFactorOff(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	s.Enrolled(t, paneltest.Ana)
	off := func(body string) *httptest.ResponseRecorder {
		return s.Operate("POST", "users/2/disable_second_factor/", body)
	}
	paneltest.Answers(t, "without a reason", off(`{}`), http.StatusBadRequest, `{"reason":["This field is required."]}`)
	if w := off(`{"reason":"Came in person: the telephone is lost."}`); w.Code != http.StatusOK ||
		!strings.Contains(w.Body.String(), `"has_second_factor":false`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	paneltest.Answers(t, "a second time", off(`{"reason":"Again."}`), http.StatusConflict,
		`{"detail":"The second factor is not on.","code":"invalid_state"}`)
	paneltest.Answers(t, "the password alone",
		s.Try("192.0.2.1:1", paneltest.Emails[paneltest.Ana], paneltest.GoodPassword), http.StatusOK, "")
	if n := s.Count(t, `select count(*) from events where name = 'account.second_factor_disabled' and data ->> `+
		`'reason' like 'Came in person%' and actor = 'operator:1'`); n != 1 {
		t.Errorf("%d events say who did it and why", n)
	}
	if n := s.Count(t, `select (select count(*) from second_factors) + (select count(*) from recovery_codes)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestAnErasedPersonLeavesNoSecondFactor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Enrolled(t, paneltest.Ana)
	if err := s.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, paneltest.Ana); err != nil {
		t.Fatal(err)
	}
	if n := s.Count(t, `select (select count(*) from second_factors) + (select count(*) from recovery_codes)`); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

var shownSecret = regexp.MustCompile(`<code>([A-Z2-7 ]+)</code>`)
