package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"hostpanel/domain/notice"
	"hostpanel/http/web"
)

// bell is the link with the number of unread notifications in the header of the page.
func (b *browser) bell() *html.Node {
	b.t.Helper()
	for _, link := range elements(b.page, "a") {
		if attribute(link, "class") == "bell" {
			return link
		}
	}
	b.t.Fatalf("there is no bell on %s", b.at)
	return nil
}

// unread is the number that the bell shows.
func (b *browser) unread() string {
	b.t.Helper()
	for _, part := range elements(b.bell(), "span") {
		if attribute(part, "class") == "number" && part.FirstChild != nil {
			return part.FirstChild.Data
		}
	}
	return ""
}

// Users read what they were told and mark it as read, one or all at once. The bell on
// every page tells how many are left, and the stream that it follows answers.
func TestAUserReadsNotificationsInTheBrowser(t *testing.T) {
	s := openShop(t).people(t).told(t)
	b := s.visiting(t, ben)
	text := b.get(web.NotificationsPath).Body.String()
	b.isForEverybody(t, "en", text)
	if strings.Contains(text, "Ana's eyes") {
		t.Error("another user's notification is shown")
	}
	if third, first := strings.Index(text, "An invoice"), strings.Index(text, "Your order is active"); third < 0 || first < third {
		t.Errorf("not newest first: %d, %d", third, first)
	}
	has(t, text, `<span class="count">3</span>`, `data-live="`+noticeStream+`"`)
	if b.unread() != "3" {
		t.Errorf("the bell shows %q", b.unread())
	}
	if w := b.get(attribute(b.bell(), "data-count")); w.Body.String() != `{"unread_count":3}` {
		t.Errorf("the bell asks: %d %s", w.Code, w.Body)
	}
	b.get(web.NotificationsPath + "?is_read=false")
	goes(t, b.send(s.known["second"]), web.NotificationsPath+"?is_read=false")
	text = b.get(web.NotificationsPath + "?is_read=false").Body.String()
	has(t, text, "It is marked as read.", `<span class="count">2</span>`)
	if strings.Contains(text, "It is there.") || b.unread() != "2" {
		t.Errorf("it is still unread; the bell shows %q", b.unread())
	}
	path, sent := b.fill("notices_read")
	for range 2 {
		goes(t, b.twin().do("POST", path, sent.Encode()), path)
	}
	b.get("/panel/")
	if b.unread() != "" {
		t.Errorf("the bell shows %q", b.unread())
	}
	has(t, b.get(web.NotificationsPath+"?is_read=false").Body.String(), "There are none.")
	if n := s.count(t, `select unread from inboxes where user_id = $1`, ana); n != 1 {
		t.Errorf("%d notifications of another user are unread", n)
	}
}

