package audit

import (
	"context"
	"net/http"

	"hostpanel/domain/audit"
	"hostpanel/http/route"
)

func (s *Area) streamRoutes() []route.Route {
	return []route.Route{
		route.Pages[eventEntry](streamPath+"events/", "The events of a stream, oldest first", s.streamEvents).As("audit_stream_events").
			Failing(http.StatusNotFound, "There is no such stream, or it is foreign.").
			Saying("Streams are named like site-12, order-<uuid>, tenant-3, user-1 and security-1."),
	}
}

func (s *Area) streamEvents(ctx context.Context, c route.Call, w route.Window) (route.Page[eventEntry], error) {
	found, err := s.Lookback.StreamEvents(ctx, readerOf(c), streamOf(c), int(w.Offset), int(w.Limit))
	return route.Page[eventEntry]{Count: found.Count, Results: entriesOf(found.Events)}, err
}

func entriesOf(events []audit.Event) []eventEntry {
	entries := make([]eventEntry, len(events))
	for i, e := range events {
		entries[i] = eventEntry{e}
	}
	return entries
}

// An eventEntry is an event of the log.
type eventEntry struct{ audit.Event }

// An actorEntry is who did something.
type actorEntry struct{ *audit.Actor }
