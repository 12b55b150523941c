package paneltest

import (
	"testing"
)

// Documented makes the documents of all that was issued.
func (s *Shop) Documented(t testing.TB) {
	t.Helper()
	if _, err := s.Billing.MakeDocuments(t.Context()); err != nil {
		t.Fatal(err)
	}
}
