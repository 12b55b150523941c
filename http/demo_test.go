package http_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

func from(s *paneltest.Shop, peer, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil)
	r.RemoteAddr, r.Host = peer, "127.0.0.1:8080"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	w := httptest.NewRecorder()
	s.Server.Handler().ServeHTTP(w, r)
	return w
}

func TestTheDemosMailsAndLinkAreForThisMachineOnly(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.WithDemo)
	s.Resident(t, 71, "olga@example.com", "en", true)
	for _, path := range []string{"/demo/mail/", "/demo/mail/x.eml/", "/demo/mail/x.eml/html/", "/demo/sign-in/"} {
		for _, call := range []struct{ peer, name, value string }{
			{"192.0.2.7:5", "Accept", "*/*"},
			{"127.0.0.1:5", "X-Forwarded-For", "127.0.0.1"},
			{"[::1]:5", "Forwarded", "for=127.0.0.1"},
			{"127.0.0.1:5", "X-Forwarded-Host", "127.0.0.1"},
			{"127.0.0.1:5", "X-Real-IP", "127.0.0.1"},
			{"127.0.0.1:5", "Via", "1.1 proxy"},
			{"127.0.0.1:5", "Origin", "https://panel.example"},
			{"127.0.0.1:5", "Origin", "null"},
			{"127.0.0.1:5", "Host", "evil.example:8080"},
			{"127.0.0.1:5", "Host", "localhost.evil.example"},
			{"127.0.0.1:5", "Host", ""},
		} {
			if w := from(s, call.peer, path, call.name, call.value); w.Code != http.StatusForbidden {
				t.Errorf("%s from %v: %d", path, call, w.Code)
			}
		}
	}
	for _, name := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "localhost"} {
		if w := from(s, "127.0.0.1:5", "/demo/mail/x.eml/", "Host", name); w.Code != http.StatusNotFound {
			t.Errorf("a mail that is not there, at %s: %d", name, w.Code)
		}
	}
	plain := paneltest.Open(t)
	for _, path := range []string{"/demo/mail/", "/demo/shop/", "/demo/sign-in/"} {
		if w := from(plain, "127.0.0.1:5", path); w.Code != http.StatusNotFound {
			t.Errorf("%s without a demo: %d", path, w.Code)
		}
	}
}

func TestTheDemosButtonsSignInOnThisMachineOnly(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.WithDemo)
	s.Resident(t, 71, "olga@example.com", "en", true)
	s.Resident(t, 72, paneltest.AnaMail, "es", false)
	for _, story := range []struct{ form, next, to string }{
		{"demo_operator", "", "/storefront/"},
		{"demo_customer", "", "/panel/"},
		{"demo_customer", "/account/", "/account/"},
		{"demo_customer", "//evil.example", "/panel/"},
	} {
		b := s.Browser(t).OnThisMachine()
		b.Get("/login/?next=" + story.next)
		_, sent := b.Fill(story.form)
		anonymous := b.SessionID()
		for _, elsewhere := range []*paneltest.Browser{
			b.Twin().From("192.0.2.7:5", "127.0.0.1:8080"), b.Twin().From("127.0.0.1:5", "evil.example"),
		} {
			if w := elsewhere.Do("POST", "/login/", sent.Encode()); w.Code != http.StatusForbidden || w.Header().Get("Set-Cookie") != "" {
				t.Errorf("%s from elsewhere: %d %v", story.form, w.Code, w.Header())
			}
		}
		foreign := b.Twin().Do("POST", "/login/", sent.Encode(), "Sec-Fetch-Site", "cross-site")
		token := sent.Get("form_token")
		sent.Set("form_token", "")
		forged := b.Twin().Do("POST", "/login/", sent.Encode())
		if sent.Set("form_token", token); foreign.Code != http.StatusForbidden || forged.Code != http.StatusForbidden {
			t.Errorf("%s of another site is %d, and without its token %d", story.form, foreign.Code, forged.Code)
		}
		paneltest.Goes(t, b.Do("POST", "/login/", sent.Encode()), story.to)
		if !b.IsIn() || b.SessionID() == anonymous {
			t.Errorf("%s signs nobody in, or under the id of before", story.form)
		}
	}
	for _, where := range []*paneltest.Browser{
		s.Browser(t), s.Browser(t).From("127.0.0.1:5", "evil.example"), paneltest.Open(t).Browser(t).OnThisMachine(),
	} {
		if text := where.Get("/login/").Body.String(); strings.Contains(text, "demo_") {
			t.Error("the buttons of a demo are shown elsewhere")
		}
	}
	if w := from(s, "127.0.0.1:5", "/login/"); strings.Contains(w.Body.String(), paneltest.Password) {
		t.Error("a password is on the page")
	}
}

func TestTheDemosLinkSignsInOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.WithDemo)
	s.Resident(t, 71, "olga@example.com", "en", true)
	link := strings.TrimPrefix(s.Server.Demo.Link.Draw(paneltest.PublicURL), paneltest.PublicURL)
	for _, story := range []struct{ path, to string }{
		{link + "x", "/login/"}, {"/demo/sign-in/", "/login/"}, {link, "/storefront/"}, {link, "/login/"},
	} {
		w := from(s, "127.0.0.1:5", story.path)
		if w.Code != http.StatusSeeOther || w.Header().Get("Location") != story.to ||
			(w.Header().Get("Set-Cookie") != "") != (story.to == "/storefront/") {
			t.Errorf("%s: %d to %s", story.path, w.Code, w.Header().Get("Location"))
		}
	}
}
