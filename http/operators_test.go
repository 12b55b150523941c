package http_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	panel "hostpanel/http"
	"hostpanel/http/route/routetest"
)

// office is a stocked shop with people. The ids of new records begin at 101.
func office(t testing.TB, options ...func(*shop)) *shop {
	t.Helper()
	s := openShop(t, options...).stock(t).people(t)
	if _, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['user_id', 'plan_id', 'widget_id', 'tenant_id', 'site_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}

// Conversations of operators with the API.
// The kept answer of a request goes with the person whom it shows. Others stay.
func TestAnErasedPersonIsNotInAKeptAnswer(t *testing.T) {
	t.Parallel()
	s := office(t)
	asks := func(name string) *httptest.ResponseRecorder {
		return s.operate("POST", "users/", `{"email":"`+name+`@kept.example","name":"`+name+` Kept","language":"en"}`, "Idempotency-Key", name)
	}
	var cleo, dora struct{ ID int64 }
	decode(t, asks("cleo"), http.StatusCreated, &cleo)
	first := asks("dora")
	decode(t, first, http.StatusCreated, &dora)
	if err := s.server.Accounts.Erase(t.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"}, cleo.ID); err != nil {
		t.Fatal(err)
	}
	if again := asks("cleo"); strings.Contains(again.Body.String(), "Kept") || strings.Contains(again.Body.String(), "kept.example") {
		t.Errorf("the repeat shows an erased person: %s", again.Body)
	}
	if again := asks("dora"); again.Body.String() != first.Body.String() || again.Code != first.Code {
		t.Errorf("the repeat of another request is answered %d: %s", again.Code, again.Body)
	}
}

func TestOperatorsConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "testdata/operations/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := office(t)
		s.order(t, http.StatusCreated, aHostingOrder) // of plan 1
		return s.handler, s.known
	})
}

const operations = "/operations/api/v1/"

// operate is a call of the superuser.
func (s *shop) operate(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.call(method, operations+path, body, append(bearer(s.known["root"]), headers...)...)
}

// outcomes counts the answers by status and body.
func outcomes(answers []*httptest.ResponseRecorder) map[string]int {
	count := map[string]int{}
	for _, w := range answers {
		outcome := fmt.Sprint(w.Code)
		if w.Code >= http.StatusBadRequest {
			outcome += " " + w.Body.String()
		}
		count[outcome]++
	}
	return count
}

// wins checks that one call succeeded, and all others got this refusal.
func wins(t *testing.T, answers []*httptest.ResponseRecorder, success int, refusal string) {
	t.Helper()
	got := outcomes(answers)
	if got[fmt.Sprint(success)] != 1 || got[refusal] != len(answers)-1 {
		t.Fatalf("%v", got)
	}
}

func TestOneOfManyEqualAccountsIsOpened(t *testing.T) {
	t.Parallel()
	s := office(t)
	answers := s.atOnce(50, func(i int) *httptest.ResponseRecorder {
		email := "new@example.com"
		if i%2 == 0 {
			email = "NEW@Example.com"
		}
		return s.operate("POST", "users/", `{"email":"`+email+`"}`)
	})
	wins(t, answers, http.StatusCreated, `400 {"email":["user with this email already exists."]}`)
	if n := s.count(t, `select count(*) from users where email ilike 'new@example.com'`); n != 1 {
		t.Fatalf("%d users", n)
	}
}

func TestOneOfManyPlansGetsASlug(t *testing.T) {
	t.Parallel()
	s := office(t)
	answers := s.atOnce(50, func(int) *httptest.ResponseRecorder {
		return s.operate("POST", "plans/", `{"name":"Wanted","slug":"wanted","price":1,"resource_type":"saas"}`)
	})
	wins(t, answers, http.StatusCreated, `400 {"slug":["plan with this slug already exists."]}`)
}

func TestPlansOfOneNameGetSlugsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := office(t)
	for _, w := range s.atOnce(20, func(int) *httptest.ResponseRecorder {
		return s.operate("POST", "plans/", `{"name":"Same","price":1,"resource_type":"saas"}`)
	}) {
		if w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
	}
	if n := s.count(t, `select count(distinct slug) from plans where slug = 'same' or slug ~ '^same-1[0-9]{2}$'`); n != 20 {
		t.Fatalf("%d slugs", n)
	}
}

func TestAMembershipIsGrantedOnce(t *testing.T) {
	t.Parallel()
	s := office(t)
	answers := s.atOnce(50, func(int) *httptest.ResponseRecorder {
		return s.operate("POST", "users/4/memberships/", `{"tenant":1}`)
	})
	wins(t, answers, http.StatusCreated, `400 {"non_field_errors":["The fields user, tenant must make a unique set."]}`)
}

