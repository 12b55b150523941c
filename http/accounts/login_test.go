package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

func TestAnonymousVisitorsAreSentToTheLoginPageAndBack(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	s.Resident(t, 2, paneltest.RootMail, "en", true)
	b := s.Browser(t)
	paneltest.Goes(t, b.Get("/"), "/login/")
	paneltest.Goes(t, b.Get("/account/?x=1"), "/login/?next=%2Faccount%2F%3Fx%3D1")
	paneltest.Goes(t, b.Do("POST", "/storefront/?page=2", "form=create"), "/login/?next=%2Fstorefront%2F")
	if w := b.Get("/login/?next=%2Faccount%2F%3Fx%3D1"); w.Code != http.StatusOK ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	paneltest.Goes(t, b.Send("sign_in", "username", " ANA@example.com ", "password", paneltest.Password), "/account/?x=1")
	paneltest.Goes(t, b.Get("/"), "/panel/")
	paneltest.Goes(t, b.Get("/login/"), "/panel/")
	paneltest.Goes(t, b.Get("/login/?next=/account/?y=2"), "/account/?y=2")
	paneltest.Goes(t, s.Browser(t).Enter(paneltest.RootMail).Get("/"), "/storefront/")
	w := b.Get("/storefront/")
	if w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
	paneltest.Has(t, w.Body.String(), "This page is not for you", "You do not have permission to perform this action.",
		"Sign out", paneltest.AnaMail)
	if n := s.Events(t, "security.access_denied"); n != 1 {
		t.Errorf("%d refusals are written down", n)
	}
}

func TestUsersStaySignedInByChoiceAndSuperusersNever(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	s.Resident(t, 2, paneltest.RootMail, "en", true)
	s.Resident(t, 3, "eva@example.com", "es", false)
	secret, _ := s.Enrolled(t, 3)
	signIn := func(email string, fields ...string) (*paneltest.Browser, string) {
		b := s.Browser(t)
		b.Get("/login/?next=/account/")
		w := b.Send("sign_in", append([]string{"username", email, "password", paneltest.Password}, fields...)...)
		if strings.HasPrefix(w.Header().Get("Location"), "/login/") {
			b.Get(w.Header().Get("Location"))
			w = b.Send("code", "otp", paneltest.Code(t, secret, 1))
		}
		paneltest.Goes(t, w, "/account/")
		return b, w.Header().Get("Set-Cookie")
	}
	ana, cookie := signIn(paneltest.AnaMail, "stay", "true")
	if !strings.Contains(cookie, "; Max-Age=2592000;") && !strings.Contains(cookie, "; Max-Age=2591999;") {
		t.Errorf("the cookie of who stays is %s", cookie)
	}
	eva, _ := signIn("eva@example.com", "stay", "true")
	other, cookie := signIn(paneltest.AnaMail)
	root, grave := signIn(paneltest.RootMail, "stay", "true")
	if strings.Contains(cookie+grave, "Max-Age") {
		t.Errorf("the cookies of others are %s and %s", cookie, grave)
	}
	if _, err := s.Owner.Exec(t.Context(), `update browser_sessions set started_at = started_at - interval '3 days',
		seen_at = seen_at - interval '3 days'`); err != nil {
		t.Fatal(err)
	}
	if !ana.IsIn() || !eva.IsIn() || other.IsIn() || root.IsIn() {
		t.Error("after three days not those who chose to stay are signed in")
	}
	ana.Get("/account/")
	const phrase = "una frase muy larga"
	w := ana.Send("password", "current_password", paneltest.Password, "new_password", phrase, "password_repeat", phrase)
	text := strings.Join(w.Header().Values("Set-Cookie"), " ")
	if !strings.Contains(text, "session=") || !strings.Contains(text, "Max-Age=25919") {
		t.Errorf("after a new password the cookie is %s: %d %s", text, w.Code, w.Body)
	}
	s.Do(t, account.GrantSuperuser{User: 3, At: time.Now()})
	if eva.IsIn() {
		t.Error("who has become a superuser stays signed in")
	}
}

