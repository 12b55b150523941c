package accounts_test

import (
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// What scripts read by themselves does not keep a session alive that its user
// has left. Changes and pages do.
func TestReadingKeepsNoSessionAlive(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	for _, visit := range []struct {
		what   string
		counts bool
		call   func()
	}{
		{"GET", false, func() { b.Script("GET", "/api/me/", "") }},
		{"HEAD", false, func() { b.Script("HEAD", "/notifications/api/v1/notifications/", "") }},
		{"a change without the token", true, func() { b.Script("PATCH", "/api/me/", `{}`) }},
		{"PATCH", true, func() { b.Script("PATCH", "/api/me/", `{}`, "X-CSRF-Token", b.Csrf()) }},
		{"a page that a script reads anew", false, func() { b.Get("/account/", "Sec-Fetch-Dest", "empty") }},
		{"a page", true, func() { b.Get("/account/") }},
	} {
		if _, err := s.Owner.Exec(t.Context(),
			`update browser_sessions set seen_at = now() - interval '29 minutes'`); err != nil {
			t.Fatal(err)
		}
		visit.call()
		if n := s.Count(t, `select count(*) from browser_sessions where seen_at > now() - interval '1 minute'`); (n == 1) != visit.counts {
			t.Errorf("%s: %d visits", visit.what, n)
		}
	}
	if _, err := s.Owner.Exec(t.Context(), `update browser_sessions set seen_at = now() - interval '31 minutes'`); err != nil {
		t.Fatal(err)
	}
	paneltest.Answers(t, "after half an hour", b.Script("GET", "/api/me/", ""), http.StatusUnauthorized, noCredentials)
}

// A stream ends with the sign-in behind it: session, token or account.
func TestAStreamEndsWithTheSignInBehindIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Server.Settings.Heartbeat = 20 * time.Millisecond
	s.Start(t)
	begin := func(user int64) string {
		id, err := s.Vault().OpenSession(t.Context(), user, 1)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	listen := func(id string) *paneltest.EventStream {
		return s.Stream(t, paneltest.NoticeStream, "Cookie", "session="+id)
	}
	left, staying, idle, confirmed, old := begin(paneltest.Ben), begin(paneltest.Ben), begin(paneltest.Ben),
		begin(paneltest.Ben), begin(paneltest.Ben)
	of := map[string]*paneltest.EventStream{}
	for _, id := range []string{left, staying, idle, confirmed, old} {
		of[id] = listen(id)
	}
	s.Raise(t, paneltest.Ben, "For all")
	for _, h := range of {
		h.Is("notification", "For all")
	}
	if err := s.Vault().EndSession(t.Context(), left); err != nil {
		t.Fatal(err)
	}
	of[left].Ends()
	renewed, err := s.Vault().RenewSession(t.Context(), confirmed)
	if err != nil {
		t.Fatal(err)
	}
	of[confirmed].Ends() // a browser comes back by itself, with the new cookie
	listen(renewed).Close()
	for id, change := range map[string]string{
		idle: `seen_at = now() - interval '31 minutes'`,
		old:  `started_at = now() - interval '13 hours'`,
	} {
		if _, err := s.Owner.Exec(t.Context(),
			`update browser_sessions set `+change+` where hash = sha256(convert_to($1, 'UTF8'))`, id); err != nil {
			t.Fatal(err)
		}
		of[id].Ends()
	}
	signedOut, other := s.SignIn(t, "ana@example.com", paneltest.GoodPassword), s.SignIn(t, "ana@example.com",
		paneltest.GoodPassword)
	byToken, byOther := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(signedOut.Access)...), s.Stream(t,
		paneltest.NoticeStream, paneltest.Bearer(other.Access)...)
	if w := s.Call("POST", "/api/token/blacklist/", `{"refresh":"`+signedOut.Refresh+`"}`); w.Code != http.StatusOK {
		t.Fatal(w.Code, w.Body)
	}
	byToken.Ends()
	s.Raise(t, paneltest.Ana, "Still there")
	byOther.Is("notification", "Still there")
	s.Raise(t, paneltest.Ben, "The last")
	of[staying].Is("notification", "The last")
	s.Do(t, account.Deactivate{User: paneltest.Ben, At: time.Now()})
	of[staying].Ends()
}
