package accounts_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
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
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	const page = "/account/second-factor/"
	b := s.Browser(t).Enter(paneltest.AnaMail)
	paneltest.Has(t, b.Get("/account/").Body.String(), `href="`+page+`"`, "The second factor is off.")
	b.Get(page)
	paneltest.Refused(t, b.Twin().Send("factor_begin", "password", "wrong"), http.StatusBadRequest,
		"The current password is wrong.")
	paneltest.Goes(t, b.Send("factor_begin", "password", paneltest.Password), page)
	shown := b.Get(page)
	b.IsForEverybody(t, "en", shown.Body.String())
	secret := secretOn(t, shown)
	paneltest.Has(t, shown.Body.String(), `<img class="qr" src="data:image/svg&#43;xml;base64,`)
	paneltest.Has(t, shown.Header().Get("Content-Security-Policy"), "img-src 'self' data:")
	w := b.Send("factor_on", "otp", paneltest.WrongCode(t, secret))
	paneltest.Refused(t, w, http.StatusBadRequest, "The code is wrong.")
	if secretOn(t, w) != secret {
		t.Error("a wrong code changes the secret")
	}
	old := b.Twin()
	codes := b.Send("factor_on", "otp", paneltest.Code(t, secret, 0))
	b.IsForEverybody(t, "en", codes.Body.String())
	recovery := regexp.MustCompile(`<code>([a-z2-7]{4}(?:-[a-z2-7]{4}){3})</code>`).FindAllStringSubmatch(codes.Body.String(), -1)
	if codes.Code != http.StatusOK || len(recovery) != 10 || !b.IsIn() || old.IsIn() {
		t.Fatalf("%d with %d codes; in: %v, with the former session: %v", codes.Code, len(recovery), b.IsIn(), old.IsIn())
	}
	on := b.Get(page).Body.String()
	paneltest.Has(t, on, "The second factor is on.", "Recovery codes that you have not used: 10")
	if strings.Contains(on, secret[:4]) || strings.Contains(on, recovery[0][1]) {
		t.Error("a secret is shown again")
	}
	s.ForgetsCodes(t)

	other := s.Browser(t)
	other.Get("/login/?next=/account/?x=1")
	paneltest.Goes(t, other.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password),
		"/login/?next=%2Faccount%2F%3Fx%3D1")
	if other.IsIn() {
		t.Fatal("the password alone signs in")
	}
	step := other.Get("/login/?next=%2Faccount%2F%3Fx%3D1")
	other.IsForEverybody(t, "en", step.Body.String())
	half := other.SessionID()
	paneltest.Refused(t, other.Twin().Send("code", "otp", ""), http.StatusBadRequest, "This field may not be blank.")
	paneltest.Refused(t, other.Twin().Send("code", "otp", paneltest.WrongCode(t, secret)), http.StatusUnauthorized,
		"The code is wrong, or was used before.")
	paneltest.Goes(t, other.Send("code", "otp", paneltest.Code(t, secret, 0)), "/account/?x=1")
	if !other.IsIn() || other.SessionID() == half {
		t.Error("the code does not sign in, or the id stays")
	}
	late := s.Browser(t)
	late.Cookies["__Host-session"] = half
	if late.Get("/login/"); late.IsIn() || len(paneltest.Elements(late.Page, "form")) != 1 {
		t.Error("the id of the first step is good for something")
	}
	with := s.Browser(t)
	with.Get("/login/")
	with.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password)
	with.Get("/login/")
	paneltest.Goes(t, with.Send("code", "otp", recovery[0][1]), "/panel/")

	other.Get(page)
	fresh := other.Send("factor_codes", "password", paneltest.Password)
	if fresh.Code != http.StatusOK || strings.Contains(fresh.Body.String(), recovery[1][1]) {
		t.Errorf("%d %s", fresh.Code, fresh.Body)
	}
	other.Get(page)
	paneltest.Goes(t, other.Send("factor_off"), page)
	paneltest.Has(t, other.Get(page).Body.String(), "The second factor is off.")
	paneltest.Goes(t, s.Browser(t).Enter(paneltest.AnaMail).Get("/"), "/panel/")
	for _, name := range []string{"account.second_factor_enabled", "account.second_factor_disabled"} {
		if n := s.Events(t, name); n != 1 {
			t.Errorf("%s: %d events", name, n)
		}
	}
	for _, hidden := range []string{secret, recovery[0][1]} {
		if strings.Contains(s.Logged.String(), hidden) ||
			s.Count(t, `select count(*) from events where data::text like '%' || $1 || '%'`, hidden) != 0 {
			t.Error("a secret is in the log")
		}
	}
}

