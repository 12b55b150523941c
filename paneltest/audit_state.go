package paneltest

import (
	"testing"
)

// VersionOf is the number of events in a stream.
func (s *Shop) VersionOf(t *testing.T, stream string) int {
	t.Helper()
	return s.Count(t, `select max(version) from events where stream = $1`, stream)
}
