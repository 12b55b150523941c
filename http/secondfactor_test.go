package http_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"hostpanel/domain"
	"hostpanel/http/route/routetest"
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
	s := openShop(t).people(t)
	secret, _ := s.enrolled(t, ana)
	for i := range 12 {
		answers(t, "a right code", s.tryCode(from(i), emails[ana], goodPassword, code(t, secret, 0)), http.StatusOK, "")
		s.forgetsCodes(t)
	}
}

func TestOfManySignInsAtOnceWithOneCodeOneSucceeds(t *testing.T) {
	s := openShop(t).people(t)
	secret, recovery := s.enrolled(t, ana)
	for what, otp := range map[string]string{"code": code(t, secret, 0), "recovery code": recovery[0]} {
		right := 0
		for _, w := range s.atOnce(100, func(i int) *httptest.ResponseRecorder { return s.tryCode(from(i), emails[ana], goodPassword, otp) }) {
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
	s := openShop(t).people(t)
	secret, _ := s.enrolled(t, ana)
	if w := s.choose(s.link(t, ana), "a new password, really", "a new password, really"); w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	answers(t, "no code", s.tryCode(from(0), emails[ana], "a new password, really", ""), http.StatusUnauthorized, codeMissing)
	answers(t, "a code", s.tryCode(from(0), emails[ana], "a new password, really", code(t, secret, 0)), http.StatusOK, "")
}

func TestSwitchingOnEndsWhatBeganWithThePasswordAlone(t *testing.T) {
	s := openShop(t).people(t)
	pair := answered[struct{ Refresh, Access string }](t, s.try("192.0.2.1:1", emails[ana], goodPassword))
	answers(t, "before", s.call("GET", "/api/me/", "", bearer(pair.Access)...), http.StatusOK, "")
	s.enrolled(t, ana)
	answers(t, "the token", s.call("GET", "/api/me/", "", bearer(pair.Access)...), http.StatusUnauthorized, "")
	answers(t, "the refresh token", s.call("POST", "/api/token/refresh/", `{"refresh":"`+pair.Refresh+`"}`), http.StatusUnauthorized, "")
}

func TestAnOperatorSwitchesASecondFactorOff(t *testing.T) {
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

// secretOn is the secret that a page shows for an app.
func secretOn(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	found := shownSecret.FindStringSubmatch(w.Body.String())
	if found == nil {
		t.Fatalf("no secret is shown: %d %s", w.Code, w.Body)
	}
	return strings.ReplaceAll(found[1], " ", "")
}

// A person switches the second factor on, signs in with it, makes new recovery
// codes, and switches it off.
func TestAPersonUsesASecondFactor(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	const page = "/account/second-factor/"
	b := s.browser(t).enter(anaMail)
	has(t, b.get("/account/").Body.String(), `href="`+page+`"`, "The second factor is off.")
	b.get(page)
	refused(t, b.twin().send("factor_begin", "password", "wrong"), http.StatusBadRequest, "The current password is wrong.")
	goes(t, b.send("factor_begin", "password", password), page)
	shown := b.get(page)
	b.isForEverybody(t, "en", shown.Body.String())
	secret := secretOn(t, shown)
	has(t, shown.Body.String(), `<img class="qr" src="data:image/svg&#43;xml;base64,`)
	has(t, shown.Header().Get("Content-Security-Policy"), "img-src 'self' data:")
	w := b.send("factor_on", "otp", wrongCode(t, secret))
	refused(t, w, http.StatusBadRequest, "The code is wrong.")
	if secretOn(t, w) != secret {
		t.Error("a wrong code changes the secret")
	}
	old := b.twin()
	codes := b.send("factor_on", "otp", code(t, secret, 0))
	b.isForEverybody(t, "en", codes.Body.String())
	recovery := regexp.MustCompile(`<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>`).FindAllStringSubmatch(codes.Body.String(), -1)
	if codes.Code != http.StatusOK || len(recovery) != 10 || !b.isIn() || old.isIn() {
		t.Fatalf("%d with %d codes; in: %v, with the former session: %v", codes.Code, len(recovery), b.isIn(), old.isIn())
	}
	on := b.get(page).Body.String()
	has(t, on, "The second factor is on.", "Recovery codes that you have not used: 10")
	if strings.Contains(on, secret[:4]) || strings.Contains(on, recovery[0][1]) {
		t.Error("a secret is shown again")
	}
	s.forgetsCodes(t)

	other := s.browser(t)
	other.get("/login/?next=/account/?x=1")
	goes(t, other.send("sign_in", "username", anaMail, "password", password), "/login/?next=%2Faccount%2F%3Fx%3D1")
	if other.isIn() {
		t.Fatal("the password alone signs in")
	}
	step := other.get("/login/?next=%2Faccount%2F%3Fx%3D1")
	other.isForEverybody(t, "en", step.Body.String())
	half := other.sessionID()
	refused(t, other.twin().send("code", "otp", ""), http.StatusBadRequest, "This field may not be blank.")
	refused(t, other.twin().send("code", "otp", wrongCode(t, secret)), http.StatusUnauthorized, "The code is wrong, or was used before.")
	goes(t, other.send("code", "otp", code(t, secret, 0)), "/account/?x=1")
	if !other.isIn() || other.sessionID() == half {
		t.Error("the code does not sign in, or the id stays")
	}
	late := s.browser(t)
	late.cookies["__Host-session"] = half
	if late.get("/login/"); late.isIn() || len(elements(late.page, "form")) != 1 {
		t.Error("the id of the first step is good for something")
	}
	with := s.browser(t)
	with.get("/login/")
	with.send("sign_in", "username", anaMail, "password", password)
	with.get("/login/")
	goes(t, with.send("code", "otp", recovery[0][1]), "/panel/")

	other.get(page)
	fresh := other.send("factor_codes", "password", password)
	if fresh.Code != http.StatusOK || strings.Contains(fresh.Body.String(), recovery[1][1]) {
		t.Errorf("%d %s", fresh.Code, fresh.Body)
	}
	other.get(page)
	goes(t, other.send("factor_off"), page)
	has(t, other.get(page).Body.String(), "The second factor is off.")
	goes(t, s.browser(t).enter(anaMail).get("/"), "/panel/")
	for _, name := range []string{"account.second_factor_enabled", "account.second_factor_disabled"} {
		if n := s.events(t, name); n != 1 {
			t.Errorf("%s: %d events", name, n)
		}
	}
	for _, hidden := range []string{secret, recovery[0][1]} {
		if strings.Contains(s.logged.String(), hidden) || s.count(t, `select count(*) from events where data::text like '%' || $1 || '%'`, hidden) != 0 {
			t.Error("a secret is in the log")
		}
	}
}

func TestTheFirstStepOfASignInLastsTenMinutesAndEndsWithAChoice(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, anaMail, "es", false)
	secret, _ := s.enrolled(t, 1)
	begin := func() *browser {
		b := s.browser(t)
		b.get("/login/")
		goes(t, b.send("sign_in", "username", anaMail, "password", password), "/login/")
		b.get("/login/")
		return b
	}
	b := begin()
	goes(t, b.send("other_user"), "/login/")
	b.get("/login/")
	b.fill("sign_in")
	late := begin()
	if _, err := s.owner.Exec(t.Context(), `update pending_sign_ins set started_at = now() - interval '11 minutes'`); err != nil {
		t.Fatal(err)
	}
	goes(t, late.send("code", "otp", code(t, secret, 0)), "/login/")
	if late.isIn() {
		t.Error("a code signs in after ten minutes")
	}
	changed := begin()
	if err := s.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "another good password"); err != nil {
		t.Fatal(err)
	}
	goes(t, changed.send("code", "otp", code(t, secret, 0)), "/login/")
	if changed.isIn() {
		t.Error("a code signs in after the password was changed")
	}
}

func TestASuperuserWithoutASecondFactorMayOnlySetOneUp(t *testing.T) {
	s := openShop(t)
	s.server.Settings.Factor = true
	s.rewire(t).people(t)
	s.resident(t, 11, rootMail+".es", "en", true)
	b := s.browser(t).enter(rootMail + ".es")
	for _, path := range []string{"/", "/account/", "/storefront/"} {
		if path != "/" {
			goes(t, b.get(path), "/account/second-factor/")
		}
		answers(t, "by token", s.call("GET", "/api/me/", "", bearer(s.known["root"])...), http.StatusForbidden, enrolFirst)
	}
	for _, call := range []string{"GET /operations/api/v1/users/", "GET /hosting/api/rest/sites/", "GET /notifications/api/v1/notifications/"} {
		method, path, _ := strings.Cut(call, " ")
		answers(t, path, s.call(method, path, "", bearer(s.known["root"])...), http.StatusForbidden, enrolFirst)
		answers(t, path+" by session", b.script(method, path, ""), http.StatusForbidden, enrolFirst)
	}
	answers(t, "the state", s.call("GET", "/api/me/second-factor/", "", bearer(s.known["root"])...), http.StatusOK, `{"enabled":false,"required":true,"recovery_codes_left":0}`)
	answers(t, "another user", s.call("GET", "/api/me/", "", bearer(s.known["ana"])...), http.StatusOK, "")
	has(t, html.UnescapeString(b.get("/account/second-factor/").Body.String()), "This panel requires a second factor of superusers.")
	b.send("factor_begin", "password", password)
	secret := secretOn(t, b.get("/account/second-factor/"))
	b.send("factor_on", "otp", code(t, secret, 0))
	if w := b.get("/storefront/"); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
	pair := answered[struct{ Access string }](t, s.tryCode(from(0), rootMail+".es", password, code(t, secret, 1)))
	answers(t, "afterwards by token", s.call("GET", "/operations/api/v1/users/", "", bearer(pair.Access)...), http.StatusOK, "")
}

// The calls that change the second factor are for sessions whose user has given
// the password a moment ago.
func TestASecondFactorIsChangedAfterThePasswordAlone(t *testing.T) {
	s := openShop(t).people(t).inABrowser(t, ana)
	for _, call := range []string{"POST second-factor/", "POST second-factor/enable/", "POST second-factor/recovery-codes/", "DELETE second-factor/"} {
		method, path, _ := strings.Cut(call, " ")
		body := map[bool]string{true: `{"otp":"123456"}`}[strings.HasSuffix(path, "enable/")]
		answers(t, "by token: "+call, s.call(method, "/api/me/"+path, body, bearer(s.known["ana"])...),
			http.StatusForbidden, `{"detail":"This call is for the session of a browser.","code":"session_required"}`)
		answers(t, "by session: "+call, s.call(method, "/api/me/"+path, body, "Cookie", "__Host-session="+s.known["session"], "X-CSRF-Token", s.known["csrf_token"]),
			http.StatusForbidden, askedAgain)
	}
	routetest.Hold(t, s.handler, `
POST /api/me/confirm/
Cookie: __Host-session=<session>
X-CSRF-Token: <csrf_token>
{"password":"<password>"}
=> 200 OK
Set-Cookie: __Host-session=<any:fresh>; Path=/; HttpOnly; Secure; SameSite=Lax
{"csrf_token":"<any:csrf>","confirmed_until":"<time>"}

DELETE /api/me/second-factor/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
=> 409 Conflict
{"detail":"The second factor is not on.","code":"invalid_state"}

POST /api/me/second-factor/recovery-codes/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
=> 409 Conflict
{"detail":"The second factor is not on.","code":"invalid_state"}

POST /api/me/second-factor/enable/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
{"otp":"123456"}
=> 409 Conflict
{"detail":"No second factor is being set up, or it took more than an hour. Begin again.","code":"invalid_state"}

POST /api/me/second-factor/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
=> 200 OK
Cache-Control: no-store
{"secret":"<any:shared>","otpauth_uri":"<any>"}

POST /api/me/second-factor/enable/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
{"otp":"later"}
=> 400 Bad Request
{"otp":["The code is wrong."]}

POST /api/me/second-factor/enable/
Cookie: __Host-session=<fresh>
X-CSRF-Token: <csrf>
{}
=> 400 Bad Request
{"otp":["This field is required."]}

GET /api/me/second-factor/
Cookie: __Host-session=<fresh>
=> 200 OK
{"enabled":false,"required":false,"recovery_codes_left":0}
`, s.known)
}
