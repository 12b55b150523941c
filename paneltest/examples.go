package paneltest

import (
	"testing"
)

// InABrowser signs a user in at a browser.
func (s *Shop) InABrowser(t *testing.T, user int64) *Shop {
	t.Helper()
	id, err := s.Vault().OpenSession(t.Context(), user, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Browser(t)
	b.Cookies["__Host-session"] = id
	b.Get("/account/")
	s.Known["session"], s.Known["csrf_token"] = id, b.Csrf()
	return s
}
