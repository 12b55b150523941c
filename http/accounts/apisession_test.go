package accounts_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// A person signs in with a real browser's cookies, calls the APIs from the
// pages, and signs out.
func TestPagesCallTheAPIsWithTheSession(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	s.Start(t)
	jar, _ := cookiejar.New(nil)
	client := &http.Client{Jar: jar}
	do := func(method, path, kind, body string, headers ...string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, s.Public+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Origin", s.Public)
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	page := s.Browser(t)
	look := func(path string) {
		_, text := do("GET", path, "", "")
		page.Page, _ = html.Parse(strings.NewReader(text))
	}
	const form, data = "application/x-www-form-urlencoded", "application/json"
	look("/login/")
	_, sent := page.Fill("sign_in", "username", paneltest.AnaMail, "password", paneltest.Password)
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusUnauthorized || text != noCredentials {
		t.Fatalf("before the sign-in: %d %s", status, text)
	}
	do("POST", "/login/", form, sent.Encode())
	look("/account/")
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusOK ||
		!strings.Contains(text, `"username":"`+paneltest.AnaMail+`"`) {
		t.Fatalf("%d %s", status, text)
	}
	if status, text := do("PATCH", "/api/me/", data, `{"name":"Ana Ruiz"}`); status != http.StatusForbidden ||
		text != paneltest.CsrfFailed {
		t.Fatalf("without a token: %d %s", status, text)
	}
	if status, text := do("PATCH", "/api/me/", data, `{"name":"Ana Ruiz"}`, "X-CSRF-Token",
		page.Csrf()); status != http.StatusOK || !strings.Contains(text, `"name":"Ana Ruiz"`) {
		t.Fatalf("%d %s", status, text)
	}
	_, leave := page.Fill("sign_out")
	do("POST", "/logout/", form, leave.Encode())
	if status, text := do("GET", "/api/me/", "", ""); status != http.StatusUnauthorized || text != noCredentials {
		t.Fatalf("after the sign-out: %d %s", status, text)
	}
}

func TestNoCallFromElsewhereUsesTheSession(t *testing.T) {
	t.Parallel()
	const named = "https://app.example"
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Origins = []string{named} })
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	b.Get("/account/")
	for _, from := range [][]string{
		{"Origin", "https://evil.example"},
		{"Origin", "null"},
		{"Origin", named},
		{"Origin", "http://panel.example"},
		{"Sec-Fetch-Site", "cross-site"},
		{"Sec-Fetch-Site", "same-site"},
		{"Origin", named, "Sec-Fetch-Site", "cross-site"},
	} {
		for method, body := range map[string]string{
			"GET": "", "HEAD": "", "OPTIONS": "", "PATCH": `{"name":"x"}`,
			"DELETE": "",
		} {
			w := b.Script(method, "/api/me/", body, append(slices.Clone(from), "X-CSRF-Token", b.Csrf())...)
			paneltest.Answers(t, fmt.Sprint(method, from), w, http.StatusUnauthorized, "")
			if w.Header().Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s %v: cookies may travel", method, from)
			}
		}
	}
	for _, from := range [][]string{
		{},
		{"Origin", paneltest.PublicURL},
		{"Sec-Fetch-Site", "same-origin"},
		{"Sec-Fetch-Site", "none"},
		{"Sec-Fetch-Site", "same-origin", "Origin", paneltest.PublicURL},
	} {
		w := b.Script("GET", "/api/me/", "", from...)
		paneltest.Answers(t, fmt.Sprint(from), w, http.StatusOK, "")
		if !slices.Contains(w.Header().Values("Vary"), "Cookie") || w.Header().Get("Cache-Control") != "private, no-cache" {
			t.Errorf("%v", w.Header())
		}
	}
	ask := append([]string{"Origin", named, "Access-Control-Request-Method", "PATCH"}, "Access-Control-Request-Headers",
		"x-csrf-token")
	if w := b.Script("OPTIONS", "/api/me/", "",
		ask...); strings.Contains(strings.ToLower(w.Header().Get("Access-Control-Allow-Headers")), "csrf") {
		t.Errorf("other origins may send the token: %v", w.Header())
	}
}

