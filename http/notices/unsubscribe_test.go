package notices_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// reader creates an account that gets mails, and returns its unsubscribe link.
func reader(t *testing.T, s *paneltest.Shop, user int64) (path string) {
	t.Helper()
	s.Do(t, account.Open{
		User: user, SubjectID: uuid.New(), Email: fmt.Sprintf("reader%d@example.com", user), Name: "Ana",
		Language: "es", At: time.Now(),
	})
	return "/notifications/unsubscribe/" + s.Unsubscribe(user) + "/"
}

func mails(t *testing.T, s *paneltest.Shop, user int64) notice.Preferences {
	t.Helper()
	preferences, _, err := s.For(projections.System).Notices().Preferences(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return preferences
}

func TestALinkInAMailStopsMailsOfItsSort(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	path := reader(t, s, 1)
	reader(t, s, 2)
	for range 3 { // a GET changes nothing, so programs may follow the link
		w := s.Call("GET", path, "", "Accept-Language", "es")
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), `<html lang="es">`, "facturas y pagos", `<form method="post" action="`+path+`"`,
			`name="robots" content="noindex"`)
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Set-Cookie": "",
			"Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %q, not %q", header, got, want)
			}
		}
	}
	if n := s.Events(t, "notification.preferences_set"); n != 0 || !mails(t, s, 1).OnInvoice {
		t.Fatalf("a GET has unsubscribed: %d events", n)
	}
	for range 2 {
		w := s.Call("POST", path, "List-Unsubscribe=One-Click", "Content-Type", "application/x-www-form-urlencoded")
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		paneltest.Has(t, w.Body.String(), `<html lang="en">`, "You will get no more mails about invoices and payments.")
	}
	want := notice.DefaultPreferences()
	want.OnInvoice = false
	if got := mails(t, s, 1); got != want {
		t.Errorf("%+v", got)
	}
	if got := mails(t, s, 2); got != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", got)
	}
	n := s.Count(t, `select count(*) from events where name = 'notification.preferences_set' and actor = 'user:1'
		and stream = 'preferences-1'
		and data::jsonb = '{"values":{"email_on_invoice":false},"through":"link in a mail"}'`)
	if n != 1 || s.Events(t, "notification.preferences_set") != 1 {
		t.Errorf("%d events", n)
	}
	if strings.Contains(s.Logged.String(), s.Unsubscribe(1)) {
		t.Error("a link that works is in the log")
	}
}

func TestAHundredClicksAtOnceAreOneEvent(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	path := reader(t, s, 1)
	for _, w := range s.AtOnce(20, func(int) *httptest.ResponseRecorder { return s.Call("POST", path, "") }) {
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.Events(t, "notification.preferences_set"); n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestAWrongLinkChangesNoPreferences(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	path := reader(t, s, 1)
	ended := reader(t, s, 2)
	if err := s.Accounts.Erase(t.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"}, 2); err != nil {
		t.Fatal(err)
	}
	before := s.Count(t, `select count(*) from events`)
	forged := notice.Unsubscription{User: 1, Preference: notice.Billing.Preference()}.Token([]byte("not our key"))
	for what, path := range map[string]string{
		"forged": "/notifications/unsubscribe/" + forged + "/", "cut off": path[:len(path)-9] + "/",
		"guessed":            "/notifications/unsubscribe/1/",
		"of an unknown user": "/notifications/unsubscribe/" + s.Unsubscribe(999) + "/", "of an erased user": ended,
		"not mails": "/notifications/unsubscribe/" + notice.Unsubscription{
			User:       1,
			Preference: "in_app_enabled",
		}.Token(s.Server.UnsubscribeKeys[0]) + "/",
	} {
		for _, method := range []string{"GET", "POST"} {
			w := s.Call(method, path, "", "Accept-Language", "es")
			if w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" ||
				!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				t.Errorf("%s %s: %d %v", method, what, w.Code, w.Header())
			}
			paneltest.Has(t, w.Body.String(), "Este enlace no funciona", `<html lang="es">`)
		}
	}
	if after := s.Count(t, `select count(*) from events`); after != before {
		t.Errorf("wrong links added %d events", after-before)
	}
}

// Repeated guesses of links are throttled. A valid link still works then.
func TestWhoTriesManyLinksIsStopped(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded)
	path := reader(t, s, 1)
	for i := range 21 {
		w := s.Call("POST", fmt.Sprintf("/notifications/unsubscribe/%d/", i), "")
		if want := map[bool]int{true: http.StatusNotFound, false: http.StatusTooManyRequests}[i < 20]; w.Code != want {
			t.Fatalf("try %d: %d %s", i+1, w.Code, w.Body)
		}
		if i == 20 && (w.Header().Get("Retry-After") == "" ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")) {
			t.Errorf("%v", w.Header())
		}
	}
	if w := s.Call("POST", path, ""); w.Code != http.StatusOK {
		t.Errorf("the right link: %d %s", w.Code, w.Body)
	}
}

