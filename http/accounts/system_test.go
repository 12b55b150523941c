//go:build system

package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// Each of the six hundred calls counts once, also those that start again because
// the caller's rights have changed.
func TestSixHundredCallsAreCountedOnceOverTwoProcesses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	processes := []http.Handler{process(s), process(s)}
	paths := []string{itsTenant, "/hosting/api/rest/tenants/", "/api/me/", "/hosting/api/rest/tenants/99/"}
	var left []int
	refused := 0
	for i, w := range s.AtOnce(700, func(i int) *httptest.ResponseRecorder {
		if i%70 == 0 {
			s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: int64(100 + i), Role: account.Member, At: time.Now()})
		}
		if i%7 == 0 { // writing calls read the caller from the database first
			return s.Call("TRACE", paths[i%4&^1], "", paneltest.Bearer(s.Known["ana"])...)
		}
		return reads(processes[i%2], paths[i%4], s.Known["ana"])
	}) {
		n, err := strconv.Atoi(w.Header().Get("X-RateLimit-Remaining"))
		switch {
		case err != nil:
			t.Errorf("call %d: %d without a limit: %s", i, w.Code, w.Body)
		case w.Code == http.StatusTooManyRequests:
			refused++
		default:
			left = append(left, n)
		}
	}
	slices.Sort(left)
	for i := range left {
		if left[i] != i {
			t.Fatalf("%d calls left at the %d-th: %v", left[i], i, left)
		}
	}
	if len(left) != 600 || refused != 100 {
		t.Fatalf("%d were answered, %d refused", len(left), refused)
	}
}

// Many simultaneous calls to two processes while a role is revoked.
func TestNoCallThatBeginsAfterARevocationSeesAnything(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	processes := []http.Handler{process(s), process(s)}
	var over, ended atomic.Bool
	var all sync.WaitGroup
	var before, afterwards atomic.Int64
	for i := range 100 {
		all.Go(func() {
			for !ended.Load() {
				late := over.Load()
				switch w := reads(processes[i%2], itsTenant, s.Known["ben"]); {
				case w.Code == http.StatusOK && late:
					t.Errorf("a late call was answered: %s", w.Body)
					return
				case w.Code == http.StatusOK:
					before.Add(1)
				case w.Code == http.StatusNotFound:
					afterwards.Add(1)
				default:
					t.Errorf("%d %s", w.Code, w.Body)
					return
				}
			}
		})
	}
	paneltest.WaitFor(t, func() bool { return before.Load() > 200 })
	s.Do(t, account.RevokeMembership{User: paneltest.Ben, Tenant: 1, At: time.Now()})
	over.Store(true)
	paneltest.WaitFor(t, func() bool { return afterwards.Load() > 200 })
	ended.Store(true)
	all.Wait()
}

func TestAWrongPasswordAndAnUnknownAccountLookTheSame(t *testing.T) {
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	invited(t, s, 2, "new@example.com", "en") // has no password yet
	s.Resident(t, 3, "gone@example.com", "en", false)
	s.Do(t, account.Deactivate{User: 3, At: time.Now()})
	var pages []string
	for _, try := range [][2]string{
		{paneltest.AnaMail, "wrong"},
		{"nobody@example.com", paneltest.Password},
		{"new@example.com", paneltest.Password},
		{"gone@example.com", paneltest.Password},
		{"x", "y"},
	} {
		b := s.Browser(t)
		b.Get("/login/")
		hashes, refusals := credentials.PasswordHashes(), s.Events(t, "security.sign_in_refused")
		w := b.Send("sign_in", "username", try[0], "password", try[1])
		paneltest.Refused(t, w, http.StatusUnauthorized, "The user name or the password is wrong.")
		if n := credentials.PasswordHashes() - hashes; n != 1 {
			t.Errorf("%v: %d hashes", try, n)
		}
		if n := s.Events(t, "security.sign_in_refused") - refusals; n != 1 {
			t.Errorf("%v: %d events", try, n)
		}
		text := strings.Replace(w.Body.String(), `value="`+try[0]+`"`, "", 1)
		_, sent := b.Fill("sign_in")
		pages = append(pages, strings.ReplaceAll(text, sent.Get("form_token"), ""))
	}
	for _, page := range pages[1:] {
		if page != pages[0] {
			t.Errorf("two pages differ:\n%s\n%s", pages[0], page)
		}
	}
	refusedEmpty := s.Browser(t)
	refusedEmpty.Get("/login/")
	paneltest.Refused(t, refusedEmpty.Send("sign_in"), http.StatusBadRequest, "This field may not be blank.",
		`aria-invalid="true"`, `href="#sign_in-username"`)
}

