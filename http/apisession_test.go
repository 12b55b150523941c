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
				if r.Path == "/api/me/confirm/" { // tokens are refused there
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

// These calls ask for the password again. The ends of keys and accounts do not:
// they have to be quick.
var confirmedCalls = []string{
	"DELETE /operations/api/v1/users/{id:int}/",
	"DELETE /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"PATCH /operations/api/v1/api-keys/{id:[0-9A-Za-z]{8}}/",
	"PATCH /operations/api/v1/users/{id:int}/",
	"PATCH /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"POST /operations/api/v1/api-keys/",
	"POST /operations/api/v1/orders/{uuid:uuid}/refund/",
	"POST /operations/api/v1/users/",
	"POST /operations/api/v1/users/{id:int}/memberships/",
	"POST /operations/api/v1/users/{id:int}/reset_link/",
	"PUT /operations/api/v1/users/{id:int}/",
}

func TestKeysRolesAndRefundsAskForThePasswordAgain(t *testing.T) {
	c := takeCensus(t)
	super, member := c.signedIn(t, root, false), c.signedIn(t, memberOfA, false)
	var asked []string
	for _, r := range c.routes() {
		if isPage(r.Path) || r.Access.Scheme == "" || r.Method == http.MethodGet {
			continue
		}
		for what, path := range c.paths(t, r.Path) {
			w := super.script(r.Method, path, `"no object"`, "X-CSRF-Token", super.csrf(), "If-Match", `"never"`)
			if w.Body.String() != askedAgain {
				continue
			}
			asked = append(asked, r.Method+" "+r.Path)
			if w.Code != http.StatusForbidden || w.Header().Get("X-Error-Code") != "reauthentication_required" {
				t.Errorf("%s: %d %v", path, w.Code, w.Header())
			}
			if byToken := c.ask(t, "superuser", r.Method, path); byToken.Body.String() == askedAgain {
				t.Errorf("%s %s (%s) asks a token for the password", r.Method, path, what)
			}
			other := member.script(r.Method, path, `"no object"`, "X-CSRF-Token", member.csrf())
			answers(t, "no superuser: "+path, other, http.StatusForbidden, `{"detail":"You do not have permission to perform this action."}`)
		}
	}
	slices.Sort(asked)
	if asked = slices.Compact(asked); !slices.Equal(asked, confirmedCalls) {
		t.Errorf("the password is asked for again at\n%s\nand not at\n%s", strings.Join(asked, "\n"), strings.Join(confirmedCalls, "\n"))
	}
}

func TestAScriptGivesThePasswordAgain(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	b := s.browser(t).enter(rootMail)
	b.get("/account/")
	token := b.csrf()
	makeKey := func() *httptest.ResponseRecorder {
		return b.script("POST", "/operations/api/v1/api-keys/", `{"name":"Shop"}`, "X-CSRF-Token", token)
	}
	answers(t, "a key", makeKey(), http.StatusForbidden, askedAgain)
	confirm := func(body string) *httptest.ResponseRecorder {
		return b.script("POST", "/api/me/confirm/", body, "X-CSRF-Token", token)
	}
	answers(t, "a wrong password", confirm(`{"password":"wrong"}`), http.StatusBadRequest, `{"password":["The current password is wrong."]}`)
	answers(t, "no password", confirm(`{}`), http.StatusBadRequest, `{"password":["This field is required."]}`)
	answers(t, "a key", makeKey(), http.StatusForbidden, askedAgain)
	old, w := b.twin(), confirm(`{"password":"`+password+`"}`)
	answers(t, "the password", w, http.StatusOK, "")
	given := answered[struct {
		CSRFToken      string    `json:"csrf_token"`
		ConfirmedUntil time.Time `json:"confirmed_until"`
	}](t, w)
	if left := time.Until(given.ConfirmedUntil); left < 9*time.Minute || left > 10*time.Minute || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("until %v, %v", given.ConfirmedUntil, w.Header())
	}
	answers(t, "the former cookie", old.script("GET", "/api/me/", ""), http.StatusUnauthorized, noCredentials)
	answers(t, "the former token", makeKey(), http.StatusForbidden, csrfFailed)
	if token = given.CSRFToken; token == old.csrf() {
		t.Error("the token stays")
	}
	answers(t, "a key", makeKey(), http.StatusCreated, "")
	b.get("/storefront/")
	if _, sent := b.fill("create"); sent.Has("password") || b.csrf() != token {
		t.Errorf("the page asks again, or has another token: %v", sent)
	}
	if _, err := s.owner.Exec(t.Context(), `update browser_sessions set confirmed_at = now() - interval '10 minutes 1 second'`); err != nil {
		t.Fatal(err)
	}
	answers(t, "later", makeKey(), http.StatusForbidden, askedAgain)
	answers(t, "a token", s.call("POST", "/api/me/confirm/", `{"password":"`+password+`"}`, bearer(s.token(t, 1, with{"sv": 2}))...),
		http.StatusForbidden, `{"detail":"This call is for the session of a browser.","code":"session_required"}`)
}

