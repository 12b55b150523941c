package http_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
)

// organisation makes one, of which users are members.
func (s *shop) organisation(t testing.TB, id int64, name string, members ...int64) {
	t.Helper()
	spec := &hosting.Tenant{Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es", Status: "active", IsActive: true}
	s.do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values()})
	for _, user := range members {
		s.do(t, account.GrantMembership{User: user, Tenant: id, Role: account.Admin, At: time.Now()})
	}
}

func TestASessionEndsWithTheAccountItsPasswordOrAnOrder(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	now := time.Now()
	for what, end := range map[string]account.Command{
		"deactivation":         account.Deactivate{User: 1, At: now},
		"a password elsewhere": account.ChangePassword{User: 1, At: now},
		"an order":             account.EndSessions{User: 1, At: now},
	} {
		b := s.browser(t).enter(anaMail)
		if !b.isIn() {
			t.Fatal("not signed in")
		}
		s.do(t, end)
		goes(t, b.get("/account/"), "/login/?next=%2Faccount%2F")
		if w := b.get("/login/"); w.Code != http.StatusOK {
			t.Errorf("%s: %d on the login page", what, w.Code)
		}
		s.do(t, account.Reactivate{User: 1, At: now})
		if b.isIn() {
			t.Errorf("%s: the session is back", what)
		}
	}
}

func TestASuperuserWhoIsNoneAnyMoreOperatesNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, rootMail, "en", true)
	s.resident(t, 2, "second@example.com", "en", true)
	b := s.browser(t).enter(rootMail)
	if w := b.get("/storefront/"); w.Code != http.StatusOK {
		t.Fatalf("%d", w.Code)
	}
	s.do(t, account.RevokeSuperuser{User: 1, At: time.Now()})
	if w := b.get("/storefront/"); w.Code == http.StatusOK {
		t.Error("the page is still shown")
	}
}

func TestASessionLivesHalfAnHourWithoutAVisitAndHalfADayAtMost(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	for moved, lives := range map[string]bool{
		`seen_at = now() - interval '29 minutes'`:                                    true,
		`seen_at = now() - interval '31 minutes'`:                                    false,
		`started_at = now() - interval '11 hours 59 minutes'`:                        true,
		`started_at = now() - interval '12 hours 1 minute', seen_at = now()`:         false,
		`started_at = now() - interval '13 hours', seen_at = now() - interval '5 s'`: false,
	} {
		b := s.browser(t).enter(anaMail)
		if _, err := s.owner.Exec(t.Context(), `update browser_sessions set `+moved); err != nil {
			t.Fatal(err)
		}
		if b.isIn() != lives {
			t.Errorf("%s: lives is %v", moved, !lives)
		}
	}
}

func TestPeopleChangeTheirProfile(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t).enter(anaMail)
	b.get("/account/")
	goes(t, b.send("profile", "name", "Ana & \"Ruiz\"", "language", "es"), "/account/")
	w := b.get("/account/")
	has(t, w.Body.String(), `<html lang="es">`, "Su perfil está guardado.", `value="Ana &amp; &#34;Ruiz&#34;"`, `<option value="es" selected>`)
	goes(t, b.send("profile", "name", ""), "/account/")
	b.get("/account/")
	refused(t, b.twin().send("profile", "name", strings.Repeat("x", 201)), http.StatusBadRequest, "No puede tener más de 200 caracteres.")
	refused(t, b.twin().send("profile", "name", "<b>"), http.StatusBadRequest, "Tiene caracteres que no se permiten.")
	refused(t, b.twin().send("profile", "language", "Klingon"), http.StatusBadRequest)
	b.get("/account/")
	if _, sent := b.fill("profile"); sent.Get("name") != "" || sent.Get("language") != "es" {
		t.Errorf("%v", sent)
	}
}

