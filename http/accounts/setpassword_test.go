package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// invited opens an account and gives out a link for it.
func invited(t *testing.T, s *paneltest.Shop, user int64, email, language string) (token string) {
	t.Helper()
	s.Do(t, account.Open{User: user, SubjectID: uuid.New(), Email: email, Name: "Ana", Language: language, At: time.Now()})
	return s.Link(t, user)
}

func choose(s *paneltest.Shop, token, password, repeat string) *httptest.ResponseRecorder {
	form := url.Values{
		"token": {token}, "password": {password}, "password_repeat": {repeat},
		"username": {"somebody@else.example"},
	}
	return s.Call("POST", "/set-password/", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

func TestALinkSetsOnePasswordOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	token := invited(t, s, 1, "ana@example.com", "es")
	for range 3 { // looking at the page does not use the link up
		w := s.Call("GET", "/set-password/?token="+token, "")
		if w.Code != http.StatusOK || w.Header().Get("Referrer-Policy") != "no-referrer" ||
			w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		paneltest.Has(t, w.Body.String(), `<html lang="es">`, token, "ana@example.com", `autocomplete="new-password"`)
		paneltest.Has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'", "form-action 'self';")
	}
	w := choose(s, token, "Tr0ub4dor & 3 caballos", "Tr0ub4dor & 3 caballos")
	paneltest.Goes(t, w, "/panel/")
	if w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%v", w.Header())
	}
	session, _, _ := strings.Cut(w.Header().Get("Set-Cookie"), ";")
	paneltest.Has(t, s.Call("GET", "/account/", "", "Cookie", session).Body.String(), "ana@example.com")
	if n := s.Count(t, `select count(*) from events where name = 'account.password_changed' and actor = 'user:1' and `+
		`stream = 'user-1'`); n != 1 {
		t.Fatalf("%d facts", n)
	}
	if is, err := s.Vault().CheckPassword(t.Context(), 1, "Tr0ub4dor & 3 caballos"); err != nil || !is {
		t.Fatal("another password is set", err)
	}
	for _, w := range []*httptest.ResponseRecorder{
		choose(s, token, "another good one", "another good one"), s.Call("GET", "/set-password/?token="+token, ""),
		s.Call("GET", "/set-password/", ""), s.Call("GET", "/set-password/?token=guessed", ""),
		choose(s, "", "another good one", "another good one"),
	} {
		if w.Code != http.StatusBadRequest || w.Header().Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		paneltest.Has(t, w.Body.String(), "This link is no longer valid.")
	}
	if strings.Contains(s.Logged.String(), token) || strings.Contains(s.Logged.String(), "caballos") {
		t.Error("a secret is in the log")
	}
}

func TestAHundredUsesOfALinkAtOnceSetOnePassword(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	token := invited(t, s, 1, "ana@example.com", "en")
	won := 0
	for _, w := range s.AtOnce(20, func(i int) *httptest.ResponseRecorder {
		password := "a good password " + string(rune('a'+i))
		return choose(s, token, password, password)
	}) {
		if w.Code == http.StatusSeeOther {
			won++
		} else if w.Code != http.StatusBadRequest {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Events(t, "account.password_changed"); won != 1 || n != 1 {
		t.Fatalf("%d won, %d facts", won, n)
	}
}

func TestAWeakPasswordIsRefusedAndTheLinkStays(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	token := invited(t, s, 1, "ana@example.com", "en")
	for password, message := range map[string]string{
		"tiny pw":                "This password is too short. It must contain at least 8 characters.",
		strings.Repeat("ä", 129): "Ensure this field has no more than 128 characters.",
		"Password1":              "This password is too common.",
		"83746592018374":         "This password is entirely numeric.",
		"my name is ANA, ok":     "The password is too similar to the username.",
	} {
		w := choose(s, token, password, password)
		if w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", password, w.Code)
		}
		paneltest.Has(t, w.Body.String(), message, `role="alert"`)
		if strings.Contains(w.Body.String(), password) {
			t.Errorf("%s is on the page", password)
		}
	}
	paneltest.Has(t, choose(s, token, "a good password", "a good passwort").Body.String(),
		"The two passwords are not the same.")
	paneltest.Goes(t, choose(s, token, "  a good password  ", "  a good password  "), "/panel/")
}

func TestANewLinkEndsTheOlderOneAndAnAccountThatHasEndedHasNone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	older := invited(t, s, 1, "ana@example.com", "en")
	newer := s.Link(t, 1)
	if s.Call("GET", "/set-password/?token="+older, "").Code != http.StatusBadRequest ||
		s.Call("GET", "/set-password/?token="+newer, "").Code != http.StatusOK {
		t.Fatal("the older link is good, or the newer one is not")
	}
	s.Do(t, account.Deactivate{User: 1, At: time.Now()})
	if s.Call("GET", "/set-password/?token="+newer, "").Code != http.StatusBadRequest {
		t.Fatal("an account that has ended gets a password")
	}
}

func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	for wish, language := range map[string]string{
		"": "en", "es": "es", "es-MX,es;q=0.9,en;q=0.8": "es", "de, fr;q=0.8": "en", "de,es;q=0.5": "es", "en-GB,es": "en",
		", ;q=1": "en",
	} {
		w := s.Call("GET", "/set-password/?token=gone", "", "Accept-Language", wish)
		if !strings.Contains(w.Body.String(), `<html lang="`+language+`">`) {
			t.Errorf("%q: %s", wish, w.Body)
		}
	}
}

// A link does not stand in for the second factor, nor for the patience that wrong passwords
// have used up.
func TestALinkSignsInAsAPasswordDoes(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	secret, _ := s.Enrolled(t, paneltest.Ana)
	b := s.Browser(t)
	set := func(user int64) *httptest.ResponseRecorder {
		form := url.Values{"token": {s.Link(t, user)}, "password": {"another good one"}, "password_repeat": {"another good one"}}
		return b.Do("POST", "/set-password/", form.Encode())
	}
	paneltest.Goes(t, set(paneltest.Ana), "/login/")
	if b.IsIn() {
		t.Error("a link and a password are enough")
	}
	b.Get("/login/")
	paneltest.Goes(t, b.Send("code", "otp", paneltest.Code(t, secret, 0)), "/panel/")
	paneltest.Goes(t, set(paneltest.Ben), "/panel/") // and ana is signed out
	paneltest.Has(t, b.Get("/account/").Body.String(), paneltest.Emails[paneltest.Ben])
	for range 30 {
		s.Try("192.0.2.1:1", paneltest.Emails[paneltest.Eve], "a wrong password")
	}
	paneltest.Goes(t, set(paneltest.Eve), "/login/")
	paneltest.Has(t, s.Browser(t).Get("/login/").Body.String(), "Sign in")
}
