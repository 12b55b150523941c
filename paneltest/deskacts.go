package paneltest

import (
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/order"
	"hostpanel/sagas"
)

// Bought is an order for a site of this name, paid and active.
func (s *Shop) Bought(t *testing.T, site string) Answer {
	t.Helper()
	a := Read(t, s.Order(t, http.StatusCreated, strings.Replace(AHostingOrder, "{", `{"domain":"`+site+`",`, 1)))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	return a
}

// Accepted is a call that has to be taken: the record, as it is answered.
func (s *Shop) Accepted(t *testing.T, path, body string, headers ...string) string {
	t.Helper()
	w := s.Operate("POST", path, body, headers...)
	if w.Code != http.StatusAccepted {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// Stands waits until a run waits for its time at a step, and answers with its
// path.
func (s *Shop) Stands(t *testing.T, key, step string) string {
	t.Helper()
	s.Until(t, key+" waits at "+step, func() bool {
		return s.Count(t, `select count(*) from saga_run where key = $1 and status = 'waiting' and steps -> step ->> 'name' = $2`, key, step) == 1
	})
	return "sagas/" + sagas.RunID(key).String() + "/"
}
