package audit

import (
	"context"
	"net/http"

	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/http/listing"
	"hostpanel/http/route"
	"hostpanel/projections"
)

func (s *Area) lookRoutes() []route.Route {
	return []route.Route{
		listing.Pages[audit.Look](prefix+"looks/", "Who has looked at which stream, the latest first", listing.Spec{
			Filters: func() field.Set {
				return append(field.Set{
					field.Text("stream", new(string)).Doc("Only looks at this stream: site-12."),
					field.Text("actor", new(string)).Doc("Only looks by this actor: user:12, operator:1, system:console."),
					field.Int("tenant", new(int64)).Doc("Only looks at streams of this tenant."),
				}, listing.Ranges("looked_at")...)
			},
			Ordering: []string{"looked_at", "stream", "actor"},
		}, s.looks).As("audit_looks").Caching("no-store").
			Failing(http.StatusBadRequest, "A filter cannot be read.").
			Saying("One for each actor, stream and hour. Administrators of a tenant see the looks at streams of their tenant."),
	}
}

func (s *Area) looks(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[audit.Look], error) {
	return s.Lookback.Looks(ctx, readerOf(c), l)
}
