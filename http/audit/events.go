package audit

import (
	"context"
	"net/http"

	"hostpanel/domain/audit"
	"hostpanel/http/route"
)

func (s *Area) streamRoutes() []route.Route {
	return []route.Route{
		route.Pages[audit.Event](streamPath+"events/", "The events of a stream, oldest first", s.streamEvents).As("audit_stream_events").
			Failing(http.StatusNotFound, "There is no such stream, or it is foreign.").
			Saying("Streams are named like site-12, order-<uuid>, tenant-3, user-1 and security-1."),
	}
}

func (s *Area) streamEvents(ctx context.Context, c route.Call, w route.Window) (route.Page[audit.Event], error) {
	found, err := s.Lookback.StreamEvents(ctx, readerOf(c), streamOf(c), int(w.Offset), int(w.Limit))
	return route.Page[audit.Event]{Count: found.Count, Results: found.Events}, err
}
