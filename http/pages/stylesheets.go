package pages

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"hostpanel/domain/hosting"
	"hostpanel/http/css"
	"hostpanel/http/route"
)

// Customers' style sheets are checked when they are sent, and served as what
// the check has understood: a file of its own for each version of a sheet,
// which browsers may keep for ever (docs/white-label.md).

const sheetPath = "/panel/whitelabel/{id:int}/{hash:[0-9a-f]{64}}.css"

// sheetFile is the style sheet of an active configuration, under the name that
// its content gives it. An earlier version is gone.
func (s *handlers) sheetFile() route.Route {
	return route.File(sheetPath, "A customer's style sheet, as it is served", func(ctx context.Context, c route.Call) (*route.Document, error) {
		row, err := s.System().Resource(ctx, hosting.Ref{Kind: "whitelabel", ID: c.ID("id")})
		if err != nil {
			return nil, err
		}
		var look hosting.WhiteLabel
		if err := row.Load(&look); err != nil {
			return nil, err
		}
		served, hash := sheetOf(look)
		if hash != c.Vars["hash"] {
			return nil, route.Missing("WhiteLabelConfig")
		}
		return &route.Document{
			Type: "text/css; charset=utf-8", Body: []byte(served), ETag: hash[:16], Cache: "public, max-age=31536000, immutable",
			Header: http.Header{"Content-Security-Policy": {"default-src 'none'"}},
		}, nil
	}).As("whitelabel_sheet").Sending("text/css", nil).Tagged().Of("WhiteLabelConfig")
}

// sheetOf is the style sheet of a configuration and its hash, both blank if it
// has none, is switched off, or holds what is not allowed any more.
func sheetOf(look hosting.WhiteLabel) (served, hash string) {
	if !look.IsActive {
		return "", ""
	}
	served, _ = css.Scoped(look.CustomCSS)
	if served == "" {
		return "", ""
	}
	sum := sha256.Sum256([]byte(served))
	return served, hex.EncodeToString(sum[:])
}
