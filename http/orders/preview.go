package orders

import (
	"context"
	"net/http"

	"hostpanel/http/route"
)

const previewPrefix = "/storefront/preview/"

// previewArea shows order forms to the panel's own pages, without a key.
func (s *Area) previewArea() route.Area {
	return route.Area{
		Name: "Previews", Prefix: previewPrefix,
		About:  "Order forms as the panel's own pages show them, by session or access token.",
		Access: s.Callers.User(),
		Routes: []route.Route{
			route.Get(previewPrefix+"{widget_id:[a-z0-9]{16}}/", "An order form and its plans, for a preview", s.preview).
				As("widget_preview").Of("Widget").Caching("no-store").
				Saying("The same as with a key. Superusers also see order forms that are not active.").
				Failing(http.StatusNotFound, "There is no such widget, or it is not active."),
		},
	}
}

func (s *Area) preview(ctx context.Context, c route.Call) (*offeredWidget, error) {
	widget, err := s.Callers.Scope(c).Orders().Widget(ctx, c.Var("widget_id"))
	if err != nil {
		return nil, err
	}
	offers := s.Offers.For(s.Hosted != nil) // as with a key of the usual mode
	return s.offeredWidget(ctx, widget, offers, c.Param("language"))
}
