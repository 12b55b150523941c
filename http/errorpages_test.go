package http_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// Browsers that go astray are shown a page. Programs, and paths of the APIs, get JSON.
func TestBrowsersThatGoAstrayAreShownAPage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "es", false)
	const html = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		what, method, path, accept, language string
		status                               int
		says                                 string // "": JSON
	}{
		{"an unknown path", "GET", "/nowhere/", html, "en", 404, "There is nothing here"},
		{"in Spanish", "GET", "/nowhere/", html, "es", 404, "Aquí no hay nada"},
		{"below the pages of operators", "GET", "/storefront/nowhere/", html, "en", 404, "There is nothing here"},
		{"a method that a page does not have", "DELETE", "/login/", html, "en", 405, "That cannot be done here"},
		{"a program", "GET", "/nowhere/", "*/*", "en", 404, ""},
		{"a program that says nothing", "GET", "/nowhere/", "", "en", 404, ""},
		{"a program at a page", "DELETE", "/login/", "application/json", "en", 405, ""},
		{"the hosting API", "GET", "/hosting/api/rest/nowhere/", html, "en", 404, ""},
		{"the operators' API", "GET", "/operations/api/v1/nowhere/", html, "en", 404, ""},
		{"an API that there is not", "GET", "/operations/api/v7/", html, "en", 404, ""},
		{"the API of tokens", "GET", "/api/token/", html, "en", 405, ""},
		{"webhooks", "GET", "/storefront/webhooks/nowhere/", html, "en", 404, ""},
		{"health", "POST", "/healthz", html, "en", 405, ""},
	} {
		b := s.Browser(t)
		headers := []string{"Accept-Language", c.language}
		if c.accept != "" {
			headers = append(headers, "Accept", c.accept)
		}
		w := b.Do(c.method, c.path, "", headers...)
		kind, text := w.Header().Get("Content-Type"), w.Body.String()
		if w.Code != c.status {
			t.Errorf("%s: %d instead of %d", c.what, w.Code, c.status)
		}
		if c.says == "" {
			if kind != "application/json" || !strings.HasPrefix(text, `{"detail":`) {
				t.Errorf("%s: %s %s", c.what, kind, text)
			}
			continue
		}
		paneltest.Has(t, text, c.says, `href="/"`)
		paneltest.Has(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'")
		paneltest.Has(t, strings.Join(w.Header().Values("Vary"), ","), "Accept")
		b.IsForEverybody(t, c.language, text)
	}
	if w := s.Browser(t).Get("/nowhere/?%", "Accept", html); w.Code >= http.StatusInternalServerError {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
