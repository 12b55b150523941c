package http_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/eventstore/credentials"
)

const (
	anaMail  = "ana@example.com"
	rootMail = "root@example.com"
)

func TestAnonymousVisitorsAreSentToTheLoginPageAndBack(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	s.resident(t, 2, rootMail, "en", true)
	b := s.browser(t)
	goes(t, b.get("/"), "/login/")
	goes(t, b.get("/account/?x=1"), "/login/?next=%2Faccount%2F%3Fx%3D1")
	goes(t, b.do("POST", "/storefront/?page=2", "form=create"), "/login/?next=%2Fstorefront%2F")
	if w := b.get("/login/?next=%2Faccount%2F%3Fx%3D1"); w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	goes(t, b.send("sign_in", "username", " ANA@example.com ", "password", password), "/account/?x=1")
	goes(t, b.get("/"), "/panel/")
	goes(t, b.get("/login/"), "/panel/")
	goes(t, b.get("/login/?next=/account/?y=2"), "/account/?y=2")
	goes(t, s.browser(t).enter(rootMail).get("/"), "/storefront/")
	w := b.get("/storefront/")
	if w.Code != http.StatusForbidden {
		t.Errorf("%d", w.Code)
	}
	has(t, w.Body.String(), "This page is not for you", "You do not have permission to perform this action.", "Sign out", anaMail)
	if n := s.events(t, "security.access_denied"); n != 1 {
		t.Errorf("%d refusals are written down", n)
	}
}

func TestNothingLeadsElsewhereAfterSigningIn(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t)
	for _, next := range []string{
		"//evil.example", `/\evil.example`, `\\evil.example`, `/a\b`, "https://evil.example/", "https:evil.example", "javascript:alert(1)", "evil.example",
		"/\t/evil.example", "\t//evil.example", "/\n/evil.example", " //evil.example", "/%5cevil.example", "/%2f%2fevil.example", "/a//b", "/..//evil.example",
		"", "?x", "#x", "/login/", "/logout/", "/\x7f", "/%zz", "/" + strings.Repeat("x", 2000),
	} {
		b.get("/login/?next=" + url.QueryEscape(next))
		if _, sent := b.fill("sign_in"); sent.Get("next") != "" {
			t.Errorf("%q stands in the form as %q", next, sent.Get("next"))
		}
		if w := b.twin().send("sign_in", "username", anaMail, "password", password, "next", next); w.Header().Get("Location") != "/panel/" {
			t.Errorf("%q leads to %q", next, w.Header().Get("Location"))
		}
	}
	if w := b.twin().send("sign_in", "username", anaMail, "password", password, "next", "/\x00"); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("a null character leads to %d %q", w.Code, w.Header().Get("Location"))
	}
	b.enter(anaMail)
	goes(t, b.get("/login/?next=//evil.example"), "/panel/")
	goes(t, b.get("/login/?next=/account/%23x"), "/account/")
}

func TestEverySignInGivesABrowserANewID(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	planted := strings.Repeat("a", 43)
	b := s.browser(t)
	b.cookies["__Host-session"] = planted // an attacker knows this id
	b.enter(anaMail)
	first := b.sessionID()
	if first == planted || len(first) < 43 {
		t.Fatalf("the id is %q", first)
	}
	thief := s.browser(t)
	thief.cookies["__Host-session"] = planted
	if thief.isIn() {
		t.Error("a planted session id became a signed-in session")
	}
	before := s.browser(t)
	before.get("/login/")
	anonymous := before.sessionID()
	before.enter(anaMail)
	if before.sessionID() == anonymous {
		t.Error("the id of an anonymous session became that of a signed-in one")
	}
	// The user signs in again in a browser whose session has not ended.
	again := b.twin()
	again.page = nil
	s.do(t, account.Deactivate{User: 1, At: time.Now()}, account.Reactivate{User: 1, At: time.Now()})
	again.enter(anaMail)
	if n := s.count(t, `select count(*) from browser_sessions where hash = sha256(convert_to($1, 'UTF8'))`, first); n != 0 {
		t.Error("the session of before is still there")
	}
}

