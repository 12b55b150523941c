package http_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/storefront"
)

// keeps checks that a form is refused because of what another user has changed, says what
// that is beside its field, and is carried out when it is sent again.
func (b *browser) keeps(name, page, to string, change func(), typed, other []string) {
	b.t.Helper()
	b.get(page)
	path, sent := b.fill(name, typed...)
	change()
	w := b.do("POST", path, sent.Encode())
	refused(b.t, w, http.StatusConflict, "This was changed meanwhile, so nothing was saved.", `id="`+name+"-"+other[0]+`-wrong"><span>It is now: `+other[1]+`</span>`, `value="`+typed[1]+`"`)
	if n := strings.Count(w.Body.String(), "It is now:"); n != 4 { // both fields, each above the form and beside itself
		b.t.Errorf("%s: %d are said to be changed: %s", name, n, w.Body)
	}
	again, sent := b.fill(name)
	goes(b.t, b.do("POST", again, sent.Encode()), to)
}

// Two users who change one record in their browsers do not undo each other's change.
func TestNoFormOverwritesWhatAnotherUserHasChanged(t *testing.T) {
	s := withSites(t)
	b := s.visiting(t, ben)
	b.keeps("panel_change", "/panel/sites/1/edit/", "/panel/sites/1/", func() {
		s.do(t, hosting.Change{Ref: hosting.Ref{Kind: "site", ID: 1}, Spec: field.Values{"ssl_enabled": []byte("true")}})
	}, []string{"ip_address", "192.0.2.7"}, []string{"ssl_enabled", "yes"})
	b.keeps("profile", "/account/", "/account/", func() {
		s.do(t, account.ChangeProfile{User: ben, SubjectID: uuid.New(), Email: emails[ben], Name: "Robin Kim", Language: "en", At: time.Now()})
	}, []string{"language", "es"}, []string{"name", "Robin Kim"})
}

// What the server answers, and what becomes of the parts of a record, is no change of the
// fields of a form.
func TestAnAnswerOfTheServerIsNoChangeOfAForm(t *testing.T) {
	s := withSites(t)
	b := s.visiting(t, ben)
	b.get("/panel/sites/1/edit/")
	s.do(t, hosting.Decline{Ref: hosting.Ref{Kind: "site", ID: 1}, Code: "name_taken"})
	b.twin().makes("ftp-accounts", "site", "1", "username", "ben", "password", "a good password, really")
	goes(t, b.send("panel_change", "ip_address", "192.0.2.7"), "/panel/sites/1/")
}

func TestNoOperatorOverwritesWhatAnotherHasChanged(t *testing.T) {
	s := office(t)
	s.resident(t, 901, opMail, "en", true)
	b := s.browser(t).enter(opMail)
	set := func(name, value string) map[string]json.RawMessage {
		return map[string]json.RawMessage{name: []byte(value)}
	}
	b.keeps("change_plan", "/storefront/plans/1/", "/storefront/plans/1/", func() {
		s.do(t, storefront.ChangePlan{Plan: 1, Spec: set("position", "7"), At: time.Now()})
	}, []string{"price", "21.50"}, []string{"position", "7"})
	b.get("/storefront/widgets/new/")
	made := b.send("create_widget", "name", "Shop", "plans", "1").Header().Get("Location")
	b.keeps("change_widget", made, made, func() {
		s.do(t, storefront.ChangeWidget{Widget: 101, Spec: set("layout", `"table"`), At: time.Now()})
	}, []string{"name", "Another shop"}, []string{"layout", "table"})
}
