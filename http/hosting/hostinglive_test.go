package hosting_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// running is a shop with running workers, whose answers wait for the engine.
func running(t *testing.T) *paneltest.Shop {
	t.Helper()
	return paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = time.Minute }).People(t).Start(t)
}

// as makes a call with the token of a user.
func as(s *paneltest.Shop, who, method, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.Call(method, "/hosting/api/rest/"+path, body,
		append(append(paneltest.Bearer(s.Known[who]), "Content-Type", "application/json"), headers...)...)
}

// bodyOf checks the status of an answer and returns its body.
func bodyOf(t testing.TB, w *httptest.ResponseRecorder, status int) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &body); w.Code != status || err != nil {
		t.Fatalf("%d, not %d: %s", w.Code, status, w.Body)
	}
	return body
}

// The answer to a creation has the engine's id, unless the caller asked for an
// asynchronous answer. A removal has completed when it is answered.
func TestAnAnswerWaitsForTheEngine(t *testing.T) {
	t.Parallel()
	s := running(t)
	made := bodyOf(t, as(s, "ben", "POST", "sites/", `{"domain":"bread.example"}`), http.StatusCreated)
	if made["sync_status"] != "synced" || made["hosting_site_id"] == nil {
		t.Errorf("made: %v", made)
	}
	changed := bodyOf(t, as(s, "ben", "PATCH", fmt.Sprintf("sites/%v/", made["id"]), `{"ssl_enabled":true}`),
		http.StatusOK)
	if changed["sync_status"] != "synced" || changed["ssl_enabled"] != true {
		t.Errorf("changed: %v", changed)
	}
	w := as(s, "ben", "POST", "databases/", `{"name":"shop"}`, "Prefer", "handling=lenient, respond-async; wait=10")
	if w.Header().Get("Preference-Applied") != "respond-async" {
		t.Errorf("the preference is not confirmed: %v", w.Header())
	}
	database := bodyOf(t, w, http.StatusCreated)
	w = as(s, "ben", "DELETE", fmt.Sprintf("databases/%v/", database["id"]), "")
	if w.Code != http.StatusNoContent || s.Count(t,
		`select count(*) from resources where kind = 'database' and status = 'gone'`) != 1 {
		t.Errorf("removed: %d %s", w.Code, w.Body)
	}
}

// An answer after the longest wait shows the record as pending.
func TestAnAnswerWaitsNoLongerThanItMay(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.EngineWait = 30 * time.Millisecond }).People(t) // no worker runs
	made := bodyOf(t, as(s, "ben", "POST", "sites/", `{"domain":"bread.example"}`), http.StatusCreated)
	if made["sync_status"] != "pending" || made["hosting_site_id"] != nil {
		t.Errorf("%v", made)
	}
}

// A final refusal of the engine is shown as a sentence of the panel.
func TestARefusalOfTheEngineIsASentence(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	made := bodyOf(t, as(s, "ben", "POST", "sites/", `{"domain":"bread.example"}`), http.StatusCreated)
	id := int64(made["id"].(float64))
	for _, c := range []struct{ code, want string }{
		{"name_taken", "The server has another one with this name."},
		{"whatever_comes", "The server refused the change. Please contact support."},
	} {
		s.Do(t, hosting.Decline{Ref: hosting.Ref{Kind: "site", ID: id}, Code: c.code})
		shown := bodyOf(t, as(s, "ben", "GET", fmt.Sprintf("sites/%d/", id), ""), http.StatusOK)
		if shown["sync_status"] != "error" || shown["sync_error"] != c.want {
			t.Errorf("%s: %v", c.code, shown)
		}
		s.Do(t, hosting.Change{Ref: hosting.Ref{Kind: "site", ID: id}, Spec: field.Values{"ssl_enabled": []byte("true")}})
	}
}

// tables returns the names of all tables.
func tables(t *testing.T, s *paneltest.Shop) (names []string) {
	t.Helper()
	err := s.Owner.QueryRow(t.Context(), `select array_agg(table_name::text) from information_schema.tables where `+
		`table_schema = 'public' and table_type = 'BASE TABLE'`).Scan(&names)
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	return names
}

// settled waits until the engine has confirmed every request.
func settled(t *testing.T, s *paneltest.Shop) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if s.Count(t, `select count(*) from resources where sync_status = 'pending' and kind not in ('tenant')`) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the engine is not done")
		}
	}
}
