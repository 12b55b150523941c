package http_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hostpanel/http/web"
)

// A shownSignIn is a sign-in as the API shows it.
type shownSignIn struct {
	ID, Kind  string
	IsCurrent bool `json:"is_current"`
}

// signIns are those of the caller.
func (s *shop) signIns(t *testing.T, headers ...string) (all []shownSignIn) {
	t.Helper()
	w := s.call("GET", "/api/me/sessions/", "", headers...)
	var page struct{ Results []shownSignIn }
	if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return page.Results
}

// signsIn makes a program sign in, and returns the header of its calls and its refresh token.
func (s *shop) signsIn(t *testing.T, email string) (access []string, refresh string) {
	t.Helper()
	var pair struct{ Access, Refresh string }
	w := s.call("POST", "/api/token/", `{"username":"`+email+`","password":"`+password+`"}`)
	if err := json.Unmarshal(w.Body.Bytes(), &pair); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return bearer(pair.Access), pair.Refresh
}

// Users see where they are signed in, in browsers and with programs, and end one or all
// others. What is ended opens nothing from then on.
func TestUsersEndTheirSessionsAndTokens(t *testing.T) {
	s := openShop(t)
	s.resident(t, 901, "ana@example.com", "en", false)
	s.resident(t, 902, "eve@example.com", "en", false)
	other := s.browser(t).enter("eve@example.com")
	b, lost := s.browser(t).enter("ana@example.com"), s.browser(t).enter("ana@example.com")
	access, refresh := s.signsIn(t, "ana@example.com")
	all := s.signIns(t, access...)
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
	text := b.get(web.SessionsPath).Body.String()
	b.isForEverybody(t, "en", text)
	has(t, text, `<span class="count">3</span>`, "this browser", "Program with access tokens")
	if n := strings.Count(text, "this browser"); n != 1 {
		t.Errorf("%d of them are this one", n)
	}
	lost.get(web.SessionsPath)
	foreign := s.signIns(t, "Cookie", "__Host-session="+other.sessionID())[0].ID
	path, sent := b.fill("session_end")
	for of, status := range map[string]int{foreign: http.StatusNotFound, "x": http.StatusBadRequest} {
		sent.Set("of", of)
		if w := b.twin().do("POST", path, sent.Encode()); w.Code != status {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	if w := s.call("DELETE", "/api/me/sessions/"+foreign+"/", "", access...); w.Code != http.StatusNotFound || !other.isIn() {
		t.Errorf("another user's session: %d %s", w.Code, w.Body)
	}
	for _, one := range all {
		if one.Kind == "program" {
			goes(t, b.send(one.ID), web.SessionsPath)
		}
	}
	has(t, b.get(web.SessionsPath).Body.String(), "It is ended.", `<span class="count">2</span>`)
	if w := s.call("GET", "/api/me/", "", access...); w.Code != http.StatusUnauthorized {
		t.Errorf("the access token: %d %s", w.Code, w.Body)
	}
	if w := s.call("POST", "/api/token/refresh/", `{"refresh":"`+refresh+`"}`); w.Code != http.StatusUnauthorized {
		t.Errorf("the refresh token: %d %s", w.Code, w.Body)
	}
	access, _ = s.signsIn(t, "ana@example.com")
	b.get(web.SessionsPath)
	goes(t, b.send("sessions_end"), web.SessionsPath)
	if lost.isIn() || !b.isIn() || !other.isIn() || s.call("GET", "/api/me/", "", access...).Code != http.StatusUnauthorized {
		t.Error("others are still there, or the wrong ones are gone")
	}
	text = b.get(web.SessionsPath).Body.String()
	has(t, text, `<span class="count">1</span>`)
	if strings.Contains(text, "End all others") {
		t.Error("there are no others")
	}
}

// What a new password has ended is not shown, and does not count.
func TestEndedSessionsAreNotShown(t *testing.T) {
	s := openShop(t)
	s.resident(t, 901, "ana@example.com", "es", false)
	b := s.browser(t).enter("ana@example.com")
	s.signsIn(t, "ana@example.com")
	s.browser(t).enter("ana@example.com")
	b.get("/account/")
	goes(t, b.send("password", "current_password", password, "new_password", password+"!", "password_repeat", password+"!"), "/account/")
	text := b.get(web.SessionsPath).Body.String()
	b.isForEverybody(t, "es", text)
	has(t, text, `<span class="count">1</span>`, "este navegador")
	_, sent := b.fill("sign_out")
	w := s.call("POST", "/api/me/sessions/end_others/", "{}", "Cookie", "__Host-session="+b.sessionID(), "X-CSRF-Token", sent.Get("form_token"), "Content-Type", "application/json")
	if w.Code != http.StatusOK || w.Body.String() != `{"ended":0}` {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
