package paneltest

import (
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore/tlog/tree"
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

// VersionOf is the number of events in a stream.
func (s *Shop) VersionOf(t *testing.T, stream string) int {
	t.Helper()
	return s.Count(t, `select max(version) from events where stream = $1`, stream)
}

// Past is the part of a page with the history of its record.
func Past(text string) string {
	_, after, _ := strings.Cut(text, `<section id="past"`)
	part, _, _ := strings.Cut(after, "</section>")
	return part
}

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
