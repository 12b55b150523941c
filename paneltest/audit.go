package paneltest

import (
	"strconv"
	"strings"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore/tlog/tree"
	"hostpanel/sagas/audit"
)

// Indexed fills the index of the log up to the head that the log has now. The background
// work of the shop may hold the reader meanwhile: a fill that adds nothing is not the end.
func (s *Shop) Indexed(t *testing.T) {
	t.Helper()
	head := s.Count(t, `select max(position) from events`)
	for s.Count(t, `select coalesce(max(position), 0) from readers where name = $1`, audit.IndexReader) < head {
		if _, err := s.Audit.Index(t.Context()); err != nil {
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