// Credentials of another kind stand for themselves, also if they are wrong.
func TestTheSessionDoesNotStandInForOtherCredentials(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.RootMail)
	for _, headers := range [][]string{
		{"Authorization", "Bearer x"},
		{"Authorization", "Bearer"},
		{"Authorization", "Basic eDp5"},
		{"Authorization", ""},
		{"X-API-Key", s.Known["key"]},
		{"X-API-Key", ""},
	} {
		paneltest.Answers(t, fmt.Sprint(headers), b.Script("GET", "/api/me/", "", headers...), http.StatusUnauthorized, "")
	}
	paneltest.Answers(t, "the storefront", b.Script("GET", "/storefront/api/plans/", ""), http.StatusUnauthorized,
		noCredentials)
	paneltest.Answers(t, "the storefront, with its key",
		b.Script("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"]), http.StatusOK, "")
}

func TestAChangeNeedsTheTokenOfItsSession(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	b, other := s.Browser(t), s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/login/")
	before := b.Csrf()
	b.Enter(paneltest.AnaMail).Get("/account/")
	other.Get("/account/")
	for _, token := range []string{"", "guess", before, other.Csrf(), b.Csrf() + "A", b.SessionID()} {
		for method, path := range map[string]string{
			"PATCH": "/api/me/", "POST": "/notifications/api/v1/notifications/",
			"TRACE": "/api/me/",
		} {
			paneltest.Answers(t, method+" with "+token, b.Script(method, path, `{"name":"x"}`, "X-CSRF-Token", token),
				http.StatusForbidden, paneltest.CsrfFailed)
		}
	}
	w := b.Script("PATCH", "/api/me/", `{"name":"Ana Ruiz"}`, "X-CSRF-Token", b.Csrf())
	paneltest.Answers(t, "the page's own", w, http.StatusOK, "")
	if w.Header().Get("X-Error-Code") != "" {
		t.Errorf("%v", w.Header())
	}
	refusal := b.Script("PATCH", "/api/me/", `{"name":"x"}`)
	if refusal.Header().Get("X-Error-Code") != "permission_denied" || refusal.Header().Get("WWW-Authenticate") != "" {
		t.Errorf("%v", refusal.Header())
	}
	if n := s.Count(t, `select count(*) from events where name = 'account.profile_changed' and actor = 'user:1'`); n != 1 {
		t.Errorf("%d changes in the log", n)
	}
}

// A tenant that is left or taken on in one window counts in all of them.
func TestTheActiveTenantIsTheUsersNotTheSessions(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	s.Organisation(t, 7, "Seven", 1)
	s.Organisation(t, 8, "Eight", 1)
	b, other := s.Browser(t).Enter(paneltest.AnaMail), s.Browser(t).Enter(paneltest.AnaMail)
	b.Get("/account/")
	paneltest.Answers(t, "activate", b.Script("POST", "/hosting/api/rest/tenants/8/activate/", "", "X-CSRF-Token",
		b.Csrf()), http.StatusOK, "")
	paneltest.Has(t, other.Script("GET", "/api/me/", "").Body.String(), `"active_tenant":8,`)
	other.Get("/account/")
	if _, sent := other.Fill("tenant"); sent.Get("active_tenant") != "8" {
		t.Error(sent)
	}
	s.Do(t, account.RevokeMembership{User: 1, Tenant: 8, At: time.Now()})
	paneltest.Has(t, b.Script("GET", "/api/me/", "").Body.String(), `"memberships":[{"tenant":7,`)
}

// Every page of a browser with an id has the token in a meta element.
func TestEveryPageHasTheTokenOfItsBrowser(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.RootMail, "en", true)
	b := s.Browser(t)
	b.Get("/login/")
	if _, sent := b.Fill("sign_in"); sent.Get("form_token") != b.Csrf() {
		t.Error("the login page has another token than its form")
	}
	b.Enter(paneltest.RootMail)
	for _, path := range []string{"/account/", "/storefront/"} {
		b.Get(path)
		if _, sent := b.Fill("sign_out"); sent.Get("form_token") != b.Csrf() {
			t.Errorf("%s has another token than its form", path)
		}
	}
}