// A change with If-Match applies to that version only.
func TestOneOfManyWhoHaveSeenAPlanChangesIt(t *testing.T) {
	t.Parallel()
	s := office(t)
	answers := s.atOnce(20, func(i int) *httptest.ResponseRecorder {
		return s.operate("PATCH", "plans/1/", fmt.Sprintf(`{"price":"%d.50"}`, i+10), "If-Match", `"plan-1-1"`)
	})
	wins(t, answers, http.StatusOK, `412 {"detail":"The resource was changed in the meantime.","code":"precondition_failed"}`)
	for _, w := range answers {
		if tag := w.Header().Get("ETag"); tag != `"plan-1-2"` {
			t.Errorf("%d with the version %s", w.Code, tag)
		}
	}
}

// Simultaneous changes of different fields without If-Match all take effect.
func TestChangesOfDifferentFieldsAllStay(t *testing.T) {
	t.Parallel()
	s := office(t)
	bodies := []string{`{"name":"Ben"}`, `{"language":"de"}`, `{"email":"ben@example.org"}`, `{"is_superuser":true}`}
	for _, w := range s.atOnce(len(bodies), func(i int) *httptest.ResponseRecorder { return s.operate("PATCH", "users/3/", bodies[i]) }) {
		if w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	has(t, s.operate("GET", "users/3/", "").Body.String(), `"name":"Ben","language":"de","is_superuser":true`, `"email":"ben@example.org"`)
}

func TestOneSuperuserStays(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"is_superuser":false}`, `{"is_active":false}`} {
		s := office(t)
		s.do(t, account.GrantSuperuser{User: ben})
		tokens := map[int]string{1: s.known["root"], 3: s.token(t, ben, nil)}
		s.atOnce(2, func(i int) *httptest.ResponseRecorder {
			who, whom := 1+2*i, 3-2*i
			return s.call("PATCH", fmt.Sprintf("%susers/%d/", operations, whom), body, bearer(tokens[who])...)
		})
		if n := s.count(t, `select count(*) from users where is_superuser and is_active`); n != 1 {
			t.Fatalf("%s: %d superusers are left", body, n)
		}
	}
}

func TestARevokedKeyIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := office(t)
	for range 20 {
		created := struct{ ID, Key string }{}
		decode(t, s.operate("POST", "api-keys/", `{"name":"Shop","rate_limit_per_minute":6000}`), http.StatusCreated, &created)
		get := func() int { return s.call("GET", "/storefront/api/plans/", "", "X-API-Key", created.Key).Code }
		if code := get(); code != http.StatusOK {
			t.Fatal(code)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for get() == http.StatusOK {
			}
		}()
		if w := s.operate("POST", "api-keys/"+created.ID+"/revoke/", ""); w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		if code := get(); code != http.StatusUnauthorized {
			t.Fatal(code)
		}
		<-done
	}
}

// Another process, which has cached the key, refuses it within five seconds.
func TestARevokedKeyIsRefusedElsewhereSoon(t *testing.T) {
	t.Parallel()
	s := office(t)
	elsewhere := &panel.Server{
		Settings: s.server.Settings, Once: s.server.Once, Limits: s.server.Limits, Tables: s.Tables, TokenKeys: s.server.TokenKeys, Log: s.server.Log,
	}
	handler := elsewhere.Handler()
	get := func() int {
		r := httptest.NewRequest("GET", "/storefront/api/plans/", nil)
		r.Header.Set("X-API-Key", s.known["sister"])
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := get(); code != http.StatusOK {
		t.Fatal(code)
	}
	s.operate("POST", "api-keys/Sister01/revoke/", "")
	for revoked := time.Now(); get() == http.StatusOK; time.Sleep(50 * time.Millisecond) {
		if time.Since(revoked) > 6*time.Second {
			t.Fatal("the key still opens the storefront")
		}
	}
}

// A key is stored nowhere; only the answer that created it holds it.
func TestAKeyIsStoredNowhere(t *testing.T) {
	t.Parallel()
	s := office(t)
	created := struct{ ID, Key string }{}
	decode(t, s.operate("POST", "api-keys/", `{"name":"Shop"}`, "Idempotency-Key", "once"), http.StatusCreated, &created)
	secret := strings.Split(created.Key, "_")[3]
	for _, sql := range []string{
		`select count(*) from events where data::text like '%' || $1 || '%' or meta::text like '%' || $1 || '%'`,
		`select count(*) from api_keys where spec::text like '%' || $1 || '%'`,
	} {
		if n := s.count(t, sql, secret); n != 0 {
			t.Errorf("%s: %d", sql, n)
		}
	}
	again := s.operate("POST", "api-keys/", `{"name":"Shop"}`, "Idempotency-Key", "once")
	if again.Code != http.StatusCreated || strings.Contains(again.Body.String(), secret) || strings.Contains(s.logged.String(), secret) {
		t.Error("the key was kept or logged")
	}
}

// A repeat after a crash rebuilds the lost answer, without its secrets.
func TestTheAnswerOfALostRequestIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := office(t)
	for _, call := range []struct{ method, path, body, blanked string }{
		{"POST", "plans/", `{"name":"New","price":1,"resource_type":"vps"}`, ""},
		{"PATCH", "plans/1/", `{"price":"3.50"}`, ""},
		{"POST", "widgets/", `{"name":"New"}`, ""},
		{"POST", "api-keys/", `{"name":"New"}`, "key"},
		{"POST", "api-keys/Sister01/revoke/", ``, ""},
		{"POST", "users/", `{"email":"new@example.com","password":"correct horse 9"}`, ""},
		{"PATCH", "users/3/", `{"name":"Ben"}`, ""},
		{"POST", "users/4/memberships/", `{"tenant":1,"role":"admin"}`, ""},
		{"PATCH", "users/2/memberships/2/", `{"role":"admin"}`, ""},
		{"POST", "users/4/deactivate/", ``, ""},
	} {
		first := s.operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
		if _, err := s.owner.Exec(t.Context(), `update once_keys set body = null, running_until = now() - interval '1 second'`); err != nil {
			t.Fatal(err)
		}
		before := s.count(t, `select count(*) from events`)
		again := s.operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
		want := blanked(first.Body.String(), call.blanked)
		if first.Code >= 400 || again.Code != first.Code || again.Body.String() != want || again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s %s: first %d %s, then %d %s", call.method, call.path, first.Code, first.Body, again.Code, again.Body)
		}
		if first.Header().Get("Location") != again.Header().Get("Location") || first.Header().Get("ETag") != again.Header().Get("ETag") {
			t.Errorf("%s %s: first %v, then %v", call.method, call.path, first.Header(), again.Header())
		}
		if n := s.count(t, `select count(*) from events`); n != before {
			t.Errorf("%s %s has added %d events", call.method, call.path, n-before)
		}
		third := s.operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
		if third.Body.String() != want {
			t.Errorf("%s %s: at last %s", call.method, call.path, third.Body)
		}
	}
}

// blanked is a body whose last member is null.
func blanked(body, name string) string {
	if name == "" {
		return body
	}
	before, _, _ := strings.Cut(body, `"`+name+`":`)
	return before + `"` + name + `":null}`
}

func TestEveryChangeNamesTheOperator(t *testing.T) {
	t.Parallel()
	s := office(t)
	before := s.count(t, `select max(position) from events`)
	for _, call := range [][3]string{
		{"POST", "plans/", `{"name":"New","price":1,"resource_type":"vps"}`},
		{"PATCH", "widgets/1/", `{"name":"New"}`},
		{"POST", "api-keys/Sister01/revoke/", ""},
		{"POST", "users/", `{"email":"new@example.com"}`},
		{"POST", "users/4/memberships/", `{"tenant":1}`},
		{"DELETE", "users/3/", ""},
	} {
		if w := s.operate(call[0], call[1], call[2]); w.Code >= 400 {
			t.Fatal(call, w.Code, w.Body)
		}
	}
	if n := s.count(t, `select count(*) from events where position > $1 and actor <> 'operator:1'`, before); n != 0 {
		t.Errorf("%d events by another actor", n)
	}
	if n := s.count(t, `select count(*) from events where position > $1`, before); n < 7 {
		t.Errorf("%d events", n)
	}
}

func TestARequestWithoutAChangeAddsNoEvent(t *testing.T) {
	t.Parallel()
	s := office(t)
	before := s.count(t, `select count(*) from events`)
	for _, path := range []string{"plans/1/", "widgets/1/", "api-keys/Sister01/", "users/3/", "users/2/memberships/1/"} {
		for _, body := range []string{"", "{}", `{"id":77,"unknown":[1],"created_at":null}`} {
			if w := s.operate("PATCH", path, body); w.Code != http.StatusOK {
				t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
			}
		}
	}
	if n := s.count(t, `select count(*) from events`); n != before {
		t.Errorf("%d events", n-before)
	}
}

// A PUT of a record as it was shown is accepted.
func TestWhatIsShownMayBeSentBack(t *testing.T) {
	t.Parallel()
	s := office(t)
	before := s.count(t, `select count(*) from events`)
	for _, path := range []string{"plans/1/", "plans/2/", "plans/3/", "widgets/1/", "users/1/", "users/2/", "users/5/"} {
		shown := s.operate("GET", path, "")
		w := s.operate("PUT", path, shown.Body.String(), "If-Match", shown.Header().Get("ETag"))
		if w.Code != http.StatusOK || w.Body.String() != shown.Body.String() || w.Header().Get("ETag") != shown.Header().Get("ETag") {
			t.Errorf("%s: %s\nis sent back: %d %s", path, shown.Body, w.Code, w.Body)
		}
	}
	if n := s.count(t, `select count(*) from events`); n != before {
		t.Errorf("%d events", n-before)
	}
}

// decode reads an answer that has to have this status.
func decode(t testing.TB, w *httptest.ResponseRecorder, status int, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); w.Code != status || err != nil {
		t.Fatalf("%d %s (%v), want %d", w.Code, w.Body, err, status)
	}
}
