package paneltest

import (
	"net/http"
	"testing"

	"hostpanel/eventstore/credentials"
)

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

// Visiting is a browser in which a user has signed in.
func (s *Shop) Visiting(t testing.TB, user int64) *Browser {
	t.Helper()
	id, err := s.Vault().OpenSession(t.Context(), user, 1)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Browser(t)
	b.Cookies["session"], b.Cookies["__Host-session"] = id, id
	return b
}

// KnowsPassword gives a user [Password], without ending sessions.
func (s *Shop) KnowsPassword(t testing.TB, user int64) {
	t.Helper()
	hash, err := s.Vault().HashPassword(t.Context(), Password)
	if err == nil {
		row := credentials.PasswordRow(user, hash)
		_, err = s.Owner.Exec(t.Context(), row.SQL, row.Args...)
	}
	if err != nil {
		t.Fatal(err)
	}
}