// Passwords are hashed one per core, and who waits too long is told so. No other test
// hashes meanwhile.
func TestOfManySignInsAtOnceWithOneCodeOneSucceeds(t *testing.T) {
	s := paneltest.Open(t).People(t)
	secret, recovery := s.Enrolled(t, paneltest.Ana)
	for what, otp := range map[string]string{"code": paneltest.Code(t, secret, 0), "recovery code": recovery[0]} {
		right := 0
		for _, w := range s.AtOnce(40, func(i int) *httptest.ResponseRecorder {
			return tryCode(s, from(i), paneltest.Emails[paneltest.Ana], paneltest.GoodPassword, otp)
		}) {
			if w.Code == http.StatusOK {
				right++
			} else if w.Code != http.StatusUnauthorized {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
		if right != 1 {
			t.Errorf("the %s was accepted %d times", what, right)
		}
	}
}

func TestPeopleActForOneOfTheirTenants(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t)
	s.Resident(t, 1, paneltest.AnaMail, "en", false)
	s.Resident(t, 2, paneltest.RootMail, "en", true)
	b := s.Browser(t).Enter(paneltest.AnaMail)
	paneltest.Has(t, b.Get("/account/").Body.String(), "You belong to no tenant yet.")
	s.Organisation(t, 7, "Seven", 1)
	s.Organisation(t, 8, "Eight", 1)
	s.Organisation(t, 9, "Nine")
	w := b.Get("/account/")
	paneltest.Has(t, w.Body.String(), `<option value="7" selected>Seven (administrator)`,
		`<option value="8">Eight (administrator)`)
	if strings.Contains(w.Body.String(), "Nine") {
		t.Error("another tenant is shown")
	}
	paneltest.Goes(t, b.Send("tenant", "active_tenant", "8"), "/account/")
	b.Get("/account/")
	if _, sent := b.Fill("tenant"); sent.Get("active_tenant") != "8" {
		t.Errorf("%v", sent)
	}
	paneltest.Refused(t, b.Twin().Send("tenant", "active_tenant", "9"), http.StatusBadRequest,
		`Invalid pk "9" - object does not exist.`)
	paneltest.Goes(t, b.Send("tenant", "active_tenant", ""), "/account/")
	if n := s.Count(t, `select count(*) from users where id = 1 and active_tenant is null`); n != 1 {
		t.Error("a tenant is still active")
	}
	r := s.Browser(t).Enter(paneltest.RootMail)
	paneltest.Has(t, r.Get("/account/").Body.String(), `<option value="9">Nine</option>`, "Number of the tenant")
	paneltest.Goes(t, r.Send("tenant", "active_tenant", "9"), "/account/")
	paneltest.Refused(t, r.Send("tenant", "active_tenant", "99"), http.StatusBadRequest,
		`Invalid pk "99" - object does not exist.`)
}

func TestOfManyRefreshesAtOnceOneGetsTokens(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	token := s.SignIn(t, "ana@example.com", paneltest.GoodPassword).Refresh
	fresh := 0
	for _, w := range s.AtOnce(30, func(int) *httptest.ResponseRecorder {
		return s.Call("POST", "/api/token/refresh/", `{"refresh":"`+token+`"}`)
	}) {
		if w.Code == http.StatusOK {
			fresh++
		}
	}
	if fresh != 1 {
		t.Fatalf("%d got tokens", fresh)
	}
}

func TestWhoIsRememberedIsAskedForAlongWithWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	var trips atomic.Int64
	pool := eventstoretest.Traced(t, s.Readers, s.Readers.Config().MaxConns,
		&eventstoretest.Tracer{Trip: func() { trips.Add(1) }})
	s.Tables = projections.Open(pool)
	process := process(s)
	for _, c := range []struct {
		path          string
		first, second int64
	}{
		{itsTenant, 2, 1},
		{"/hosting/api/rest/tenants/", 1, 1}, // answered from the cache
		{"/hosting/api/rest/sites/", 1, 1},
		{"/api/me/", 2, 2},
		{"/hosting/api/rest/tenants/99/", 1, 1},
		{"/hosting/api/rest/tenants/?page=nonsense", 1, 1}, // sends no further statement
	} {
		for _, want := range []int64{c.first, c.second} {
			trips.Store(0)
			if w := reads(process, c.path, s.Known["ana"]); trips.Load() != want ||
				w.Header().Get("X-RateLimit-Remaining") == "" {
				t.Errorf("%s: %d round trips, %d %v", c.path, trips.Load(), w.Code, w.Header())
			}
		}
	}
	s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: 3, Role: account.Member, At: time.Now()})
	trips.Store(0)
	if w := reads(process, itsTenant, s.Known["ana"]); w.Code != http.StatusOK || trips.Load() != 3 {
		t.Errorf("%d after %d round trips", w.Code, trips.Load())
	}
	// Counting a change needs no second round trip.
	r := httptest.NewRequest("POST", itsTenant, nil)
	r.Header.Set("Authorization", "Bearer "+s.Known["ana"])
	w := httptest.NewRecorder()
	trips.Store(0)
	if process.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed || trips.Load() != 1 ||
		w.Header().Get("X-RateLimit-Remaining") == "" {
		t.Errorf("%d after %d round trips, %v", w.Code, trips.Load(), w.Header())
	}
}
