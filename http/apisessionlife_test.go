package http_test

import (
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
)

// What scripts read by themselves does not keep a session alive that its user
// has left. Changes and pages do.
func TestReadingKeepsNoSessionAlive(t *testing.T) {
	t.Parallel()
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
		{"a page that a script reads anew", false, func() { b.get("/account/", "Sec-Fetch-Dest", "empty") }},
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
	t.Parallel()
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
