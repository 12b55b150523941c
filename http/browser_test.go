package http_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

const password = "Tr0ub4dor & 3 caballos"

// resident creates an account with a password.
func (s *shop) resident(t testing.TB, user int64, email, language string, superuser bool) {
	t.Helper()
	hash, err := s.vault().HashPassword(t.Context(), password)
	if err != nil {
		t.Fatal(err)
	}
	row := credentials.PasswordRow(user, hash)
	_, err = s.ExecuteWith(t.Context(), domain.Metadata{}, []eventstore.TxStatement{row},
		account.Open{User: user, SubjectID: uuid.New(), Email: email, Name: "Ana", Language: language, Superuser: superuser, At: time.Now()},
		account.ChangePassword{User: user, At: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
}

// A browser keeps cookies and sends forms with all their fields. It does not
// follow redirects.
type browser struct {
	*shop
	t       testing.TB
	cookies map[string]string
	page    *html.Node // the last page
	at      string
}

func (s *shop) browser(t testing.TB) *browser {
	return &browser{shop: s, t: t, cookies: map[string]string{}}
}

// twin returns a browser with the same cookies and the same page.
func (b *browser) twin() *browser {
	return &browser{shop: b.shop, t: b.t, cookies: maps.Clone(b.cookies), page: b.page, at: b.at}
}

func (b *browser) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	for name, value := range b.cookies {
		headers = append(headers, "Cookie", name+"="+value)
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	for _, cookie := range w.Result().Cookies() {
		b.cookies[cookie.Name] = cookie.Value
		if cookie.MaxAge < 0 {
			delete(b.cookies, cookie.Name)
		}
	}
	if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		b.at = path
		var err error
		if b.page, err = html.Parse(strings.NewReader(w.Body.String())); err != nil {
			b.t.Error(err)
		}
	}
	return w
}

func (b *browser) get(path string, headers ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.do("GET", path, "", headers...)
}

// fill returns a form of the page as a browser sends it, with some fields changed.
func (b *browser) fill(name string, fields ...string) (path string, sent url.Values) {
	b.t.Helper()
	for _, f := range elements(b.page, "form") {
		sent = url.Values{}
		for _, tag := range []string{"input", "select", "textarea"} {
			for _, in := range elements(f, tag) {
				if isLeftOut := attribute(in, "type") == "checkbox" && !hasAttribute(in, "checked"); attribute(in, "name") != "" && !isLeftOut {
					sent.Set(attribute(in, "name"), valueOf(in))
				}
			}
		}
		if sent.Get("form") == name || sent.Get("of") == name && name != "" {
			for i := 0; i < len(fields); i += 2 {
				sent.Set(fields[i], fields[i+1])
			}
			return attribute(f, "action"), sent
		}
	}
	b.t.Fatalf("there is no form %q on %s", name, b.at)
	return "", nil
}

// send fills in a form of the page and sends it.
func (b *browser) send(name string, fields ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	path, sent := b.fill(name, fields...)
	return b.do("POST", path, sent.Encode())
}

// enter signs in.
func (b *browser) enter(email string) *browser {
	b.t.Helper()
	b.get("/login/")
	if w := b.send("sign_in", "username", email, "password", password); w.Code != http.StatusSeeOther {
		b.t.Fatalf("%s cannot sign in: %d %s", email, w.Code, w.Body)
	}
	return b
}

// isIn tells whether the browser has a signed-in session.
func (b *browser) isIn() bool { return b.twin().get("/account/").Code == http.StatusOK }

func (b *browser) sessionID() string { return b.cookies["__Host-session"] }

// goes checks that an answer redirects to a path.
func goes(t testing.TB, w *httptest.ResponseRecorder, path string) {
	t.Helper()
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != path {
		t.Errorf("%d to %q, not to %s: %s", w.Code, w.Header().Get("Location"), path, w.Body)
	}
}

// refused checks that an answer is an error page with these texts.
func refused(t testing.TB, w *httptest.ResponseRecorder, status int, parts ...string) {
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

func elements(n *html.Node, tag string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == tag {
			all = append(all, d)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttribute(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
		if d.Type == html.ElementNode && d.Data == "img" {
			text.WriteString(attribute(d, "alt"))
		}
	}
	return strings.TrimSpace(text.String())
}

func valueOf(in *html.Node) string {
	switch in.Data {
	case "textarea":
		return textOf(in)
	case "select":
		for _, o := range elements(in, "option") {
			if hasAttribute(o, "selected") {
				return attribute(o, "value")
			}
		}
		return ""
	}
	return attribute(in, "value")
}