func TestNothingLeadsElsewhereAfterSigningIn(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t)
	for _, next := range []string{
		"//evil.example", `/\evil.example`, `\\evil.example`, `/a\b`, "https://evil.example/", "https:evil.example",
		"javascript:alert(1)", "evil.example",
		"/\t/evil.example", "\t//evil.example", "/\n/evil.example", " //evil.example", "/%5cevil.example",
		"/%2f%2fevil.example", "/a//b", "/..//evil.example",
		"", "?x", "#x", "/login/", "/logout/", "/\x7f", "/%zz", "/" + strings.Repeat("x", 2000),
	} {
		b.Get("/login/?next=" + url.QueryEscape(next))
		if _, sent := b.Fill("sign_in"); sent.Get("next") != "" {
			t.Errorf("%q stands in the form as %q", next, sent.Get("next"))
		}
		if w := b.Twin().Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password, "next",
			next); w.Header().Get("Location") != "/panel/" {
			t.Errorf("%q leads to %q", next, w.Header().Get("Location"))
		}
	}
	if w := b.Twin().Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password, "next",
		"/\x00"); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("a null character leads to %d %q", w.Code, w.Header().Get("Location"))
	}
	b.Enter(paneltest.AnaMail)
	paneltest.Goes(t, b.Get("/login/?next=//evil.example"), "/panel/")
	paneltest.Goes(t, b.Get("/login/?next=/account/%23x"), "/account/")
}

func TestEverySignInGivesABrowserANewID(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	planted := strings.Repeat("a", 43)
	b := s.Browser(t)
	b.Cookies["__Host-session"] = planted // an attacker knows this id
	b.Enter(paneltest.AnaMail)
	first := b.SessionID()
	if first == planted || len(first) < 43 {
		t.Fatalf("the id is %q", first)
	}
	thief := s.Browser(t)
	thief.Cookies["__Host-session"] = planted
	if thief.IsIn() {
		t.Error("a planted session id became a signed-in session")
	}
	before := s.Browser(t)
	before.Get("/login/")
	anonymous := before.SessionID()
	before.Enter(paneltest.AnaMail)
	if before.SessionID() == anonymous {
		t.Error("the id of an anonymous session became that of a signed-in one")
	}
	// The user signs in again in a browser whose session has not ended.
	again := b.Twin()
	again.Page = nil
	s.Do(t, account.Deactivate{User: 1, At: time.Now()}, account.Reactivate{User: 1, At: time.Now()})
	again.Enter(paneltest.AnaMail)
	if n := s.Count(t, `select count(*) from browser_sessions where hash = sha256(convert_to($1, 'UTF8'))`,
		first); n != 0 {
		t.Error("the session of before is still there")
	}
}

func TestCookiesAreForTheBrowserAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	for url, want := range map[string]string{
		"https://panel.example": "__Host-session=%; Path=/; HttpOnly; Secure; SameSite=Lax",
		"http://127.0.0.1:8080": "session=%; Path=/; HttpOnly; SameSite=Lax",
	} {
		s.Public = url
		b := s.Browser(t)
		b.Get("/login/")
		w := b.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password)
		got := w.Header().Get("Set-Cookie")
		name, rest, _ := strings.Cut(want, "%")
		if !strings.HasPrefix(got, name) || !strings.HasSuffix(got, rest) || len(got) < len(want)+40 {
			t.Errorf("%s: %s", url, got)
		}
	}
	if strings.Contains(s.Logged.String(), "caballos") {
		t.Error("a password is in the log")
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t)
	b.Get("/login/")
	path, sent := b.Fill("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password)
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
	} {
		w := b.Twin().Do("POST", path, sent.Encode(), headers...)
		if w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
			t.Errorf("%v: %d %v", headers, w.Code, w.Header())
		}
		paneltest.Has(t, w.Body.String(), "This form was sent by another site.")
	}
	for _, headers := range [][]string{
		{"Origin", paneltest.PublicURL},
		{"Sec-Fetch-Site", "same-origin", "Origin", paneltest.PublicURL},
		{},
	} {
		paneltest.Goes(t, b.Twin().Do("POST", path, sent.Encode(), headers...), "/panel/")
	}
	b.Enter(paneltest.AnaMail).Get("/account/")
	path, sent = b.Fill("sessions")
	if w := b.Do("POST", path, sent.Encode(), "Origin", "https://evil.example"); w.Code != http.StatusForbidden ||
		!b.IsIn() {
		t.Errorf("%d: another site signs people out", w.Code)
	}
	if w := s.Browser(t).Do("POST", "/set-password/", "token=x", "Origin",
		"https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("%d: another site sets passwords", w.Code)
	}
}

