package http_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// keeps checks that a form is refused because of what another user has changed, says what
// that is beside its field, and is carried out when it is sent again.
func keeps(b *paneltest.Browser, name, page, to string, change func(), typed, other []string) {
	b.T.Helper()
	b.Get(page)
	path, sent := b.Fill(name, typed...)
	change()
	w := b.Do("POST", path, sent.Encode())
	paneltest.Refused(b.T, w, http.StatusConflict, "This was changed meanwhile, so nothing was saved.",
		`id="`+name+"-"+other[0]+`-wrong"><span>It is now: `+other[1]+`</span>`, `value="`+typed[1]+`"`)
	if n := strings.Count(w.Body.String(), "It is now:"); n != 4 { // both fields, each above the form and beside itself
		b.T.Errorf("%s: %d are said to be changed: %s", name, n, w.Body)
	}
	again, sent := b.Fill(name)
	paneltest.Goes(b.T, b.Do("POST", again, sent.Encode()), to)
}

// Two users who change one record in their browsers do not undo each other's change.
func TestNoFormOverwritesWhatAnotherUserHasChanged(t *testing.T) {
	s := paneltest.WithSites(t)
	b := s.Visiting(t, paneltest.Ben)
	keeps(b, "panel_change", "/panel/sites/1/edit/", "/panel/sites/1/", func() {
		s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "site", ID: 1}, Spec: field.Values{"ssl_enabled": []byte("true")}})
	}, []string{"ip_address", "192.0.2.7"}, []string{"ssl_enabled", "yes"})
	keeps(b, "profile", "/account/", "/account/", func() {
		s.Do(t, account.ChangeProfile{
			User: paneltest.Ben, SubjectID: uuid.New(), Email: paneltest.Emails[paneltest.Ben],
			Name: "Robin Kim", Language: "en", At: time.Now(),
		})
	}, []string{"language", "es"}, []string{"name", "Robin Kim"})
}

// What the server answers, and what becomes of the parts of a record, is no change of the
// fields of a form.
func TestAnAnswerOfTheServerIsNoChangeOfAForm(t *testing.T) {
	s := paneltest.WithSites(t)
	b := s.Visiting(t, paneltest.Ben)
	b.Get("/panel/sites/1/edit/")
	s.Do(t, hosting.Decline{Ref: hosting.Ref{Kind: "site", ID: 1}, Code: "name_taken"})
	b.Twin().Makes("ftp-accounts", "site", "1", "username", "ben", "password", "a good password, really")
	paneltest.Goes(t, b.Send("panel_change", "ip_address", "192.0.2.7"), "/panel/sites/1/")
}
