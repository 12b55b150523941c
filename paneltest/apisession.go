package paneltest

import (
	"net/http/httptest"
	"testing"
)

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

func Answers(t *testing.T, what string, w *httptest.ResponseRecorder, status int, body string) {
	t.Helper()
	if w.Code != status || body != "" && w.Body.String() != body {
		t.Errorf("%s: %d %s instead of %d %s", what, w.Code, w.Body, status, body)
	}
}
