package paneltest

import (
	"cmp"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// A Browser keeps cookies and sends forms with all their fields. It does not
// follow redirects.
type Browser struct {
	*Shop
	T       testing.TB
	Cookies map[string]string
	Page    *html.Node // the last page
	Address string

	peer, host string // from where it calls, and whom; "": those of httptest
}

// Browser is a new browser.
func (s *Shop) Browser(t testing.TB) *Browser {
	return &Browser{Shop: s, T: t, Cookies: map[string]string{}}
}

// Twin returns a browser with the same cookies and the same page.
func (b *Browser) Twin() *Browser {
	return &Browser{Shop: b.Shop, T: b.T, Cookies: maps.Clone(b.Cookies), Page: b.Page, Address: b.Address, peer: b.peer, host: b.host}
}

// From lets the browser call from an address, under a name of the panel.
func (b *Browser) From(peer, host string) *Browser { b.peer, b.host = peer, host; return b }

// OnThisMachine lets the browser run beside the panel.
func (b *Browser) OnThisMachine() *Browser { return b.From("127.0.0.1:5", "127.0.0.1:8080") }

// Do sends a request with the cookies of the browser.
func (b *Browser) Do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	b.T.Helper()
	for name, value := range b.Cookies {
		headers = append(headers, "Cookie", name+"="+value)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	r.RemoteAddr, r.Host = cmp.Or(b.peer, r.RemoteAddr), cmp.Or(b.host, r.Host)
	w := httptest.NewRecorder()
	b.Handler.ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		b.Cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(b.Cookies, cookie.Name)
		}
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		b.Address = path
		var err error
		if b.Page, err = html.Parse(strings.NewReader(w.Body.String())); err != nil {
			b.T.Error(err)
		}
	}
	return w
}

// Get opens a page.
func (b *Browser) Get(path string, headers ...string) *httptest.ResponseRecorder {
	b.T.Helper()
	return b.Do("GET", path, "", headers...)
}

// Fill returns a form of the page as a browser sends it, with some fields changed.
func (b *Browser) Fill(name string, fields ...string) (path string, sent url.Values) {
	b.T.Helper()
	for _, f := range Elements(b.Page, "form") {
		sent = url.Values{}
		for _, tag := range []string{"input", "select", "textarea"} {
			for _, in := range Elements(f, tag) {
				if isLeftOut := Attribute(in, "type") == "checkbox" && !HasAttribute(in, "checked"); Attribute(in, "name") != "" &&
					!isLeftOut {
					sent.Set(Attribute(in, "name"), valueOf(in))
				}
			}
		}
		if sent.Get("form") == name || sent.Get("of") == name && name != "" {
			for i := 0; i < len(fields); i += 2 {
				sent.Set(fields[i], fields[i+1])
			}
			return Attribute(f, "action"), sent
		}
	}
	b.T.Fatalf("there is no form %q on %s", name, b.Address)
	return "", nil
}

// Send fills in a form of the page and sends it.
func (b *Browser) Send(name string, fields ...string) *httptest.ResponseRecorder {
	b.T.Helper()
	path, sent := b.Fill(name, fields...)
	return b.Do("POST", path, sent.Encode())
}

// SessionID is the id of the session; "": there is none.
func (b *Browser) SessionID() string { return b.Cookies["__Host-session"] }

// Goes checks that an answer redirects to a path.
func Goes(t testing.TB, w *httptest.ResponseRecorder, path string) {
	t.Helper()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
		t.Errorf("%d to %q, not to %s: %s", w.Code, w.Header().Get("Location"), path, w.Body)
	}
}

// Refused checks that an answer is an error page with these texts.
func Refused(t testing.TB, w *httptest.ResponseRecorder, status int, parts ...string) {
	t.Helper()
	if w.Code != status {
		t.Errorf("%d instead of %d: %s", w.Code, status, w.Body)
	}
	text := html.UnescapeString(w.Body.String())
	for _, part := range append(parts, `role="alert"`, "<title>Error:") {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

// Elements are the elements below a node.
func Elements(n *html.Node, tag string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == tag {
			all = append(all, d)
		}
	}
	return all
}

// Attribute is the value of an attribute; "": there is none.
func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// HasAttribute reports whether a node has an attribute.
func HasAttribute(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// TextOf is the text of a node.
func TextOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
		if d.Type == html.ElementNode && d.Data == "img" {
			text.WriteString(Attribute(d, "alt"))
		}
	}
	return strings.TrimSpace(text.String())
}

// valueOf is the value of a field of a form.
func valueOf(in *html.Node) string {
	switch in.Data {
	case "textarea":
		return TextOf(in)
	case "select":
		for _, o := range Elements(in, "option") {
			if HasAttribute(o, "selected") {
				return Attribute(o, "value")
			}
		}
		return ""
	}
	return Attribute(in, "value")
}

// inline is what a page that needs no exception from its policy has not.
var inline = regexp.MustCompile(`<style|<[^>]*(?: style=| on\w+=|javascript:)`)