// Alarms reach some superuser: the last who gets them is not unsubscribed by a click.
func TestAlarmsAreNotSwitchedOffByOneClickOfTheLastSuperuser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	path := func(user int64) string {
		about := notice.Unsubscription{User: user, Preference: notice.System.Preference()}
		return "/notifications/unsubscribe/" + about.Token(s.Server.UnsubscribeKeys[0]) + "/"
	}
	click := func(user int64, status int) {
		t.Helper()
		w := s.Call("POST", path(user), "List-Unsubscribe=One-Click", "Content-Type", "application/x-www-form-urlencoded")
		if w.Code != status || mails(t, s, user).OnSystem == (status == http.StatusOK) {
			t.Fatalf("%d, mails %v: %s", w.Code, mails(t, s, user).OnSystem, w.Body)
		}
	}
	click(paneltest.Ana, http.StatusOK) // no superuser: other mails of the same sort
	click(paneltest.Root, http.StatusConflict)
	s.Person(t, 31, "second@example.com", true)
	click(paneltest.Root, http.StatusOK)
	click(31, http.StatusConflict)
	s.Do(t, notice.SetPreferences{User: paneltest.Root, Values: field.Values{"email_on_system": []byte("true")}})
	s.Do(t, account.Deactivate{User: paneltest.Root, At: time.Now()})
	click(31, http.StatusConflict) // who may not sign in is told nothing
}

// The link at the end of a mail leads to all preferences of its reader, without a sign-in.
func TestReadersOfMailsChooseWhatTheyHearOf(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	path := reader(t, s, 1)
	reader(t, s, 2)
	b := s.Browser(t)
	b.Get(path, "Accept-Language", "en")
	to := b.LinkCalled("Choose which mails I get")
	if to != path+"preferences/" {
		t.Fatalf("%q", to)
	}
	w := b.Get(to, "Accept-Language", "en")
	if w.Code != http.StatusOK || w.Header().Get("Referrer-Policy") != "no-referrer" ||
		w.Header().Get("X-Robots-Tag") == "" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	b.IsForEverybody(t, "en", w.Body.String())
	boxes := 0
	for _, in := range paneltest.Elements(b.Page, "input") {
		if paneltest.Attribute(in, "type") == "checkbox" {
			boxes++
			if !paneltest.HasAttribute(in, "checked") {
				t.Errorf("%s is off", paneltest.Attribute(in, "name"))
			}
		}
	}
	if boxes != 6 {
		t.Errorf("%d boxes", boxes)
	}
	action, sent := b.Fill("preferences")
	sent.Del("email_on_invoice")
	sent.Del("in_app_enabled")
	paneltest.Goes(t, b.Do("POST", action, sent.Encode()), to)
	want := notice.DefaultPreferences()
	want.OnInvoice, want.InApp = false, false
	if got := mails(t, s, 1); got != want {
		t.Errorf("%+v", got)
	}
	if got := mails(t, s, 2); got != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", got)
	}
	paneltest.Has(t, b.Get(to, "Accept-Language", "en").Body.String(), "Your preferences are saved.")
	action, sent = b.Fill("preferences")
	sent.Set("email_on_invoice", "true")
	b.Do("POST", action, sent.Encode())
	if !mails(t, s, 1).OnInvoice || mails(t, s, 1).InApp {
		t.Errorf("%+v", mails(t, s, 1))
	}
	if n := s.Count(t, `select count(*) from events where name = 'notification.preferences_set' and actor = 'user:1' `+
		`and data::jsonb->>'through' = 'link in a mail'`); n != 2 {
		t.Errorf("%d events", n)
	}
	before := mails(t, s, 1)
	for _, body := range []string{"List-Unsubscribe=One-Click", "", "email_on_invoice=true"} { // not the form of the page
		if w := s.Call("POST", to, body, "Content-Type",
			"application/x-www-form-urlencoded"); w.Code != http.StatusBadRequest || mails(t, s, 1) != before {
			t.Errorf("%q: %d %+v", body, w.Code, mails(t, s, 1))
		}
	}
	forged := notice.Unsubscription{User: 1, Preference: notice.Billing.Preference()}.Token([]byte("not our key"))
	for _, method := range []string{"GET", "POST"} {
		if w := s.Call(method, "/notifications/unsubscribe/"+forged+"/preferences/", "form=preferences", "Content-Type",
			"application/x-www-form-urlencoded"); w.Code != http.StatusNotFound {
			t.Errorf("%s of a forged link: %d", method, w.Code)
		}
	}
}

