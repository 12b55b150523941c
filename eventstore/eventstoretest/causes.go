package eventstoretest

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

// Roots walks from each event of a log back to the root of its causes. It
// returns the event at which each chain ends, by the position of the event.
func Roots(t testing.TB, log *eventstore.Reader) map[int64]eventstore.RecordedEvent {
	t.Helper()
	known, roots := map[domain.Cause]eventstore.RecordedEvent{}, map[int64]eventstore.RecordedEvent{}
	err := log.Replay(t.Context(), 0, func(e eventstore.RecordedEvent) error {
		c := e.Metadata.Cause
		if _, err := domain.ParseCause(c.String()); err != nil {
			t.Errorf("event %d, %s of %s: %v", e.Position, e.Name, e.Stream, err)
		}
		known[e.Cause()], roots[e.Position] = e, e
		stream, version, named := c.Event()
		if !named {
			return nil
		}
		before, found := known[domain.EventCause(stream, version)]
		if !found {
			t.Errorf("event %d, %s of %s, has the cause %s, which is not before it", e.Position, e.Name, e.Stream, c)
		}
		if c.Kind() == domain.CausedByEvent {
			roots[e.Position] = roots[before.Position]
			if before.Metadata.Correlation != e.Metadata.Correlation {
				t.Errorf("event %d, %s of %s, and its cause %s, %s, have two correlations", e.Position, e.Name, e.Stream, c, before.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[domain.CauseKind]int{}
	for _, root := range roots {
		kinds[root.Metadata.Cause.Kind()]++
	}
	t.Logf("%d events have these roots: %v", len(roots), kinds)
	return roots
}