func TestCookiesAreForTheBrowserAlone(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	for url, want := range map[string]string{
		"https://panel.example": "__Host-session=%; Path=/; HttpOnly; Secure; SameSite=Lax",
		"http://127.0.0.1:8080": "session=%; Path=/; HttpOnly; SameSite=Lax",
	} {
		s.public = url
		b := s.browser(t)
		b.get("/login/")
		w := b.send("sign_in", "username", anaMail, "password", password)
		got := w.Header().Get("Set-Cookie")
		name, rest, _ := strings.Cut(want, "%")
		if !strings.HasPrefix(got, name) || !strings.HasSuffix(got, rest) || len(got) < len(want)+40 {
			t.Errorf("%s: %s", url, got)
		}
	}
	if strings.Contains(s.logged.String(), "caballos") {
		t.Error("a password is in the log")
	}
}

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t)
	b.get("/login/")
	path, sent := b.fill("sign_in", "username", anaMail, "password", password)
	for _, headers := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
	} {
		w := b.twin().do("POST", path, sent.Encode(), headers...)
		if w.Code != http.StatusForbidden || len(w.Result().Cookies()) != 0 {
			t.Errorf("%v: %d %v", headers, w.Code, w.Header())
		}
		has(t, w.Body.String(), "This form was sent by another site.")
	}
	for _, headers := range [][]string{{"Origin", public}, {"Sec-Fetch-Site", "same-origin", "Origin", public}, {}} {
		goes(t, b.twin().do("POST", path, sent.Encode(), headers...), "/panel/")
	}
	b.enter(anaMail).get("/account/")
	path, sent = b.fill("sessions")
	if w := b.do("POST", path, sent.Encode(), "Origin", "https://evil.example"); w.Code != http.StatusForbidden || !b.isIn() {
		t.Errorf("%d: another site signs people out", w.Code)
	}
	if w := s.browser(t).do("POST", "/set-password/", "token=x", "Origin", "https://evil.example"); w.Code != http.StatusForbidden {
		t.Errorf("%d: another site sets passwords", w.Code)
	}
}

func TestAFormIsGoodInTheBrowserThatWasShownItAndForItsSessionOnly(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	const stale = "This form was out of date. Please check it and send it again."
	b, other := s.browser(t), s.browser(t)
	b.get("/login/")
	other.get("/login/")
	_, foreign := other.fill("sign_in")
	for _, token := range []string{"", "guess", foreign.Get("form_token")} {
		w := b.twin().send("sign_in", "username", anaMail, "password", password, "form_token", token)
		refused(t, w, http.StatusForbidden, stale, `value="ana@example.com"`)
		if strings.Contains(w.Body.String(), "caballos") {
			t.Error("the password is shown again")
		}
	}
	w := s.browser(t).do("POST", "/login/", url.Values{"form": {"sign_in"}, "username": {anaMail}, "password": {password}}.Encode())
	refused(t, w, http.StatusForbidden, stale) // login CSRF: a browser without a session
	before := b.twin()
	b.enter(anaMail).get("/account/")
	_, old := before.fill("sign_in")
	for _, form := range []string{"profile", "password", "sessions"} {
		refused(t, b.twin().send(form, "form_token", old.Get("form_token")), http.StatusForbidden, stale)
	}
	for _, form := range []string{"", "unknown"} {
		w := b.twin().send("profile", "form", form)
		if w.Code != http.StatusForbidden {
			t.Errorf("%d: there is a form %q", w.Code, form)
		}
		has(t, w.Body.String(), stale)
	}
	w = b.twin().send("sign_out", "form_token", "")
	if w.Code != http.StatusForbidden || !b.isIn() {
		t.Errorf("%d: signed out by a form that was not shown", w.Code)
	}
	has(t, w.Body.String(), "Do you want to sign out?")
	// The form in the answer to a stale token has a valid token.
	b.send("profile", "form_token", "", "name", "Ana Ruiz")
	goes(t, b.send("profile"), "/account/")
	if n := s.count(t, `select count(*) from users where name = 'Ana Ruiz'`); n != 1 {
		t.Error("what was typed is lost")
	}
}

