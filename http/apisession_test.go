package http_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"hostpanel/domain/account"
)

const (
	csrfFailed = `{"detail":"CSRF Failed: CSRF token missing or incorrect."}`
	askedAgain = `{"detail":"The password has to be given again.","code":"reauthentication_required"}`
)

// csrf is the token of the page that the browser shows.
func (b *browser) csrf() string {
	b.t.Helper()
	for _, meta := range elements(b.page, "meta") {
		if attribute(meta, "name") == "csrf-token" {
			return attribute(meta, "content")
		}
	}
	b.t.Fatalf("%s has no CSRF token", b.at)
	return ""
}

// script calls an API as a script of the page does. Cookies of the answer are
// kept.
func (b *browser) script(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	for name, value := range b.cookies {
		headers = append(headers, "Cookie", name+"="+value)
	}
	w := b.call(method, path, body, headers...)
	for _, cookie := range w.Result().Cookies() {
		b.cookies[cookie.Name] = cookie.Value
	}
	return w
}

func answers(t *testing.T, what string, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || body != "" && w.Body.String() != body {
		t.Errorf("%s: %d %s instead of %d %s", what, w.Code, w.Body, status, body)
	}
}

// A person signs in with a real browser's cookies, calls the APIs from the
// pages, and signs out.
func TestPagesCallTheAPIsWithTheSession(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	s.open(t)
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	do := func(method, path, kind, body string, headers ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, s.public+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Origin", s.public)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	page := s.browser(t)
	look := func(path string) {
		_, text := do("GET", path, "", "")
		page.page, _ = html.Parse(strings.NewReader(text))
	}
	const form, data = "application/x-www-form-urlencoded", "application/json"
	look("/login/")
	_, sent := page.fill("sign_in", "username", anaMail, "password", password)
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusUnauthorized || text != noCredentials {
		t.Fatalf("before the sign-in: %d %s", status, text)
	}
	do("POST", "/login/", form, sent.Encode())
	look("/account/")
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusOK || !strings.Contains(text, `"username":"`+anaMail+`"`) {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := do("PATCH", "/api/me/", data, `{"name":"Ana Ruiz"}`); status != http.StatusForbidden || text != csrfFailed {
		t.Fatalf("without a token: %d %s", status, text)
	}
	if status, text := do("PATCH", "/api/me/", data, `{"name":"Ana Ruiz"}`, "X-CSRF-Token", page.csrf()); status != http.StatusOK || !strings.Contains(text, `"name":"Ana Ruiz"`) {
		t.Fatalf("%d %s", status, text)
	}
	_, leave := page.fill("sign_out")
	do("POST", "/logout/", form, leave.Encode())
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusUnauthorized || text != noCredentials {
		t.Fatalf("after the sign-out: %d %s", status, text)
	}
}

func TestNoCallFromElsewhereUsesTheSession(t *testing.T) {
	t.Parallel()
	const named = "https://app.example"
	s := openShop(t, func(s *shop) { s.server.Settings.Origins = []string{named} })
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	b.get("/account/")
	for _, from := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", named},
		{"Origin", "http://panel.example"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", named, "Sec-Fetch-Site", "cross-site"},
	} {
		for method, body := range map[string]string{"GET": "", "HEAD": "", "OPTIONS": "", "PATCH": `{"name":"x"}`, "DELETE": ""} {
			w := b.script(method, "/api/me/", body, append(slices.Clone(from), "X-CSRF-Token", b.csrf())...)
			answers(t, fmt.Sprint(method, from), w, http.StatusUnauthorized, "")
			if w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %v: cookies may travel", method, from)
			}
		}
	}
	for _, from := range [][]string{{}, {"Origin", public}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"}, {"Sec-Fetch-Site", "same-origin", "Origin", public}} {
		w := b.script("GET", "/api/me/", "", from...)
		answers(t, fmt.Sprint(from), w, http.StatusOK, "")
		if !slices.Contains(w.Header().Values("Vary"), "Cookie") || w.Header().Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%v", w.Header())
		}
	}
	ask := append([]string{"Origin", named, "Access-Control-Request-Method", "PATCH"}, "Access-Control-Request-Headers", "x-csrf-token")
	if w := b.script("OPTIONS", "/api/me/", "", ask...); strings.Contains(strings.ToLower(w.Header().Get("Access-Control-Allow-Headers")), "csrf") {
		t.Errorf("other origins may send the token: %v", w.Header())
	}
}

// Credentials of another kind stand for themselves, also if they are wrong.
func TestTheSessionDoesNotStandInForOtherCredentials(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	for _, headers := range [][]string{
		{"Authorization", "Bearer x"},
		{"Authorization", "Bearer"},
		{"Authorization", "Basic eDp5"},
		{"Authorization", ""},
		{"X-API-Key", s.known["key"]},
		{"X-API-Key", ""},
	} {
		answers(t, fmt.Sprint(headers), b.script("GET", "/api/me/", "", headers...), http.StatusUnauthorized, "")
	}
	answers(t, "the storefront", b.script("GET", "/storefront/api/plans/", ""), http.StatusUnauthorized, noCredentials)
	answers(t, "the storefront, with its key", b.script("GET", "/storefront/api/plans/", "", "X-API-Key", s.known["key"]), http.StatusOK, "")
}

