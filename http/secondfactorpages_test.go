package http_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/http/route/routetest"
)

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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
