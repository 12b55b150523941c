package operations_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/http/route/routetest"
	"hostpanel/paneltest"
)

// Conversations of operators with the API.
// The kept answer of a request goes with the person whom it shows. Others stay.
func TestAnErasedPersonIsNotInAKeptAnswer(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	asks := func(name string) *httptest.ResponseRecorder {
		return s.Operate("POST", "users/", `{"email":"`+name+`@kept.example","name":"`+name+` Kept","language":"en"}`,
			"Idempotency-Key", name)
	}
	var cleo, dora struct{ ID int64 }
	paneltest.Decode(t, asks("cleo"), http.StatusCreated, &cleo)
	first := asks("dora")
	paneltest.Decode(t, first, http.StatusCreated, &dora)
	if err := s.Server.Accounts.Erase(t.Context(), domain.Metadata{ID: uuid.New(), Actor: "operator:1"},
		cleo.ID); err != nil {
		t.Fatal(err)
	}
	if again := asks("cleo"); strings.Contains(again.Body.String(), "Kept") ||
		strings.Contains(again.Body.String(), "kept.example") {
		t.Errorf("the repeat shows an erased person: %s", again.Body)
	}
	if again := asks("dora"); again.Body.String() != first.Body.String() || again.Code != first.Code {
		t.Errorf("the repeat of another request is answered %d: %s", again.Code, again.Body)
	}
}

func TestOperatorsConversations(t *testing.T) {
	t.Parallel()
	routetest.Run(t, "../testdata/operations/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := paneltest.Office(t)
		s.Order(t, http.StatusCreated, paneltest.HostingOrder) // of plan 1
		return s.Handler, s.Known
	})
}