func TestAChangeNeedsTheTokenOfItsSession(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b, other := s.browser(t), s.browser(t).enter(anaMail)
	b.get("/login/")
	before := b.csrf()
	b.enter(anaMail).get("/account/")
	other.get("/account/")
	for _, token := range []string{"", "guess", before, other.csrf(), b.csrf() + "A", b.sessionID()} {
		for method, path := range map[string]string{"PATCH": "/api/me/", "POST": "/notifications/api/v1/notifications/", "TRACE": "/api/me/"} {
			answers(t, method+" with "+token, b.script(method, path, `{"name":"x"}`, "X-CSRF-Token", token), http.StatusForbidden, csrfFailed)
		}
	}
	w := b.script("PATCH", "/api/me/", `{"name":"Ana Ruiz"}`, "X-CSRF-Token", b.csrf())
	answers(t, "the page's own", w, http.StatusOK, "")
	if w.Header().Get("X-Error-Code") != "" {
		t.Errorf("%v", w.Header())
	}
	refusal := b.script("PATCH", "/api/me/", `{"name":"x"}`)
	if refusal.Header().Get("X-Error-Code") != "permission_denied" || refusal.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("%v", refusal.Header())
	}
	if n := s.count(t, `select count(*) from events where name = 'account.profile_changed' and actor = 'user:1'`); n != 1 {
		t.Errorf("%d changes in the log", n)
	}
}

// By session, every role may call exactly what it may call by token.
func TestTheSessionOpensWhatTheTokenOpens(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	compared := 0
	for _, role := range roles {
		user := c.users[role]
		if user == 0 {
			continue
		}
		b := c.signedIn(t, user, true)
		for _, r := range c.routes() {
			if isPage(r.Path) || r.Access.Scheme == "" || r.Follow != nil {
				continue
			}
			for what, path := range c.paths(t, r.Path) {
				compared++
				headers, body := []string{"X-CSRF-Token", b.csrf()}, ""
				if r.Method != http.MethodGet {
					headers, body = append(headers, "If-Match", `"never"`), `"no object"`
				}
				want := outcome(c.ask(t, role, r.Method, path))
				if isOfSessions(r.Method, r.Path) {
					want = in
				}
				if got := outcome(b.script(r.Method, path, body, headers...)); got != want {
					t.Errorf("%s %s (%s) as %s: %s by session, %s by token", r.Method, path, what, role, got, want)
				}
				if r.Method != http.MethodGet && want != absent && !strings.HasPrefix(path, "/storefront/api/") {
					answers(t, "no CSRF token", b.script(r.Method, path, body), http.StatusForbidden, csrfFailed)
				}
			}
		}
	}
	if compared < 1000 {
		t.Fatalf("only %d calls were compared", compared)
	}
}

// signedIn is a browser with the session of a user, who has given the password
// again or not.
func (c *census) signedIn(t *testing.T, user int64, again bool) *browser {
	t.Helper()
	id, err := c.vault().OpenSession(t.Context(), user, 1)
	if err == nil && again {
		id, err = c.vault().RenewSession(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := c.browser(t)
	b.cookies["__Host-session"] = id
	b.get("/account/")
	return b
}

// A tenant that is left or taken on in one window counts in all of them.
func TestTheActiveTenantIsTheUsersNotTheSessions(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	s.organisation(t, 7, "Seven", 1)
	s.organisation(t, 8, "Eight", 1)
	b, other := s.browser(t).enter(anaMail), s.browser(t).enter(anaMail)
	b.get("/account/")
	answers(t, "activate", b.script("POST", "/hosting/api/rest/tenants/8/activate/", "", "X-CSRF-Token", b.csrf()), http.StatusOK, "")
	has(t, other.script("GET", "/api/me/", "").Body.String(), `"active_tenant":8,`)
	other.get("/account/")
	if _, sent := other.fill("tenant"); sent.Get("active_tenant") != "8" {
		t.Error(sent)
	}
	s.do(t, account.RevokeMembership{User: 1, Tenant: 8, At: time.Now()})
	has(t, b.script("GET", "/api/me/", "").Body.String(), `"memberships":[{"tenant":7,`)
}

// Every page of a browser with an id has the token in a meta element.
func TestEveryPageHasTheTokenOfItsBrowser(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t)
	b.get("/login/")
	if _, sent := b.fill("sign_in"); sent.Get("form_token") != b.csrf() {
		t.Error("the login page has another token than its form")
	}
	b.enter(rootMail)
	for _, path := range []string{"/account/", "/storefront/"} {
		b.get(path)
		if _, sent := b.fill("sign_out"); sent.Get("form_token") != b.csrf() {
			t.Errorf("%s has another token than its form", path)
		}
	}
}
