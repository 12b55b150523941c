// Package pages serves the files that pages consist of.
package pages

import (
	"crypto/sha256"
	"encoding/hex"

	"hostpanel/http/caller"
	"hostpanel/http/pages/novnc"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Routes are the files that pages need besides themselves.
func Routes(callers *caller.Callers) route.Area {
	return route.Area{
		Name: "Pages", Access: route.Open,
		About: "What the pages for people consist of.",
		Routes: append([]route.Route{
			file(web.StylePath, "The style of the pages", "text/css", web.Style).As("style"),
			file(web.CopyPath, "The script that copies texts of a page", "text/javascript", web.CopyScript).As("copy_script"),
			file(web.LivePath, "The script that keeps pages up to date", "text/javascript", web.Live).As("live_script"),
			file(web.ConsolePath, "The script that shows the screens of servers", "text/javascript", web.Console).As("console_script"),
			novnc.Route(),
		}, append(sheetFiles(callers), widgetFiles()...)...),
	}
}

// file serves a file that is the same for all.
func file(path, about, media string, body []byte) route.Route {
	sum := sha256.Sum256(body)
	tag := hex.EncodeToString(sum[:8])
	d := route.Document{Type: media + "; charset=utf-8", Body: body, ETag: tag, Cache: "public, max-age=300"}
	return route.File(path, about, route.Compressed(d)).Sending(media, nil).Tagged()
}
