package accounts_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

func TestASessionEndsWithTheAccountItsPasswordOrAnOrder(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	now := time.Now()
	for what, end := range map[string]account.Command{
		"deactivation":         account.Deactivate{User: 1, At: now},
		"a password elsewhere": account.ChangePassword{User: 1, At: now},
		"an order":             account.EndSessions{User: 1, At: now},
	} {
		b := s.Browser(t).Enter(paneltest.AnaMail)
		if !b.IsIn() {
			t.Fatal("not signed in")
		}
		s.Do(t, end)
		paneltest.Goes(t, b.Get("/account/"), "/login/?next=%2Faccount%2F")
		if w := b.Get("/login/"); w.Code != http.StatusOK {
			t.Errorf("%s: %d on the login page", what, w.Code)
		}
		s.Do(t, account.Reactivate{User: 1, At: now})
		if b.IsIn() {
			t.Errorf("%s: the session is back", what)
		}
	}
}

func TestASuperuserWhoIsNoneAnyMoreOperatesNothing(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	s.Resident(t, 2, "second@example.com", "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	if w := b.Get("/storefront/"); w.Code != http.StatusOK {
		t.Fatalf("%d", w.Code)
	}
	s.Do(t, account.RevokeSuperuser{User: 1, At: time.Now()})
	if w := b.Get("/storefront/"); w.Code == http.StatusOK {
		t.Error("the page is still shown")
	}
}

func TestASessionLivesHalfAnHourWithoutAVisitAndHalfADayAtMost(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	for moved, lives := range map[string]bool{
		`seen_at = now() - interval '29 minutes'`:                                    true,
		`seen_at = now() - interval '31 minutes'`:                                    false,
		`started_at = now() - interval '11 hours 59 minutes'`:                        true,
		`started_at = now() - interval '12 hours 1 minute', seen_at = now()`:         false,
		`started_at = now() - interval '13 hours', seen_at = now() - interval '5 s'`: false,
	} {
		b := s.Browser(t).Enter(paneltest.AnaMail)
		if _, err := s.Owner.Exec(t.Context(), `update browser_sessions set `+moved); err != nil {
			t.Fatal(err)
		}
		if b.IsIn() != lives {
			t.Errorf("%s: lives is %v", moved, !lives)
		}
	}
}

func TestPeopleChangeTheirProfile(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	paneltest.Goes(t, b.Send("profile", "name", "Ana & \"Ruiz\"", "language", "es"), "/account/")
	w := b.Get("/account/")
	paneltest.Has(t, w.Body.String(), `<html lang="es">`, "Su perfil está guardado.", `value="Ana &amp; &#34;Ruiz&#34;"`,
		`<option value="es" selected>`)
	paneltest.Goes(t, b.Send("profile", "name", ""), "/account/")
	b.Get("/account/")
	paneltest.Refused(t, b.Twin().Send("profile", "name", strings.Repeat("x", 201)), http.StatusBadRequest,
		"No puede tener más de 200 caracteres.")
	paneltest.Refused(t, b.Twin().Send("profile", "name", "<b>"), http.StatusBadRequest,
		"Tiene caracteres que no se permiten.")
	paneltest.Refused(t, b.Twin().Send("profile", "language", "Klingon"), http.StatusBadRequest)
	b.Get("/account/")
	if _, sent := b.Fill("profile"); sent.Get("name") != "" || sent.Get("language") != "es" {
		t.Errorf("%v", sent)
	}
}

func TestANewPasswordEndsAllSessionsButThisOne(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	const better = "a far better one"
	b, other := s.Browser(t).Enter(paneltest.AnaMail), s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	for _, try := range []struct{ current, chosen, repeat, message string }{
		{"wrong", better, better, "The current password is wrong."},
		{"", better, better, "This field may not be blank."},
		{paneltest.Password, "short", "short", "This password is too short. It must contain at least 8 characters."},
		{paneltest.Password, better, "another", "The two passwords are not the same."},
	} {
		w := b.Twin().Send("password", "current_password", try.current, "new_password", try.chosen, "password_repeat",
			try.repeat)
		paneltest.Refused(t, w, http.StatusBadRequest, try.message)
		for _, secret := range []string{"caballos", better} {
			if strings.Contains(w.Body.String(), secret) {
				t.Error("a password is shown again")
			}
		}
	}
	old := b.Twin()
	paneltest.Goes(t, b.Send("password", "current_password", paneltest.Password, "new_password", better, "password_repeat",
		better), "/account/")
	if old.SessionID() == b.SessionID() || old.IsIn() || other.IsIn() || !b.IsIn() {
		t.Error("the wrong sessions have ended")
	}
	paneltest.Has(t, b.Get("/account/").Body.String(), "Your password is changed.")
	n := s.Browser(t)
	n.Get("/login/")
	paneltest.Refused(t, n.Send("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password),
		http.StatusUnauthorized)
	paneltest.Goes(t, n.Send("sign_in", "username", paneltest.AnaMail, "password", better), "/panel/")
}

func TestGuessesOfThePasswordAreCountedInsideToo(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true })
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	for range 5 {
		paneltest.Refused(t, b.Twin().Send("password", "current_password", "guess", "new_password", "a good one",
			"password_repeat", "a good one"), http.StatusBadRequest)
	}
	paneltest.Refused(t, b.Twin().Send("password", "current_password", paneltest.Password, "new_password", "a good one",
		"password_repeat", "a good one"),
		http.StatusTooManyRequests, "Request was throttled.")
}

func TestSigningOutEverywhere(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b, other := s.Browser(t).Enter(paneltest.AnaMail), s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	paneltest.Goes(t, b.Send("sessions"), "/login/")
	if b.IsIn() || other.IsIn() {
		t.Error("a session goes on")
	}
	paneltest.Has(t, b.Get("/login/").Body.String(), "You are signed out everywhere.")
}
