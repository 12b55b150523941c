package http_test

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
	"hostpanel/projections"
)

// unsubscribe returns the token in mails about invoices to a user.
func (s *shop) unsubscribe(user int64) string {
	return notice.Unsubscription{User: user, Preference: notice.Billing.Preference()}.Token(s.server.UnsubscribeKeys[0])
}

// reader creates an account that gets mails, and returns its unsubscribe link.
func (s *shop) reader(t *testing.T, user int64) (path string) {
	t.Helper()
	s.do(t, account.Open{User: user, SubjectID: uuid.New(), Email: fmt.Sprintf("reader%d@example.com", user), Name: "Ana", Language: "es", At: time.Now()})
	return "/notifications/unsubscribe/" + s.unsubscribe(user) + "/"
}

func (s *shop) mails(t *testing.T, user int64) notice.Preferences {
	t.Helper()
	preferences, _, err := s.For(projections.System).Preferences(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	return preferences
}

func TestALinkInAMailStopsMailsOfItsSort(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	path := s.reader(t, 1)
	s.reader(t, 2)
	for range 3 { // a GET changes nothing, so programs may follow the link
		w := s.call("GET", path, "", "Accept-Language", "es")
		if w.Code != http.StatusOK {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		has(t, w.Body.String(), `<html lang="es">`, "facturas y pagos", `<form method="post" action="`+path+`"`, `name="robots" content="noindex"`)
		for header, want := range map[string]string{
			"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex, nofollow", "Set-Cookie": "", "Access-Control-Allow-Origin": "",
		} {
			if got := w.Header().Get(header); got != want {
				t.Errorf("%s: %q, not %q", header, got, want)
			}
		}
	}
	if n := s.events(t, "notification.preferences_set"); n != 0 || !s.mails(t, 1).OnInvoice {
		t.Fatalf("a GET has unsubscribed: %d events", n)
	}
	for range 2 {
		w := s.call("POST", path, "List-Unsubscribe=One-Click", "Content-Type", "application/x-www-form-urlencoded")
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		has(t, w.Body.String(), `<html lang="en">`, "You will get no more mails about invoices and payments.")
	}
	want := notice.DefaultPreferences()
	want.OnInvoice = false
	if got := s.mails(t, 1); got != want {
		t.Errorf("%+v", got)
	}
	if got := s.mails(t, 2); got != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", got)
	}
	n := s.count(t, `select count(*) from events where name = 'notification.preferences_set' and actor = 'user:1' and stream = 'preferences-1'
		and data::jsonb = '{"values":{"email_on_invoice":false},"through":"link in a mail"}'`)
	if n != 1 || s.events(t, "notification.preferences_set") != 1 {
		t.Errorf("%d events", n)
	}
	if strings.Contains(s.logged.String(), s.unsubscribe(1)) {
		t.Error("a link that works is in the log")
	}
}

// Servers of mail providers unsubscribe without cookies and form tokens, with
// any headers.
func TestMailProvidersUnsubscribeWithOneClick(t *testing.T) {
	t.Parallel()
	s := openShop(t, guarded)
	for i, headers := range [][]string{
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Content-Type", "multipart/form-data; boundary=x"},
		{"Content-Type", "application/json"},
		{},
		{"Content-Type", "application/x-www-form-urlencoded", "Origin", "https://mail.example", "Sec-Fetch-Site", "cross-site", "Referer", "https://mail.example/"},
		{"Origin", "null"},
		{"Accept", "application/json"},
		{"Accept", "*/*", "User-Agent", ""},
		{"Authorization", "Bearer nonsense", "Cookie", "session=nonsense"},
	} {
		user := int64(i + 1)
		path := s.reader(t, user)
		for range 20 {
			if w := s.call("POST", path, "--x\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--", headers...); w.Code != http.StatusOK {
				t.Fatalf("%v: %d %s", headers, w.Code, w.Body)
			}
		}
		if s.mails(t, user).OnInvoice {
			t.Errorf("%v: still mailed", headers)
		}
	}
	if w := s.call("POST", s.reader(t, 50), strings.Repeat("x", 65<<10)); w.Code != http.StatusRequestEntityTooLarge || !s.mails(t, 50).OnInvoice {
		t.Errorf("a body without end: %d", w.Code)
	}
}

func TestAHundredClicksAtOnceAreOneEvent(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	path := s.reader(t, 1)
	for _, w := range s.atOnce(20, func(int) *httptest.ResponseRecorder { return s.call("POST", path, "") }) {
		if w.Code != http.StatusOK {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := s.events(t, "notification.preferences_set"); n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestAWrongLinkChangesNoPreferences(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	path := s.reader(t, 1)
	ended := s.reader(t, 2)
	if err := s.Accounts.Erase(t.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"}, 2); err != nil {
		t.Fatal(err)
	}
	before := s.count(t, `select count(*) from events`)
	forged := notice.Unsubscription{User: 1, Preference: notice.Billing.Preference()}.Token([]byte("not our key"))
	for what, path := range map[string]string{
		"forged": "/notifications/unsubscribe/" + forged + "/", "cut off": path[:len(path)-9] + "/", "guessed": "/notifications/unsubscribe/1/",
		"of an unknown user": "/notifications/unsubscribe/" + s.unsubscribe(999) + "/", "of an erased user": ended,
		"not mails": "/notifications/unsubscribe/" + notice.Unsubscription{User: 1, Preference: "in_app_enabled"}.Token(s.server.UnsubscribeKeys[0]) + "/",
	} {
		for _, method := range []string{"GET", "POST"} {
			w := s.call(method, path, "", "Accept-Language", "es")
			if w.Code != http.StatusNotFound || w.Header().Get("Cache-Control") != "no-store" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				t.Errorf("%s %s: %d %v", method, what, w.Code, w.Header())
			}
			has(t, w.Body.String(), "Este enlace no funciona", `<html lang="es">`)
		}
	}
	if after := s.count(t, `select count(*) from events`); after != before {
		t.Errorf("wrong links added %d events", after-before)
	}
}

// Repeated guesses of links are throttled. A valid link still works then.
func TestWhoTriesManyLinksIsStopped(t *testing.T) {
	t.Parallel()
	s := openShop(t, guarded)
	path := s.reader(t, 1)
	for i := range 21 {
		w := s.call("POST", fmt.Sprintf("/notifications/unsubscribe/%d/", i), "")
		if want := map[bool]int{true: http.StatusNotFound, false: http.StatusTooManyRequests}[i < 20]; w.Code != want {
			t.Fatalf("try %d: %d %s", i+1, w.Code, w.Body)
		}
		if i == 20 && (w.Header().Get("Retry-After") == "" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")) {
			t.Errorf("%v", w.Header())
		}
	}
	if w := s.call("POST", path, ""); w.Code != http.StatusOK {
		t.Errorf("the right link: %d %s", w.Code, w.Body)
	}
}

// Alarms reach some superuser: the last who gets them is not unsubscribed by a click.
func TestAlarmsAreNotSwitchedOffByOneClickOfTheLastSuperuser(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	path := func(user int64) string {
		about := notice.Unsubscription{User: user, Preference: notice.System.Preference()}
		return "/notifications/unsubscribe/" + about.Token(s.server.UnsubscribeKeys[0]) + "/"
	}
	click := func(user int64, status int) {
		t.Helper()
		w := s.call("POST", path(user), "List-Unsubscribe=One-Click", "Content-Type", "application/x-www-form-urlencoded")
		if w.Code != status || s.mails(t, user).OnSystem == (status == http.StatusOK) {
			t.Fatalf("%d, mails %v: %s", w.Code, s.mails(t, user).OnSystem, w.Body)
		}
	}
	click(ana, http.StatusOK) // no superuser: other mails of the same sort
	click(root, http.StatusConflict)
	s.person(t, 31, "second@example.com", true)
	click(root, http.StatusOK)
	click(31, http.StatusConflict)
	s.do(t, notice.SetPreferences{User: root, Values: field.Values{"email_on_system": []byte("true")}})
	s.do(t, account.Deactivate{User: root, At: time.Now()})
	click(31, http.StatusConflict) // who may not sign in is told nothing
}

// The link at the end of a mail leads to all preferences of its reader, without a sign-in.
func TestReadersOfMailsChooseWhatTheyHearOf(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	path := s.reader(t, 1)
	s.reader(t, 2)
	b := s.browser(t)
	b.get(path, "Accept-Language", "en")
	to := b.linkCalled("Choose which mails I get")
	if to != path+"preferences/" {
		t.Fatalf("%q", to)
	}
	w := b.get(to, "Accept-Language", "en")
	if w.Code != http.StatusOK || w.Header().Get("Referrer-Policy") != "no-referrer" || w.Header().Get("X-Robots-Tag") == "" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	b.isForEverybody(t, "en", w.Body.String())
	boxes := 0
	for _, in := range elements(b.page, "input") {
		if attribute(in, "type") == "checkbox" {
			boxes++
			if !hasAttribute(in, "checked") {
				t.Errorf("%s is off", attribute(in, "name"))
			}
		}
	}
	if boxes != 6 {
		t.Errorf("%d boxes", boxes)
	}
	action, sent := b.fill("preferences")
	sent.Del("email_on_invoice")
	sent.Del("in_app_enabled")
	goes(t, b.do("POST", action, sent.Encode()), to)
	want := notice.DefaultPreferences()
	want.OnInvoice, want.InApp = false, false
	if got := s.mails(t, 1); got != want {
		t.Errorf("%+v", got)
	}
	if got := s.mails(t, 2); got != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", got)
	}
	has(t, b.get(to, "Accept-Language", "en").Body.String(), "Your preferences are saved.")
	action, sent = b.fill("preferences")
	sent.Set("email_on_invoice", "true")
	b.do("POST", action, sent.Encode())
	if !s.mails(t, 1).OnInvoice || s.mails(t, 1).InApp {
		t.Errorf("%+v", s.mails(t, 1))
	}
	if n := s.count(t, `select count(*) from events where name = 'notification.preferences_set' and actor = 'user:1' and data::jsonb->>'through' = 'link in a mail'`); n != 2 {
		t.Errorf("%d events", n)
	}
	before := s.mails(t, 1)
	for _, body := range []string{"List-Unsubscribe=One-Click", "", "email_on_invoice=true"} { // not the form of the page
		if w := s.call("POST", to, body, "Content-Type", "application/x-www-form-urlencoded"); w.Code != http.StatusBadRequest || s.mails(t, 1) != before {
			t.Errorf("%q: %d %+v", body, w.Code, s.mails(t, 1))
		}
	}
	forged := notice.Unsubscription{User: 1, Preference: notice.Billing.Preference()}.Token([]byte("not our key"))
	for _, method := range []string{"GET", "POST"} {
		if w := s.call(method, "/notifications/unsubscribe/"+forged+"/preferences/", "form=preferences", "Content-Type", "application/x-www-form-urlencoded"); w.Code != http.StatusNotFound {
			t.Errorf("%s of a forged link: %d", method, w.Code)
		}
	}
}

// The last superuser who gets alarms switches them off only by confirming it in the form.
func TestTheLastSuperuserConfirmsThatAlarmsEnd(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	about := notice.Unsubscription{User: root, Preference: notice.System.Preference()}
	path := "/notifications/unsubscribe/" + about.Token(s.server.UnsubscribeKeys[0]) + "/"
	b := s.browser(t)
	b.do("POST", path, "List-Unsubscribe=One-Click")
	to := b.linkCalled("Choose which mails I get")
	b.get(to)
	action, sent := b.fill("preferences")
	sent.Del("email_on_system")
	refused(t, b.do("POST", action, sent.Encode()), http.StatusBadRequest, "No other operator gets mails about alarms. Confirm that they end.")
	if !s.mails(t, root).OnSystem {
		t.Fatal("the alarms have ended")
	}
	action, sent = b.fill("preferences", "no_alarms", "true")
	sent.Del("email_on_system")
	goes(t, b.do("POST", action, sent.Encode()), to)
	if s.mails(t, root).OnSystem {
		t.Fatal("the alarms go on")
	}
	if w := s.call("POST", path, "List-Unsubscribe=One-Click", "Content-Type", "application/x-www-form-urlencoded"); w.Code != http.StatusOK {
		t.Errorf("a click after that: %d", w.Code) // there is nothing to end any more
	}
	if text := b.get(to).Body.String(); strings.Contains(text, "no_alarms") {
		t.Error("the page asks to confirm what is so already")
	}
}

// The page of one's own preferences asks the last superuser in the same way.
func TestTheLastSuperuserConfirmsThatAlarmsEndAlsoInThePanel(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	b := s.visiting(t, root)
	page := b.get("/account/preferences/").Body.String()
	has(t, page, "no_alarms")
	path, sent := b.fill("preferences")
	sent.Del("email_on_system")
	refused(t, b.do("POST", path, sent.Encode()), http.StatusBadRequest, "No other operator gets mails about alarms. Confirm that they end.")
	if !s.mails(t, root).OnSystem {
		t.Fatal("the alarms have ended")
	}
	b.get(path)
	path, sent = b.fill("preferences", "no_alarms", "true")
	sent.Del("email_on_system")
	goes(t, b.do("POST", path, sent.Encode()), path)
	if s.mails(t, root).OnSystem {
		t.Fatal("the alarms go on")
	}
}
