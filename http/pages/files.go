package pages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Routes are the files that pages need besides themselves.
func Routes(d Deps) route.Area {
	s := &handlers{d}
	sum := sha256.Sum256(web.Style)
	tag := hex.EncodeToString(sum[:8])
	return route.Area{
		Name: "Pages", Access: route.Open,
		About: "What the pages for people consist of.",
		Routes: append([]route.Route{
			route.File(web.StylePath, "The style of the pages", func(context.Context, route.Call) (*route.Document, error) {
				return &route.Document{Type: "text/css; charset=utf-8", Body: web.Style, ETag: tag, Cache: "public, max-age=300"}, nil
			}).As("style").Sending("text/css", nil).Tagged(),
			s.sheetFile(),
		}, s.widgetFiles()...),
	}
}