// The last superuser who gets alarms switches them off only by confirming it in the form.
func TestTheLastSuperuserConfirmsThatAlarmsEnd(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	about := notice.Unsubscription{User: paneltest.Root, Preference: notice.System.Preference()}
	path := "/notifications/unsubscribe/" + about.Token(s.Server.UnsubscribeKeys[0]) + "/"
	b := s.Browser(t)
	b.Do("POST", path, "List-Unsubscribe=One-Click")
	to := b.LinkCalled("Choose which mails I get")
	b.Get(to)
	action, sent := b.Fill("preferences")
	sent.Del("email_on_system")
	paneltest.Refused(t, b.Do("POST", action, sent.Encode()), http.StatusBadRequest,
		"No other operator gets mails about alarms. Confirm that they end.")
	if !mails(t, s, paneltest.Root).OnSystem {
		t.Fatal("the alarms have ended")
	}
	action, sent = b.Fill("preferences", "no_alarms", "true")
	sent.Del("email_on_system")
	paneltest.Goes(t, b.Do("POST", action, sent.Encode()), to)
	if mails(t, s, paneltest.Root).OnSystem {
		t.Fatal("the alarms go on")
	}
	if w := s.Call("POST", path, "List-Unsubscribe=One-Click", "Content-Type",
		"application/x-www-form-urlencoded"); w.Code != http.StatusOK {
		t.Errorf("a click after that: %d", w.Code) // there is nothing to end any more
	}
	if text := b.Get(to).Body.String(); strings.Contains(text, "no_alarms") {
		t.Error("the page asks to confirm what is so already")
	}
}

// The page of one's own preferences asks the last superuser in the same way.
func TestTheLastSuperuserConfirmsThatAlarmsEndAlsoInThePanel(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	b := s.Visiting(t, paneltest.Root)
	page := b.Get("/account/preferences/").Body.String()
	paneltest.Has(t, page, "no_alarms")
	path, sent := b.Fill("preferences")
	sent.Del("email_on_system")
	paneltest.Refused(t, b.Do("POST", path, sent.Encode()), http.StatusBadRequest,
		"No other operator gets mails about alarms. Confirm that they end.")
	if !mails(t, s, paneltest.Root).OnSystem {
		t.Fatal("the alarms have ended")
	}
	b.Get(path)
	path, sent = b.Fill("preferences", "no_alarms", "true")
	sent.Del("email_on_system")
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), path)
	if mails(t, s, paneltest.Root).OnSystem {
		t.Fatal("the alarms go on")
	}
}
