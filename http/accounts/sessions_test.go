package accounts_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// signsIn makes a program sign in, and returns the header of its calls and its refresh token.
func signsIn(t *testing.T, s *paneltest.Shop, email string) (access []string, refresh string) {
	t.Helper()
	var pair struct{ Access, Refresh string }
	w := s.Call("POST", "/api/token/", `{"username":"`+email+`","password":"`+paneltest.Password+`"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &pair); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return paneltest.Bearer(pair.Access), pair.Refresh
}

// Users see where they are signed in, in browsers and with programs, and end one or all
// others. What is ended opens nothing from then on.
func TestUsersEndTheirSessionsAndTokens(t *testing.T) {
	s := paneltest.Open(t)
	s.Resident(t, 901, "ana@example.com", "en", false)
	s.Resident(t, 902, "eve@example.com", "en", false)
	other := s.Browser(t).Enter("eve@example.com")
	b, lost := s.Browser(t).Enter("ana@example.com"), s.Browser(t).Enter("ana@example.com")
	access, refresh := signsIn(t, s, "ana@example.com")
	all := s.SignIns(t, access...)
	current := 0
	for _, one := range all {
		if one.IsCurrent != (one.Kind == "program") {
			t.Errorf("%+v", one)
		}
		if one.IsCurrent {
			current++
		}
	}
	if len(all) != 3 || current != 1 {
		t.Fatalf("%+v", all)
	}
	text := b.Get(web.SessionsPath).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, `<span class="count">3</span>`, "this browser", "Program with access tokens")
	if n := strings.Count(text, "this browser"); n != 1 {
		t.Errorf("%d of them are this one", n)
	}
	lost.Get(web.SessionsPath)
	foreign := s.SignIns(t, "Cookie", "__Host-session="+other.SessionID())[0].ID
	path, sent := b.Fill("session_end")
	for of, status := range map[string]int{foreign: http.StatusNotFound, "x": http.StatusBadRequest} {
		sent.Set("of", of)
		if w := b.Twin().Do("POST", path, sent.Encode()); w.Code != status {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	if w := s.Call("DELETE", "/api/me/sessions/"+foreign+"/", "", access...); w.Code != http.StatusNotFound ||
		!other.IsIn() {
		t.Errorf("another user's session: %d %s", w.Code, w.Body)
	}
	for _, one := range all {
		if one.Kind == "program" {
			paneltest.Goes(t, b.Send(one.ID), web.SessionsPath)
		}
	}
	paneltest.Has(t, b.Get(web.SessionsPath).Body.String(), "It is ended.", `<span class="count">2</span>`)
	if w := s.Call("GET", "/api/me/", "", access...); w.Code != http.StatusUnauthorized {
		t.Errorf("the access token: %d %s", w.Code, w.Body)
	}
	if w := s.Call("POST", "/api/token/refresh/", `{"refresh":"`+refresh+`"}`); w.Code != http.StatusUnauthorized {
		t.Errorf("the refresh token: %d %s", w.Code, w.Body)
	}
	access, _ = signsIn(t, s, "ana@example.com")
	b.Get(web.SessionsPath)
	paneltest.Goes(t, b.Send("sessions_end"), web.SessionsPath)
	if lost.IsIn() || !b.IsIn() || !other.IsIn() ||
		s.Call("GET", "/api/me/", "", access...).Code != http.StatusUnauthorized {
		t.Error("others are still there, or the wrong ones are gone")
	}
	text = b.Get(web.SessionsPath).Body.String()
	paneltest.Has(t, text, `<span class="count">1</span>`)
	if strings.Contains(text, "End all others") {
		t.Error("there are no others")
	}
}

// What a new password has ended is not shown, and does not count.
func TestEndedSessionsAreNotShown(t *testing.T) {
	s := paneltest.Open(t)
	s.Resident(t, 901, "ana@example.com", "es", false)
	b := s.Browser(t).Enter("ana@example.com")
	signsIn(t, s, "ana@example.com")
	s.Browser(t).Enter("ana@example.com")
	b.Get("/account/")
	paneltest.Goes(t, b.Send("password", "current_password", paneltest.Password, "new_password", paneltest.Password+"!",
		"password_repeat", paneltest.Password+"!"), "/account/")
	text := b.Get(web.SessionsPath).Body.String()
	b.IsForEverybody(t, "es", text)
	paneltest.Has(t, text, `<span class="count">1</span>`, "este navegador")
	_, sent := b.Fill("sign_out")
	w := s.Call("POST", "/api/me/sessions/end_others/", "{}", "Cookie", "__Host-session="+b.SessionID(), "X-CSRF-Token",
		sent.Get("form_token"), "Content-Type", "application/json")
	if w.Code != http.StatusOK || w.Body.String() != `{"ended":0}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
