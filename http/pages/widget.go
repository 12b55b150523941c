package pages

import (
	"context"
	"net/http"
	"sync"

	"hostpanel/http/route"
	"hostpanel/http/web"
)

// fromElsewhere lets the pages of other sites load a file, also with a hash.
var fromElsewhere = http.Header{"Access-Control-Allow-Origin": {"*"}, "Cross-Origin-Resource-Policy": {"cross-origin"}}

// widgetFiles are the script of the order form on other websites: as it is
// now, and versions that never change.
func widgetFiles() []route.Route {
	return []route.Route{
		route.File(
			web.WidgetPath, "The order form for other websites, a script", scriptOf(web.Widget, "public, max-age=300"),
		).As("widget_script").Sending("text/javascript", nil).Tagged().
			Saying(
				"Pages of any origin may load it. It holds no key and follows the panel's version; pages that pin a hash name a version.",
			),
		route.File(web.WidgetFolder+"{name:[0-9]+-[0-9a-f]{8}\\.js}", "A version of the order form's script, which never changes", func(
			ctx context.Context, c route.Call,
		) (*route.Document, error) {
			w, known := web.WidgetNamed(c.Var("name"))
			if !known {
				return nil, route.Missing("WidgetScript")
			}
			script, _ := versions.LoadOrStore(w.Name, scriptOf(w, "public, max-age=31536000, immutable"))
			return script.(served)(ctx, c) //nolint:forcetypeassert // nothing else is stored
		}).As("widget_script_version").Sending("text/javascript", nil).Tagged().Of("WidgetScript").
			Saying(
				"The name has the version and the beginning of the SHA-256 hash. Released versions are kept, so that " +
					"pages can pin one with the attribute integrity.",
			),
	}
}

// served answers with a script.
type served = func(context.Context, route.Call) (*route.Document, error)

// versions are the scripts that were asked for, by name. Each is compressed once.
var versions sync.Map

func scriptOf(w web.WidgetScript, cache string) served {
	return route.Compressed(route.Document{
		Type: "text/javascript; charset=utf-8", Body: w.Body, ETag: w.Hash(), Cache: cache, Header: fromElsewhere,
	})
}
