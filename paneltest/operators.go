package paneltest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Office is a stocked shop with people. The ids of new records begin at 101.
func Office(t testing.TB, options ...func(*Shop)) *Shop {
	t.Helper()
	return office.open(t, options...)
}

var office = fixture{make: func(t testing.TB) *Shop {
	s := Open(t).Stock(t).People(t)
	if _, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['user_id', 'plan_id', 'widget_id', 'tenant_id', 'site_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}}

const Operations = "/operations/api/v1/"

// Operate is a call of the superuser.
func (s *Shop) Operate(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	return s.Call(method, Operations+path, body, append(Bearer(s.Known["root"]), headers...)...)
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

// Wins checks that one call succeeded, and all others got this refusal.
func Wins(t *testing.T, answers []*httptest.ResponseRecorder, success int, refusal string) {
	t.Helper()
	got := outcomes(answers)
	if got[fmt.Sprint(success)] != 1 || got[refusal] != len(answers)-1 {
		t.Fatalf("%v", got)
	}
}

// Decode reads an answer that has to have this status.
func Decode(t testing.TB, w *httptest.ResponseRecorder, status int, into any) {
	t.Helper()
	if err := json.Unmarshal(w.Body.Bytes(), into); w.Code != status || err != nil {
		t.Fatalf("%d %s (%v), want %d", w.Code, w.Body, err, status)
	}
}
