package paneltest

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

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

// make sends the form for a new record, twice, and answers with the page of the record.
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

// Speaks gives a user another language.
func Speaks(user int64, language string) domain.Command {
	return account.ChangeProfile{User: user, SubjectID: uuid.New(), Email: Emails[user], Name: "Alex Kim", Language: language, At: time.Now()}
}