func TestAFormIsGoodInTheBrowserThatWasShownItAndForItsSessionOnly(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	const stale = "This form was out of date. Please check it and send it again."
	b, other := s.Browser(t), s.Browser(t)
	b.Get("/login/")
	other.Get("/login/")
	_, foreign := other.Fill("sign_in")
	for _, token := range []string{"", "guess", foreign.Get("form_token")} {
		w := b.Twin().Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password, "form_token", token)
		paneltest.Refused(t, w, http.StatusForbidden, stale, `value="ana@example.com"`)
		if strings.Contains(w.Body.String(), "caballos") {
			t.Error("the password is shown again")
		}
	}
	w := s.Browser(t).Do("POST", "/login/",
		url.Values{"form": {"sign_in"}, "username": {paneltest.AnaMail}, "password": {paneltest.Password}}.Encode())
	paneltest.Refused(t, w, http.StatusForbidden, stale) // login CSRF: a browser without a session
	before := b.Twin()
	b.Enter(paneltest.AnaMail).Get("/account/")
	_, old := before.Fill("sign_in")
	for _, form := range []string{"profile", "password", "sessions"} {
		paneltest.Refused(t, b.Twin().Send(form, "form_token", old.Get("form_token")), http.StatusForbidden, stale)
	}
	for _, form := range []string{"", "unknown"} {
		w := b.Twin().Send("profile", "form", form)
		if w.Code != http.StatusForbidden {
			t.Errorf("%d: there is a form %q", w.Code, form)
		}
		paneltest.Has(t, w.Body.String(), stale)
	}
	w = b.Twin().Send("sign_out", "form_token", "")
	if w.Code != http.StatusForbidden || !b.IsIn() {
		t.Errorf("%d: signed out by a form that was not shown", w.Code)
	}
	paneltest.Has(t, w.Body.String(), "Do you want to sign out?")
	// The form in the answer to a stale token has a valid token.
	b.Send("profile", "form_token", "", "name", "Ana Ruiz")
	paneltest.Goes(t, b.Send("profile"), "/account/")
	if n := s.Count(t, `select count(*) from users where name = 'Ana Ruiz'`); n != 1 {
		t.Error("what was typed is lost")
	}
}

func TestAHundredGuessesAtOnceAreFive(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true })
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t)
	b.Get("/login/")
	statuses := map[int]int{}
	for _, w := range s.AtOnce(100, func(i int) *httptest.ResponseRecorder {
		return b.Twin().Send("sign_in", "username", paneltest.AnaMail, "password", "guess")
	}) {
		statuses[w.Code]++
	}
	if statuses[http.StatusUnauthorized] != 5 || statuses[http.StatusTooManyRequests] != 95 {
		t.Fatalf("%v", statuses)
	}
	w := b.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password) // the right one has to wait too
	paneltest.Refused(t, w, http.StatusTooManyRequests, "Request was throttled. Expected available in",
		`value="ana@example.com"`)
	if w.Header().Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
}

// The limit of sign-ins allows five at once.
func TestLoginsAtOnceAreAsManySessions(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t)
	b.Get("/login/")
	ids := map[string]bool{}
	for _, w := range s.AtOnce(5, func(i int) *httptest.ResponseRecorder {
		return b.Twin().Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password)
	}) {
		paneltest.Goes(t, w, "/panel/")
		for _, cookie := range w.Result().Cookies() {
			ids[cookie.Value] = true
		}
	}
	for id := range ids {
		one := s.Browser(t)
		one.Cookies["__Host-session"] = id
		if !one.IsIn() {
			t.Fatal("a session is lost")
		}
	}
	if n := s.Events(t, "security.signed_in"); len(ids) != 5 || n != 5 {
		t.Errorf("%d ids, %d events", len(ids), n)
	}
}

func TestSigningOutEndsTheSessionForGood(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	copied := b.Twin()
	paneltest.Goes(t, b.Send("sign_out"), "/login/")
	if copied.IsIn() || b.IsIn() {
		t.Error("the session goes on")
	}
	paneltest.Has(t, b.Get("/login/").Body.String(), "You have signed out.", `role="status"`)
	if strings.Contains(b.Get("/login/").Body.String(), "You have signed out.") {
		t.Error("it is said twice")
	}
	paneltest.Goes(t, copied.Send("sign_out"), "/login/") // a second tab of the same session
	if w := b.Get("/logout/"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestAskingForANewPasswordTellsNothing(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	var pages []string
	for _, email := range []string{paneltest.AnaMail, "nobody@example.com"} {
		b := s.Browser(t)
		b.Get("/password-reset/")
		w := b.Send("reset", "email", email)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), "If the account exists, a message has been sent.")
		pages = append(pages, strings.ReplaceAll(w.Body.String(), b.Csrf(), ""))
	}
	if pages[0] != pages[1] {
		t.Error("the pages differ")
	}
	b := s.Browser(t)
	b.Get("/password-reset/")
	paneltest.Refused(t, b.Send("reset", "email", "no address"), http.StatusBadRequest, "Enter a valid email address.",
		`value="no address"`)
}
