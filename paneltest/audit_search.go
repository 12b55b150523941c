package paneltest

import (
	"testing"
)

// Indexed fills the index of the log, which the background work does otherwise.
func (s *Shop) Indexed(t *testing.T) {
	t.Helper()
	for added := 1; added > 0; {
		var err error
		if added, err = s.Audit.Index(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
