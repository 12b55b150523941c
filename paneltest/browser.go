package paneltest

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

const Password = "Tr0ub4dor & 3 caballos"

// Resident creates an account with a password.
func (s *Shop) Resident(t testing.TB, user int64, email, language string, superuser bool) {
	t.Helper()
	hash, err := s.Vault().HashPassword(t.Context(), Password)
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
type Browser struct {
	*Shop
	T       testing.TB
	Cookies map[string]string
	Page    *html.Node // the last page
	Address string
}

func (s *Shop) Browser(t testing.TB) *Browser {
	return &Browser{Shop: s, T: t, Cookies: map[string]string{}}
}

// Twin returns a browser with the same cookies and the same page.
func (b *Browser) Twin() *Browser {
	return &Browser{Shop: b.Shop, T: b.T, Cookies: maps.Clone(b.Cookies), Page: b.Page, Address: b.Address}
}

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
				if isLeftOut := Attribute(in, "type") == "checkbox" && !HasAttribute(in, "checked"); Attribute(in, "name") != "" && !isLeftOut {
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

// Enter signs in.
func (b *Browser) Enter(email string) *Browser {
	b.T.Helper()
	b.Get("/login/")
	if w := b.Send("sign_in", "username", email, "password", Password); w.Code != http.StatusSeeOther {
		b.T.Fatalf("%s cannot sign in: %d %s", email, w.Code, w.Body)
	}
	return b
}

// IsIn tells whether the browser has a signed-in session.
func (b *Browser) IsIn() bool { return b.Twin().Get("/account/").Code == http.StatusOK }

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

func Elements(n *html.Node, tag string) (all []*html.Node) {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == tag {
			all = append(all, d)
		}
	}
	return all
}

func Attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func HasAttribute(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

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