// The form of another user's page marks nothing, and neither does one about nothing.
func TestNoUserMarksWhatOthersWereTold(t *testing.T) {
	s := openShop(t).people(t).told(t)
	b := s.visiting(t, ben)
	b.get(web.NotificationsPath)
	path, sent := b.fill(s.known["first"])
	for of, status := range map[string]int{s.known["foreign"]: http.StatusNotFound, "x": http.StatusBadRequest} {
		sent.Set("of", of)
		if w := b.twin().do("POST", path, sent.Encode()); w.Code != status {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	if n := s.count(t, `select sum(unread)::int from inboxes`); n != 4 {
		t.Errorf("%d are unread", n)
	}
}

// A list that is longer than a page is read page by page, and a form comes back to its page.
func TestManyNotificationsAreReadInPages(t *testing.T) {
	s := openShop(t).people(t)
	for i := range 120 {
		s.raise(t, ben, fmt.Sprintf("News %d.", i))
	}
	hostile := notice.Text{Type: notice.Info, Title: "<b>Hostile</b>", Message: "<script>alert(1)</script>", URL: "/panel/?a=<b>"}
	id := s.raise(t, ben, "one more")
	s.do(t, notice.Raise{ID: lonely.ID(), InApp: true, User: ben, Text: hostile, At: time.Now()}, notice.MarkRead{ID: id, At: time.Now()})
	b := s.visiting(t, ben)
	text := b.get(web.NotificationsPath).Body.String()
	has(t, text, "&lt;b&gt;Hostile", "&lt;script&gt;", `href="/panel/?a=%3cb%3e"`, `<span class="count">122</span>`)
	if b.unread() != "99+" {
		t.Errorf("the bell shows %q", b.unread())
	}
	last := web.NotificationsPath + "?page=5"
	text = b.get(last).Body.String()
	has(t, text, "News 0.", `rel="prev"`)
	if strings.Contains(text, `rel="next"`) {
		t.Error("there is a page after the last")
	}
	_, sent := b.fill("notice_read")
	goes(t, b.send(sent.Get("of")), last)
}

// The page of preferences has what the API has, and does the same.
func TestAUserChoosesWhatToHearOfInTheBrowser(t *testing.T) {
	s := openShop(t).people(t)
	s.do(t, speaks(ben, "es"))
	b := s.visiting(t, ben)
	b.isForEverybody(t, "es", b.get(web.PreferencesPath).Body.String())
	s.do(t, speaks(ben, "en"))
	text := b.get(web.PreferencesPath).Body.String()
	b.isForEverybody(t, "en", text)
	for _, f := range (&notice.Preferences{}).Fields() {
		has(t, text, `name="`+f.Name+`" type="checkbox" value="true" checked`)
	}
	path, sent := b.fill("preferences")
	sent.Del("email_on_invoice")
	sent.Del("in_app_enabled")
	goes(t, b.do("POST", path, sent.Encode()), path)
	has(t, b.get(path).Body.String(), "Your preferences are saved.", `name="email_on_invoice" type="checkbox" value="true"`)
	if p := s.mails(t, ben); p.OnInvoice || p.InApp || !p.OnSystem || !p.OnHostingAlert {
		t.Errorf("%+v", p)
	}
	if p := s.mails(t, ana); p != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", p)
	}
	goes(t, b.send("preferences"), path)
	if n := s.events(t, "notification.preferences_set"); n != 1 {
		t.Errorf("%d events", n)
	}
}

// A form that was made from what is not so any more changes nothing. It says what is so
// now, and sent again it means that.
func TestAFormDoesNotOverwriteWhatWasChangedMeanwhile(t *testing.T) {
	s := openShop(t).people(t)
	b := s.visiting(t, ben)
	b.get(web.PreferencesPath)
	path, sent := b.fill("preferences")
	sent.Del("email_on_system")
	for _, version := range []string{"", "x"} {
		old := url.Values{"form": sent["form"], "form_token": sent["form_token"], "version": {version}}
		if w := b.twin().do("POST", path, old.Encode()); w.Code != http.StatusBadRequest && w.Code != http.StatusConflict {
			t.Errorf("version %q: %d", version, w.Code)
		}
	}
	off := []byte("false")
	s.do(t, notice.SetPreferences{User: ben, Values: map[string]json.RawMessage{"email_on_invoice": off}})
	w := b.do("POST", path, sent.Encode())
	refused(t, w, http.StatusConflict, "This was changed meanwhile, so nothing was saved.", `id="preferences-email_on_invoice-wrong"><span>It is now: no</span>`,
		`id="preferences-email_on_system-wrong"><span>It is now: yes</span>`)
	if strings.Contains(w.Body.String(), "preferences-email_on_vps_alert-wrong") {
		t.Error("what is the same is said to be changed")
	}
	b.isForEverybody(t, "en", w.Body.String())
	if p := s.mails(t, ben); !p.OnSystem || p.OnInvoice {
		t.Errorf("it was overwritten: %+v", p)
	}
	goes(t, b.send("preferences"), path)
	if p := s.mails(t, ben); p.OnSystem || !p.OnInvoice {
		t.Errorf("what was sent again: %+v", p)
	}
}
