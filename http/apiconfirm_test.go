package http_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// These calls ask for the password again. The ends of keys and accounts do not:
// they have to be quick.
var confirmedCalls = []string{
	"DELETE /api/me/second-factor/",
	"DELETE /operations/api/v1/users/{id:int}/",
	"DELETE /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"PATCH /operations/api/v1/api-keys/{id:[0-9A-Za-z]{8}}/",
	"PATCH /operations/api/v1/users/{id:int}/",
	"PATCH /operations/api/v1/users/{id:int}/memberships/{tenant:int}/",
	"POST /api/me/second-factor/",
	"POST /api/me/second-factor/enable/",
	"POST /api/me/second-factor/recovery-codes/",
	"POST /operations/api/v1/api-keys/",
	"POST /operations/api/v1/orders/{uuid:uuid}/refund/",
	"POST /operations/api/v1/users/",
	"POST /operations/api/v1/users/{id:int}/disable_second_factor/",
	"POST /operations/api/v1/users/{id:int}/memberships/",
	"POST /operations/api/v1/users/{id:int}/reset_link/",
	"PUT /operations/api/v1/users/{id:int}/",
}

func TestKeysRolesAndRefundsAskForThePasswordAgain(t *testing.T) {
	t.Parallel()
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
			if strings.HasPrefix(r.Path, "/api/me/") {
				continue // everybody's own
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
	t.Parallel()
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
	b.get("/storefront/keys/")
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
	t.Parallel()
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