func TestPeopleActForOneOfTheirTenants(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	s.resident(t, 2, rootMail, "en", true)
	b := s.browser(t).enter(anaMail)
	has(t, b.get("/account/").Body.String(), "You belong to no tenant yet.")
	s.organisation(t, 7, "Seven", 1)
	s.organisation(t, 8, "Eight", 1)
	s.organisation(t, 9, "Nine")
	w := b.get("/account/")
	has(t, w.Body.String(), `<option value="7" selected>Seven (administrator)`, `<option value="8">Eight (administrator)`)
	if strings.Contains(w.Body.String(), "Nine") {
		t.Error("another tenant is shown")
	}
	goes(t, b.send("tenant", "active_tenant", "8"), "/account/")
	b.get("/account/")
	if _, sent := b.fill("tenant"); sent.Get("active_tenant") != "8" {
		t.Errorf("%v", sent)
	}
	refused(t, b.twin().send("tenant", "active_tenant", "9"), http.StatusBadRequest, `Invalid pk "9" - object does not exist.`)
	goes(t, b.send("tenant", "active_tenant", ""), "/account/")
	if n := s.count(t, `select count(*) from users where id = 1 and active_tenant is null`); n != 1 {
		t.Error("a tenant is still active")
	}
	r := s.browser(t).enter(rootMail)
	has(t, r.get("/account/").Body.String(), `<option value="9">Nine</option>`, "Number of the tenant")
	goes(t, r.send("tenant", "active_tenant", "9"), "/account/")
	refused(t, r.send("tenant", "active_tenant", "99"), http.StatusBadRequest, `Invalid pk "99" - object does not exist.`)
}

func TestANewPasswordEndsAllSessionsButThisOne(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	const better = "a far better one"
	b, other := s.browser(t).enter(anaMail), s.browser(t).enter(anaMail)
	b.get("/account/")
	for _, try := range []struct{ current, chosen, repeat, message string }{
		{"wrong", better, better, "The current password is wrong."},
		{"", better, better, "This field may not be blank."},
		{password, "short", "short", "This password is too short. It must contain at least 8 characters."},
		{password, better, "another", "The two passwords are not the same."},
	} {
		w := b.twin().send("password", "current_password", try.current, "new_password", try.chosen, "password_repeat", try.repeat)
		refused(t, w, http.StatusBadRequest, try.message)
		for _, secret := range []string{"caballos", better} {
			if strings.Contains(w.Body.String(), secret) {
				t.Error("a password is shown again")
			}
		}
	}
	old := b.twin()
	goes(t, b.send("password", "current_password", password, "new_password", better, "password_repeat", better), "/account/")
	if old.sessionID() == b.sessionID() || old.isIn() || other.isIn() || !b.isIn() {
		t.Error("the wrong sessions have ended")
	}
	has(t, b.get("/account/").Body.String(), "Your password is changed.")
	n := s.browser(t)
	n.get("/login/")
	refused(t, n.send("sign_in", "username", anaMail, "password", password), http.StatusUnauthorized)
	goes(t, n.send("sign_in", "username", anaMail, "password", better), "/panel/")
}

func TestGuessesOfThePasswordAreCountedInsideToo(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(s *shop) { s.server.Settings.Abuse = true })
	s.resident(t, 1, anaMail, "en", false)
	b := s.browser(t).enter(anaMail)
	b.get("/account/")
	for range 5 {
		refused(t, b.twin().send("password", "current_password", "guess", "new_password", "a good one", "password_repeat", "a good one"), http.StatusBadRequest)
	}
	refused(t, b.twin().send("password", "current_password", password, "new_password", "a good one", "password_repeat", "a good one"),
		http.StatusTooManyRequests, "Request was throttled.")
}

func TestSigningOutEverywhere(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	s.resident(t, 1, anaMail, "en", false)
	b, other := s.browser(t).enter(anaMail), s.browser(t).enter(anaMail)
	b.get("/account/")
	goes(t, b.send("sessions"), "/login/")
	if b.isIn() || other.isIn() {
		t.Error("a session goes on")
	}
	has(t, b.get("/login/").Body.String(), "You are signed out everywhere.")
}
