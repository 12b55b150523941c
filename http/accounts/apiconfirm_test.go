package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hostpanel/paneltest"
)

func TestAScriptGivesThePasswordAgain(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/account/")
	token := b.Csrf()
	makeKey := func() *httptest.ResponseRecorder {
		return b.Script("POST", "/operations/api/v1/api-keys/", `{"name":"Shop"}`, "X-CSRF-Token", token)
	}
	paneltest.Answers(t, "a key", makeKey(), http.StatusForbidden, paneltest.AskedAgain)
	confirm := func(body string) *httptest.ResponseRecorder {
		return b.Script("POST", "/api/me/confirm/", body, "X-CSRF-Token", token)
	}
	paneltest.Answers(t, "a wrong password", confirm(`{"password":"wrong"}`), http.StatusBadRequest,
		`{"password":["The current password is wrong."]}`)
	paneltest.Answers(t, "no password", confirm(`{}`), http.StatusBadRequest, `{"password":["This field is required."]}`)
	paneltest.Answers(t, "a key", makeKey(), http.StatusForbidden, paneltest.AskedAgain)
	old, w := b.Twin(), confirm(`{"password":"`+paneltest.Password+`"}`)
	paneltest.Answers(t, "the password", w, http.StatusOK, "")
	given := paneltest.Answered[struct {
		CSRFToken      string    `json:"csrf_token"`
		ConfirmedUntil time.Time `json:"confirmed_until"`
	}](t, w)
	if left := time.Until(given.ConfirmedUntil); left < 9*time.Minute || left > 10*time.Minute ||
		w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("until %v, %v", given.ConfirmedUntil, w.Header())
	}
	paneltest.Answers(t, "the former cookie", old.Script("GET", "/api/me/", ""), http.StatusUnauthorized, noCredentials)
	paneltest.Answers(t, "the former token", makeKey(), http.StatusForbidden, paneltest.CsrfFailed)
	if token = given.CSRFToken; token == old.Csrf() {
		t.Error("the token stays")
	}
	paneltest.Answers(t, "a key", makeKey(), http.StatusCreated, "")
	b.Get("/storefront/keys/")
	if _, sent := b.Fill("create"); sent.Has("password") || b.Csrf() != token {
		t.Errorf("the page asks again, or has another token: %v", sent)
	}
	if _, err := s.Owner.Exec(
		t.Context(), `update browser_sessions set confirmed_at = now() - interval '10 minutes 1 second'`,
	); err != nil {
		t.Fatal(err)
	}
	paneltest.Answers(t, "later", makeKey(), http.StatusForbidden, paneltest.AskedAgain)
	paneltest.Answers(t, "a token", s.Call("POST", "/api/me/confirm/", `{"password":"`+paneltest.Password+`"}`,
		paneltest.Bearer(s.Token(t, 1, paneltest.With{"sv": 2}))...),
		http.StatusForbidden, `{"detail":"This call is for the session of a browser.","code":"session_required"}`)
}

func TestThePasswordCannotBeGuessedByAScript(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	confirm := func(text string) *httptest.ResponseRecorder {
		return b.Script("POST", "/api/me/confirm/", `{"password":"`+text+`"}`, "X-CSRF-Token", b.Csrf())
	}
	for range 5 {
		paneltest.Answers(t, "a guess", confirm("guess"), http.StatusBadRequest, "")
	}
	paneltest.Answers(t, "the right one", confirm(paneltest.Password), http.StatusTooManyRequests, "")
	if w := b.Script("GET", "/api/me/", ""); w.Header().Get("RateLimit-Policy") != `"user";q=600;w=60` {
		t.Errorf("calls by session are not counted: %v", w.Header())
	}
}
