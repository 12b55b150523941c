//go:build system

package census_test

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// By session, every role may call exactly what it may call by token.
func TestTheSessionOpensWhatTheTokenOpens(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	compared := 0
	for _, role := range roles {
		user := c.users[role]
		if user == 0 {
			continue
		}
		b := c.signedIn(t, user, true)
		for _, r := range c.routes() {
			if isPage(r.Path) || r.Access.Scheme == "" || r.Follow != nil {
				continue
			}
			for what, path := range c.paths(t, r.Path) {
				compared++
				headers, body := []string{"X-CSRF-Token", b.Csrf()}, ""
				if r.Method != http.MethodGet {
					headers, body = append(headers, "If-Match", `"never"`), `"no object"`
				}
				want := outcome(c.ask(t, role, r.Method, path))
				if paneltest.IsOfSessions(r.Method, r.Path) {
					want = in
				}
				if got := outcome(b.Script(r.Method, path, body, headers...)); got != want {
					t.Errorf("%s %s (%s) as %s: %s by session, %s by token", r.Method, path, what, role, got, want)
				}
				if r.Method != http.MethodGet && want != absent && !strings.HasPrefix(path, "/storefront/api/") {
					paneltest.Answers(t, "no CSRF token", b.Script(r.Method, path, body), http.StatusForbidden, paneltest.CsrfFailed)
				}
			}
		}
	}
	if compared < 1000 {
		t.Fatalf("only %d calls were compared", compared)
	}
}

// signedIn is a browser with the session of a user, who has given the password
// again or not.
func (c *census) signedIn(t *testing.T, user int64, again bool) *paneltest.Browser {
	t.Helper()
	id, err := c.Vault().OpenSession(t.Context(), user, 1)
	if err == nil && again {
		id, err = c.Vault().RenewSession(t.Context(), id)
	}
	if err != nil {
		t.Fatal(err)
	}
	b := c.Browser(t)
	b.Cookies["__Host-session"] = id
	b.Get("/account/")
	return b
}
