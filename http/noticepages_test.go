package http_test

import (
	"fmt"
	"net/http"
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
