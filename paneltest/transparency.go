package paneltest

import (
	"strconv"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore/tlog/tree"
)

// Seal brings the transparency log up to date.
func (s *Shop) Seal(t *testing.T) tree.Origin {
	t.Helper()
	sealer := tree.NewSealer(s.Pool(), s.Keys(), func() string { return "panel.example/audit/log" }, "")
	if _, err := sealer.Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	o, err := sealer.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Position is where the last event of a stream stands in the log.
func (s *Shop) Position(t *testing.T, stream string) string {
	t.Helper()
	history, err := s.Read(t.Context(), domain.StreamNamed(stream))
	if err != nil || len(history) == 0 {
		t.Fatal(history, err)
	}
	return strconv.FormatInt(history[len(history)-1].Position, 10)
}