func TestThePasswordCannotBeGuessedByAScript(t *testing.T) {
	s := openShop(t, guarded)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t).enter(anaMail)
	b.get("/account/")
	confirm := func(text string) *httptest.ResponseRecorder {
		return b.script("POST", "/api/me/confirm/", `{"password":"`+text+`"}`, "X-CSRF-Token", b.csrf())
	}
	for range 5 {
		answers(t, "a guess", confirm("guess"), http.StatusBadRequest, "")
	}
	answers(t, "the right one", confirm(password), http.StatusTooManyRequests, "")
	if w := b.script("GET", "/api/me/", ""); w.Header().Get("RateLimit-Policy") != `"user";q=600;w=60` {
		t.Errorf("calls by session are not counted: %v", w.Header())
	}
}

// What scripts read by themselves does not keep a session alive that its user
// has left. Changes and pages do.
func TestReadingKeepsNoSessionAlive(t *testing.T) {
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t).enter(anaMail)
	b.get("/account/")
	for _, visit := range []struct {
		what   string
		counts bool
		call   func()
	}{
		{"GET", false, func() { b.script("GET", "/api/me/", "") }},
		{"HEAD", false, func() { b.script("HEAD", "/notifications/api/v1/notifications/", "") }},
		{"a change without the token", true, func() { b.script("PATCH", "/api/me/", `{}`) }},
		{"PATCH", true, func() { b.script("PATCH", "/api/me/", `{}`, "X-CSRF-Token", b.csrf()) }},
		{"a page", true, func() { b.get("/account/") }},
	} {
		if _, err := s.owner.Exec(t.Context(), `update browser_sessions set seen_at = now() - interval '29 minutes'`); err != nil {
			t.Fatal(err)
		}
		visit.call()
		if n := s.count(t, `select count(*) from browser_sessions where seen_at > now() - interval '1 minute'`); (n == 1) != visit.counts {
			t.Errorf("%s: %d visits", visit.what, n)
		}
	}
	if _, err := s.owner.Exec(t.Context(), `update browser_sessions set seen_at = now() - interval '31 minutes'`); err != nil {
		t.Fatal(err)
	}
	answers(t, "after half an hour", b.script("GET", "/api/me/", ""), http.StatusUnauthorized, noCredentials)
}

// A stream ends with the sign-in behind it: session, token or account.
func TestAStreamEndsWithTheSignInBehindIt(t *testing.T) {
	s := openShop(t).people(t)
	s.server.Beat(20 * time.Millisecond)
	s.open(t)
	begin := func(user int64) string {
		id, err := s.vault().OpenSession(t.Context(), user, 1)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	listen := func(id string) *hearing { return s.hear(t, noticeStream, "Cookie", "session="+id) }
	left, staying, idle, confirmed, old := begin(ben), begin(ben), begin(ben), begin(ben), begin(ben)
	of := map[string]*hearing{}
	for _, id := range []string{left, staying, idle, confirmed, old} {
		of[id] = listen(id)
	}
	s.raise(t, ben, "For all")
	for _, h := range of {
		h.is("notification", "For all")
	}
	if err := s.vault().EndSession(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	of[left].ends()
	renewed, err := s.vault().RenewSession(t.Context(), confirmed)
	if err != nil {
		t.Fatal(err)
	}
	of[confirmed].ends() // a browser comes back by itself, with the new cookie
	listen(renewed).close()
	for id, change := range map[string]string{idle: `seen_at = now() - interval '31 minutes'`, old: `started_at = now() - interval '13 hours'`} {
		if _, err := s.owner.Exec(t.Context(), `update browser_sessions set `+change+` where hash = sha256(convert_to($1, 'UTF8'))`, id); err != nil {
			t.Fatal(err)
		}
		of[id].ends()
	}
	signedOut, other := s.signIn(t, "ana@example.com", goodPassword), s.signIn(t, "ana@example.com", goodPassword)
	byToken, byOther := s.hear(t, noticeStream, bearer(signedOut.Access)...), s.hear(t, noticeStream, bearer(other.Access)...)
	if w := s.call("POST", "/api/token/blacklist/", `{"refresh":"`+signedOut.Refresh+`"}`); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	byToken.ends()
	s.raise(t, ana, "Still there")
	byOther.is("notification", "Still there")
	s.raise(t, ben, "The last")
	of[staying].is("notification", "The last")
	s.do(t, account.Deactivate{User: ben, At: time.Now()})
	of[staying].ends()
}

// A tenant that is left or taken on in one window counts in all of them.
func TestTheActiveTenantIsTheUsersNotTheSessions(t *testing.T) {
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
