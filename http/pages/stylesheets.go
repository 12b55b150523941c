package pages

import (
	"context"
	"net/http"

	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// Customers' style sheets are checked when they are sent, and served as what
// the check has understood: a file of its own for each version of a sheet,
// which browsers may keep for ever (docs/white-label.md).

const (
	sheetPath  = "/panel/whitelabel/{id:int}/{hash:[0-9a-f]{64}}.css"
	colorsPath = "/panel/whitelabel/{id:int}/colors/{hash:[0-9a-f]{64}}.css"
)

// sheetFiles are the style sheet of an active configuration, and its colors, each under the
// name that its content gives it. An earlier version is gone.
func sheetFiles(callers *caller.Callers) []route.Route {
	sheet := route.File(sheetPath, "A customer's style sheet, as it is served", look(callers, web.SheetOf)).As("whitelabel_sheet")
	colors := route.File(colorsPath, "A customer's colors, as pages use them", look(callers, web.ColorsOf)).As("whitelabel_colors")
	return []route.Route{
		sheet.Sending("text/css", nil).Tagged().Of("WhiteLabelConfig"),
		colors.Sending("text/css", nil).Tagged().Of("WhiteLabelConfig"),
	}
}

// look serves what is made of a configuration.
func look(
	callers *caller.Callers, made func(hosting.WhiteLabel) (text, hash string),
) func(context.Context, route.Call) (*route.Document, error) {
	return func(ctx context.Context, c route.Call) (*route.Document, error) {
		row, err := callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "whitelabel", ID: c.ID("id")})
		if err != nil {
			return nil, err
		}
		var white hosting.WhiteLabel
		if err := row.Load(&white); err != nil {
			return nil, err
		}
		served, hash := made(white)
		if hash != c.Vars["hash"] {
			return nil, route.Missing("WhiteLabelConfig")
		}
		return &route.Document{
			Type: "text/css; charset=utf-8", Body: []byte(served), ETag: hash[:16], Cache: "public, max-age=31536000, immutable",
			Header: http.Header{"Content-Security-Policy": {"default-src 'none'"}},
		}, nil
	}
}