func TestTheFirstStepOfASignInLastsTenMinutesAndEndsWithAChoice(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "es", false)
	secret, _ := s.Enrolled(t, 1)
	begin := func() *paneltest.Browser {
		b := s.Browser(t)
		b.Get("/login/")
		paneltest.Goes(t, b.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password), "/login/")
		b.Get("/login/")
		return b
	}
	b := begin()
	paneltest.Goes(t, b.Send("other_user"), "/login/")
	b.Get("/login/")
	b.Fill("sign_in")
	late := begin()
	if _, err := s.Owner.Exec(t.Context(), `update pending_sign_ins set started_at = now() - interval '11 minutes'`); err != nil {
		t.Fatal(err)
	}
	paneltest.Goes(t, late.Send("code", "otp", paneltest.Code(t, secret, 0)), "/login/")
	if late.IsIn() {
		t.Error("a code signs in after ten minutes")
	}
	changed := begin()
	if err := s.Accounts.Change(t.Context(), domain.Metadata{Actor: "user:1"}, 1, "another good password"); err != nil {
		t.Fatal(err)
	}
	paneltest.Goes(t, changed.Send("code", "otp", paneltest.Code(t, secret, 0)), "/login/")
	if changed.IsIn() {
		t.Error("a code signs in after the password was changed")
	}
}

func TestASuperuserWithoutASecondFactorMayOnlySetOneUp(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Server.Settings.Factor = true
	s.Rewire(t).People(t)
	s.Resident(t, 11, paneltest.RootMail+".es", "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail + ".es")
	for _, path := range []string{"/", "/account/", "/storefront/"} {
		if path != "/" {
			paneltest.Goes(t, b.Get(path), "/account/second-factor/")
		}
		paneltest.Answers(t, "by token", s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["root"])...),
			http.StatusForbidden, enrolFirst)
	}
	for _, call := range []string{
		"GET /operations/api/v1/users/", "GET /hosting/api/rest/sites/",
		"GET /notifications/api/v1/notifications/",
	} {
		method, path, _ := strings.Cut(call, " ")
		paneltest.Answers(t, path, s.Call(method, path, "", paneltest.Bearer(s.Known["root"])...), http.StatusForbidden,
			enrolFirst)
		paneltest.Answers(t, path+" by session", b.Script(method, path, ""), http.StatusForbidden, enrolFirst)
	}
	paneltest.Answers(t, "the state", s.Call("GET", "/api/me/second-factor/", "", paneltest.Bearer(s.Known["root"])...),
		http.StatusOK, `{"enabled":false,"required":true,"recovery_codes_left":0}`)
	paneltest.Answers(t, "another user", s.Call("GET", "/api/me/", "", paneltest.Bearer(s.Known["ana"])...), http.StatusOK,
		"")
	paneltest.Has(t, html.UnescapeString(b.Get("/account/second-factor/").Body.String()),
		"This panel requires a second factor of superusers.")
	b.Send("factor_begin", "password", paneltest.Password)
	secret := secretOn(t, b.Get("/account/second-factor/"))
	b.Send("factor_on", "otp", paneltest.Code(t, secret, 0))
	if w := b.Get("/storefront/"); w.Code != http.StatusOK {
		t.Errorf("afterwards: %d %s", w.Code, w.Body)
	}
	pair := paneltest.Answered[struct{ Access string }](t,
		tryCode(s, from(0), paneltest.RootMail+".es", paneltest.Password, paneltest.Code(t, secret, 1)))
	paneltest.Answers(t, "afterwards by token",
		s.Call("GET", "/operations/api/v1/users/", "", paneltest.Bearer(pair.Access)...), http.StatusOK, "")
}

// The calls that change the second factor are for sessions whose user has given
// the password a moment ago.
func TestASecondFactorIsChangedAfterThePasswordAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).InABrowser(t, paneltest.Ana)
	for _, call := range []string{
		"POST second-factor/", "POST second-factor/enable/",
		"POST second-factor/recovery-codes/", "DELETE second-factor/",
	} {
		method, path, _ := strings.Cut(call, " ")
		body := map[bool]string{true: `{"otp":"123456"}`}[strings.HasSuffix(path, "enable/")]
		paneltest.Answers(t, "by token: "+call, s.Call(method, "/api/me/"+path, body, paneltest.Bearer(s.Known["ana"])...),
			http.StatusForbidden, `{"detail":"This call is for the session of a browser.","code":"session_required"}`)
		paneltest.Answers(t, "by session: "+call,
			s.Call(method, "/api/me/"+path, body, "Cookie", "__Host-session="+s.Known["session"], "X-CSRF-Token",
				s.Known["csrf_token"]),
			http.StatusForbidden, paneltest.AskedAgain)
	}
	routetest.Hold(t, s.Handler, `
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
`, s.Known)
}
