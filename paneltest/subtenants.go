package paneltest

import (
	"testing"
)

// PastPeople draws the numbers that the tenants of [shop.people] have without drawing them.
func (s *Shop) PastPeople(t *testing.T) {
	t.Helper()
	for id := int64(0); id < 10; {
		ids, err := s.NextIDs(t.Context(), "tenant")
		if err != nil {
			t.Fatal(err)
		}
		id = ids[0]
	}
}

// Answers calls as several people, and compares the status codes.
func (s *Shop) Answers(t *testing.T, method, path, body string, want map[string]int) {
	t.Helper()
	for who, status := range want {
		if w := s.Call(method, path, body, Bearer(s.Known[who])...); w.Code != status {
			t.Errorf("%s %s %s as %s: %d, not %d: %s", method, path, body, who, w.Code, status, w.Body)
		}
	}
}