func TestPlansOfOneNameGetSlugsOfTheirOwn(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	for _, w := range s.AtOnce(20, func(int) *httptest.ResponseRecorder {
		return s.Operate("POST", "plans/", `{"name":"Same","price":1,"resource_type":"saas"}`)
	}) {
		if w.Code != http.StatusCreated {
			t.Fatal(w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(distinct slug) from plans where slug = 'same' or slug ~ '^same-1[0-9]{2}$'`); n != 20 {
		t.Fatalf("%d slugs", n)
	}
}

// A change with If-Match applies to that version only.
func TestOneOfManyWhoHaveSeenAPlanChangesIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	answers := s.AtOnce(20, func(i int) *httptest.ResponseRecorder {
		return s.Operate("PATCH", "plans/1/", fmt.Sprintf(`{"price":"%d.50"}`, i+10), "If-Match", `"plan-1-1"`)
	})
	paneltest.Wins(t, answers, http.StatusOK,
		`412 {"detail":"The resource was changed in the meantime.","code":"precondition_failed"}`)
	for _, w := range answers {
		if tag := w.Header().Get("ETag"); tag != `"plan-1-2"` {
			t.Errorf("%d with the version %s", w.Code, tag)
		}
	}
}

// Simultaneous changes of different fields without If-Match all take effect.
func TestChangesOfDifferentFieldsAllStay(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	bodies := []string{`{"name":"Ben"}`, `{"language":"de"}`, `{"email":"ben@example.org"}`, `{"is_superuser":true}`}
	for _, w := range s.AtOnce(len(bodies),
		func(i int) *httptest.ResponseRecorder { return s.Operate("PATCH", "users/3/", bodies[i]) }) {
		if w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
	}
	paneltest.Has(t, s.Operate("GET", "users/3/", "").Body.String(), `"name":"Ben","language":"de","is_superuser":true`,
		`"email":"ben@example.org"`)
}

// A key is stored nowhere; only the answer that created it holds it.
func TestAKeyIsStoredNowhere(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	created := struct{ ID, Key string }{}
	paneltest.Decode(t, s.Operate("POST", "api-keys/", `{"name":"Shop"}`, "Idempotency-Key", "once"), http.StatusCreated,
		&created)
	secret := strings.Split(created.Key, "_")[3]
	for _, sql := range []string{
		`select count(*) from events where data::text like '%' || $1 || '%' or meta::text like '%' || $1 || '%'`,
		`select count(*) from api_keys where spec::text like '%' || $1 || '%'`,
	} {
		if n := s.Count(t, sql, secret); n != 0 {
			t.Errorf("%s: %d", sql, n)
		}
	}
	again := s.Operate("POST", "api-keys/", `{"name":"Shop"}`, "Idempotency-Key", "once")
	if again.Code != http.StatusCreated || strings.Contains(again.Body.String(), secret) ||
		strings.Contains(s.Logged.String(), secret) {
		t.Error("the key was kept or logged")
	}
}

// A repeat after a crash rebuilds the lost answer, without its secrets.
func TestTheAnswerOfALostRequestIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
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
		first := s.Operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
		if _, err := s.Owner.Exec(t.Context(),
			`update once_keys set body = null, running_until = now() - interval '1 second'`); err != nil {
			t.Fatal(err)
		}
		before := s.Count(t, `select count(*) from events`)
		again := s.Operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
		want := blanked(first.Body.String(), call.blanked)
		if first.Code >= 400 || again.Code != first.Code || again.Body.String() != want ||
			again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s %s: first %d %s, then %d %s", call.method, call.path, first.Code, first.Body, again.Code, again.Body)
		}
		if first.Header().Get("Location") != again.Header().Get("Location") ||
			first.Header().Get("ETag") != again.Header().Get("ETag") {
			t.Errorf("%s %s: first %v, then %v", call.method, call.path, first.Header(), again.Header())
		}
		if n := s.Count(t, `select count(*) from events`); n != before {
			t.Errorf("%s %s has added %d events", call.method, call.path, n-before)
		}
		third := s.Operate(call.method, call.path, call.body, "Idempotency-Key", "lost")
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
	s := paneltest.Office(t)
	before := s.Count(t, `select max(position) from events`)
	for _, call := range [][3]string{
		{"POST", "plans/", `{"name":"New","price":1,"resource_type":"vps"}`},
		{"PATCH", "widgets/1/", `{"name":"New"}`},
		{"POST", "api-keys/Sister01/revoke/", ""},
		{"POST", "users/", `{"email":"new@example.com"}`},
		{"POST", "users/4/memberships/", `{"tenant":1}`},
		{"DELETE", "users/3/", ""},
	} {
		if w := s.Operate(call[0], call[1], call[2]); w.Code >= 400 {
			t.Fatal(call, w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from events where position > $1 and actor <> 'operator:1'`, before); n != 0 {
		t.Errorf("%d events by another actor", n)
	}
	if n := s.Count(t, `select count(*) from events where position > $1`, before); n < 7 {
		t.Errorf("%d events", n)
	}
}

func TestARequestWithoutAChangeAddsNoEvent(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	before := s.Count(t, `select count(*) from events`)
	for _, path := range []string{"plans/1/", "widgets/1/", "api-keys/Sister01/", "users/3/", "users/2/memberships/1/"} {
		for _, body := range []string{"", "{}", `{"id":77,"unknown":[1],"created_at":null}`} {
			if w := s.Operate("PATCH", path, body); w.Code != http.StatusOK {
				t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
			}
		}
	}
	if n := s.Count(t, `select count(*) from events`); n != before {
		t.Errorf("%d events", n-before)
	}
}

// A PUT of a record as it was shown is accepted.
func TestWhatIsShownMayBeSentBack(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	before := s.Count(t, `select count(*) from events`)
	for _, path := range []string{"plans/1/", "plans/2/", "plans/3/", "widgets/1/", "users/1/", "users/2/", "users/5/"} {
		shown := s.Operate("GET", path, "")
		w := s.Operate("PUT", path, shown.Body.String(), "If-Match", shown.Header().Get("ETag"))
		if w.Code != http.StatusOK || w.Body.String() != shown.Body.String() ||
			w.Header().Get("ETag") != shown.Header().Get("ETag") {
			t.Errorf("%s: %s\nis sent back: %d %s", path, shown.Body, w.Code, w.Body)
		}
	}
	if n := s.Count(t, `select count(*) from events`); n != before {
		t.Errorf("%d events", n-before)
	}
}