// IsForEverybody demands of a page what makes it accessible, in its language.
func (b *Browser) IsForEverybody(t *testing.T, language, text string) {
	t.Helper()
	problem := func(what string) {
		t.Helper()
		t.Errorf("%s in %s: %s\n%s", b.Address, language, what, text)
	}
	if lang := Attribute(Elements(b.Page, "html")[0], "lang"); lang != language {
		problem("its language is " + lang)
	}
	if len(Elements(b.Page, "h1")) != 1 || len(Elements(b.Page, "main")) != 1 ||
		TextOf(Elements(b.Page, "title")[0]) == "" {
		problem("no single heading, main part or title")
	}
	for _, script := range Elements(b.Page, "script") {
		if !strings.HasPrefix(Attribute(script, "src"), "/") || TextOf(script) != "" {
			problem("it has a script that is no file of ours")
		}
	}
	if forbidden := inline.FindString(text); forbidden != "" {
		problem("it has " + forbidden)
	}
	ids, labels := map[string]int{}, map[string]string{}
	for d := range b.Page.Descendants() {
		if id := Attribute(d, "id"); id != "" {
			ids[id]++
		}
		if d.Data == "label" {
			labels[Attribute(d, "for")] = TextOf(d)
		}
	}
	for _, tag := range []string{"input", "select", "textarea"} {
		for _, in := range Elements(b.Page, tag) {
			if Attribute(in, "type") != "hidden" && !HasAttribute(in, "hidden") && labels[Attribute(in, "id")] == "" {
				problem(Attribute(in, "id") + " has no label")
			}
			for id := range strings.FieldsSeq(Attribute(in, "aria-describedby")) {
				if ids[id] != 1 {
					problem(id + " explains nothing")
				}
			}
			if Attribute(in, "type") == "password" && (Attribute(in, "autocomplete") == "" || Attribute(in, "value") != "") {
				problem("a password is not for password managers, or is shown")
			}
		}
	}
	for id, n := range ids {
		if n != 1 {
			problem("two things are called " + id)
		}
	}
	for _, a := range Elements(b.Page, "a") {
		if target, inside := strings.CutPrefix(Attribute(a, "href"), "#"); TextOf(a) == "" || inside && ids[target] != 1 {
			problem("a link leads nowhere or says nothing")
		}
	}
	for _, button := range Elements(b.Page, "button") {
		if TextOf(button) == "" {
			problem("a button says nothing")
		}
	}
	if strings.Contains(text, "no value") {
		problem("something is missing")
	}
}

// Makes sends the form for a new record, twice, and answers with the page of the record.
func (b *Browser) Makes(collection string, fields ...string) string {
	b.T.Helper()
	b.Get("/panel/" + collection + "/new/")
	path, sent := b.Fill("panel_create", fields...)
	twin := b.Twin()
	first := b.Do("POST", path, sent.Encode())
	if first.Code != http.StatusSeeOther {
		b.T.Fatalf("%s %v: %d %s", collection, fields, first.Code, first.Body)
	}
	page := first.Header().Get("Location")
	Goes(b.T, twin.Do("POST", path, sent.Encode()), page)
	return page
}

// ShownKey is the key that a page shows.
func (b *Browser) ShownKey() string {
	for _, in := range Elements(b.Page, "textarea") {
		if Attribute(in, "id") == "key" {
			return TextOf(in)
		}
	}
	return ""
}

// LinkCalled is where a link of the page leads; "": there is none.
func (b *Browser) LinkCalled(text string) string {
	for _, a := range Elements(b.Page, "a") {
		if TextOf(a) == text {
			return Attribute(a, "href")
		}
	}
	return ""
}

// Refusals of calls with a session.
const (
	CsrfFailed = `{"detail":"CSRF Failed: CSRF token missing or incorrect."}`
	AskedAgain = `{"detail":"The password has to be given again.","code":"reauthentication_required"}`
)

// Csrf is the token of the page that the browser shows.
func (b *Browser) Csrf() string {
	b.T.Helper()
	for _, meta := range Elements(b.Page, "meta") {
		if Attribute(meta, "name") == "csrf-token" {
			return Attribute(meta, "content")
		}
	}
	b.T.Fatalf("%s has no CSRF token", b.Address)
	return ""
}

// Script calls an API as a script of the page does. Cookies of the answer are
// kept.
func (b *Browser) Script(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	for name, value := range b.Cookies {
		headers = append(headers, "Cookie", name+"="+value)
	}
	w := b.Call(method, path, body, headers...)
	for _, cookie := range w.Result().Cookies() {
		b.Cookies[cookie.Name] = cookie.Value
	}
	return w
}

// Answers compares an answer with its status and, if there is one, its body.
func Answers(t *testing.T, what string, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || body != "" && w.Body.String() != body {
		t.Errorf("%s: %d %s instead of %d %s", what, w.Code, w.Body, status, body)
	}
}

// MenuShowsThePage tells whether the entry of the present page is within what is seen of
// the menu.
const MenuShowsThePage = `[...document.querySelectorAll(".menu [aria-current]")].every((a) => {
	const box = a.getBoundingClientRect(), menu = a.closest(".menu").getBoundingClientRect();
	return box.left >= menu.left && box.right <= menu.right;
})`
