package notices_test

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
	"hostpanel/paneltest"
)

// bell is the link with the number of unread notifications in the header of the page.
func bell(b *paneltest.Browser) *html.Node {
	b.T.Helper()
	for _, link := range paneltest.Elements(b.Page, "a") {
		if paneltest.Attribute(link, "class") == "bell" {
			return link
		}
	}
	b.T.Fatalf("there is no bell on %s", b.Address)
	return nil
}

// unread is the number that the bell shows.
func unread(b *paneltest.Browser) string {
	b.T.Helper()
	for _, part := range paneltest.Elements(bell(b), "span") {
		if paneltest.Attribute(part, "class") == "number" && part.FirstChild != nil {
			return part.FirstChild.Data
		}
	}
	return ""
}

// The form of another user's page marks nothing, and neither does one about nothing.
func TestNoUserMarksWhatOthersWereTold(t *testing.T) {
	s := paneltest.Open(t).People(t).Told(t)
	b := s.Visiting(t, paneltest.Ben)
	b.Get(web.NotificationsPath)
	path, sent := b.Fill(s.Known["first"])
	for of, status := range map[string]int{s.Known["foreign"]: http.StatusNotFound, "x": http.StatusBadRequest} {
		sent.Set("of", of)
		if w := b.Twin().Do("POST", path, sent.Encode()); w.Code != status {
			t.Errorf("%s: %d %s", of, w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select sum(unread)::int from inboxes`); n != 4 {
		t.Errorf("%d are unread", n)
	}
}

// A list that is longer than a page is read page by page, and a form comes back to its page.
func TestManyNotificationsAreReadInPages(t *testing.T) {
	s := paneltest.Open(t).People(t)
	for i := range 120 {
		s.Raise(t, paneltest.Ben, fmt.Sprintf("News %d.", i))
	}
	hostile := notice.Text{
		Type: notice.Info, Title: "<b>Hostile</b>", Message: "<script>alert(1)</script>",
		URL: "/panel/?a=<b>",
	}
	id := s.Raise(t, paneltest.Ben, "one more")
	s.Do(t, notice.Raise{ID: paneltest.Lonely.ID(), InApp: true, User: paneltest.Ben, Text: hostile, At: time.Now()},
		notice.MarkRead{ID: id, At: time.Now()})
	b := s.Visiting(t, paneltest.Ben)
	text := b.Get(web.NotificationsPath).Body.String()
	paneltest.Has(t, text, "&lt;b&gt;Hostile", "&lt;script&gt;", `href="/panel/?a=%3cb%3e"`,
		`<span class="count">122</span>`)
	if unread(b) != "99+" {
		t.Errorf("the bell shows %q", unread(b))
	}
	last := web.NotificationsPath + "?page=5"
	text = b.Get(last).Body.String()
	paneltest.Has(t, text, "News 0.", `rel="prev"`)
	if strings.Contains(text, `rel="next"`) {
		t.Error("there is a page after the last")
	}
	_, sent := b.Fill("notice_read")
	paneltest.Goes(t, b.Send(sent.Get("of")), last)
}

// The page of preferences has what the API has, and does the same.
func TestAUserChoosesWhatToHearOfInTheBrowser(t *testing.T) {
	s := paneltest.Open(t).People(t)
	s.Do(t, paneltest.Speaks(paneltest.Ben, "es"))
	b := s.Visiting(t, paneltest.Ben)
	b.IsForEverybody(t, "es", b.Get(web.PreferencesPath).Body.String())
	s.Do(t, paneltest.Speaks(paneltest.Ben, "en"))
	text := b.Get(web.PreferencesPath).Body.String()
	b.IsForEverybody(t, "en", text)
	for _, f := range (&notice.Preferences{}).Fields() {
		paneltest.Has(t, text, `name="`+f.Name+`" type="checkbox" value="true" checked`)
	}
	path, sent := b.Fill("preferences")
	sent.Del("email_on_invoice")
	sent.Del("in_app_enabled")
	paneltest.Goes(t, b.Do("POST", path, sent.Encode()), path)
	paneltest.Has(t, b.Get(path).Body.String(), "Your preferences are saved.",
		`name="email_on_invoice" type="checkbox" value="true"`)
	if p := mails(t, s, paneltest.Ben); p.OnInvoice || p.InApp || !p.OnSystem || !p.OnHostingAlert {
		t.Errorf("%+v", p)
	}
	if p := mails(t, s, paneltest.Ana); p != notice.DefaultPreferences() {
		t.Errorf("another user: %+v", p)
	}
	paneltest.Goes(t, b.Send("preferences"), path)
	if n := s.Events(t, "notification.preferences_set"); n != 1 {
		t.Errorf("%d events", n)
	}
}

// A form that was made from what is not so any more changes nothing. It says what is so
// now, and sent again it means that.
func TestAFormDoesNotOverwriteWhatWasChangedMeanwhile(t *testing.T) {
	s := paneltest.Open(t).People(t)
	b := s.Visiting(t, paneltest.Ben)
	b.Get(web.PreferencesPath)
	path, sent := b.Fill("preferences")
	sent.Del("email_on_system")
	for _, version := range []string{"", "x"} {
		old := url.Values{"form": sent["form"], "form_token": sent["form_token"], "version": {version}}
		if w := b.Twin().Do("POST", path, old.Encode()); w.Code != http.StatusBadRequest && w.Code != http.StatusConflict {
			t.Errorf("version %q: %d", version, w.Code)
		}
	}
	off := []byte("false")
	s.Do(t, notice.SetPreferences{User: paneltest.Ben, Values: map[string]json.RawMessage{"email_on_invoice": off}})
	w := b.Do("POST", path, sent.Encode())
	paneltest.Refused(t, w, http.StatusConflict, "This was changed meanwhile, so nothing was saved.",
		`id="preferences-email_on_invoice-wrong"><span>It is now: no</span>`,
		`id="preferences-email_on_system-wrong"><span>It is now: yes</span>`)
	if strings.Contains(w.Body.String(), "preferences-email_on_vps_alert-wrong") {
		t.Error("what is the same is said to be changed")
	}
	b.IsForEverybody(t, "en", w.Body.String())
	if p := mails(t, s, paneltest.Ben); !p.OnSystem || p.OnInvoice {
		t.Errorf("it was overwritten: %+v", p)
	}
	paneltest.Goes(t, b.Send("preferences"), path)
	if p := mails(t, s, paneltest.Ben); p.OnSystem || !p.OnInvoice {
		t.Errorf("what was sent again: %+v", p)
	}
}