func TestAWrongPasswordAndAnUnknownAccountLookTheSame(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	s.invited(t, 2, "new@example.com", "en") // has no password yet
	s.resident(t, 3, "gone@example.com", "en", false)
	s.do(t, account.Deactivate{User: 3, At: time.Now()})
	var pages []string
	for _, try := range [][2]string{{anaMail, "wrong"}, {"nobody@example.com", password}, {"new@example.com", password}, {"gone@example.com", password}, {"x", "y"}} {
		b := s.browser(t)
		b.get("/login/")
		hashes, refusals := credentials.PasswordHashes(), s.events(t, "security.sign_in_refused")
		w := b.send("sign_in", "username", try[0], "password", try[1])
		refused(t, w, http.StatusUnauthorized, "No active account found with the given credentials")
		if n := credentials.PasswordHashes() - hashes; n != 1 {
			t.Errorf("%v: %d hashes", try, n)
		}
		if n := s.events(t, "security.sign_in_refused") - refusals; n != 1 {
			t.Errorf("%v: %d events", try, n)
		}
		text := strings.Replace(w.Body.String(), `value="`+try[0]+`"`, "", 1)
		_, sent := b.fill("sign_in")
		pages = append(pages, strings.ReplaceAll(text, sent.Get("form_token"), ""))
	}
	for _, page := range pages[1:] {
		if page != pages[0] {
			t.Errorf("two pages differ:\n%s\n%s", pages[0], page)
		}
	}
	refusedEmpty := s.browser(t)
	refusedEmpty.get("/login/")
	refused(t, refusedEmpty.send("sign_in"), http.StatusBadRequest, "This field may not be blank.", `aria-invalid="true"`, `href="#sign_in-username"`)
}

func TestAHundredGuessesAtOnceAreFive(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(s *shop) { s.server.Settings.Abuse = true })
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t)
	b.get("/login/")
	statuses := map[int]int{}
	for _, w := range s.atOnce(100, func(i int) *httptest.ResponseRecorder {
		return b.twin().send("sign_in", "username", anaMail, "password", "guess")
	}) {
		statuses[w.Code]++
	}
	if statuses[http.StatusUnauthorized] != 5 || statuses[http.StatusTooManyRequests] != 95 {
		t.Fatalf("%v", statuses)
	}
	w := b.send("sign_in", "username", anaMail, "password", password) // the right one has to wait too
	refused(t, w, http.StatusTooManyRequests, "Request was throttled. Expected available in", `value="ana@example.com"`)
	if w.Header().Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
}

// The limit of sign-ins allows five at once.
func TestLoginsAtOnceAreAsManySessions(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t)
	b.get("/login/")
	ids := map[string]bool{}
	for _, w := range s.atOnce(5, func(i int) *httptest.ResponseRecorder {
		return b.twin().send("sign_in", "username", anaMail, "password", password)
	}) {
		goes(t, w, "/panel/")
		for _, cookie := range w.Result().Cookies() {
			ids[cookie.Value] = true
		}
	}
	for id := range ids {
		one := s.browser(t)
		one.cookies["__Host-session"] = id
		if !one.isIn() {
			t.Fatal("a session is lost")
		}
	}
	if n := s.events(t, "security.signed_in"); len(ids) != 5 || n != 5 {
		t.Errorf("%d ids, %d events", len(ids), n)
	}
}

func TestSigningOutEndsTheSessionForGood(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t).enter(anaMail)
	b.get("/account/")
	copied := b.twin()
	goes(t, b.send("sign_out"), "/login/")
	if copied.isIn() || b.isIn() {
		t.Error("the session goes on")
	}
	has(t, b.get("/login/").Body.String(), "You have signed out.", `role="status"`)
	if strings.Contains(b.get("/login/").Body.String(), "You have signed out.") {
		t.Error("it is said twice")
	}
	goes(t, copied.send("sign_out"), "/login/") // a second tab of the same session
	if w := b.get("/logout/"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", w.Code)
	}
}

func TestAskingForANewPasswordTellsNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	var pages []string
	for _, email := range []string{anaMail, "nobody@example.com"} {
		b := s.browser(t)
		b.get("/password-reset/")
		w := b.send("reset", "email", email)
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		has(t, w.Body.String(), "If the account exists, a message has been sent.")
		pages = append(pages, strings.ReplaceAll(w.Body.String(), b.csrf(), ""))
	}
	if pages[0] != pages[1] {
		t.Error("the pages differ")
	}
	b := s.browser(t)
	b.get("/password-reset/")
	refused(t, b.send("reset", "email", "no address"), http.StatusBadRequest, "Enter a valid email address.", `value="no address"`)
}
