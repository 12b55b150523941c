// Package novnc serves noVNC, which shows the screens of virtual servers in browsers. Its
// files stand here as npm has them, with their licences (docs/adr/0076-novnc.md); `make
// novnc` fetches them again.
package novnc

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"sync"

	"hostpanel/http/route"
)

// Version is that of the files.
const Version = "1.7.0"

// folder is where the files are served. Its name has their version, so that browsers may keep
// them.
const folder = "/panel/novnc/" + Version + "/"

//go:embed core vendor docs LICENSE.txt AUTHORS
var files embed.FS

// served are the files that were asked for, each compressed once.
var served sync.Map

// Route serves the files.
func Route() route.Route {
	return route.File(folder+`{file:[A-Za-z0-9_./-]+}`, "A file of noVNC, which shows the screens of virtual servers", serve).
		As("novnc").Of("File").Sending("text/javascript", nil).Sending("text/plain", nil).Tagged().
		Saying("noVNC is unmodified, and under the Mozilla Public License 2.0: LICENSE.txt.")
}

func serve(ctx context.Context, c route.Call) (*route.Document, error) {
	name := c.Var("file")
	answer, known := served.Load(name)
	if !known {
		body, err := files.ReadFile(name)
		if err != nil {
			return nil, route.Missing("File")
		}
		answer, _ = served.LoadOrStore(name, route.Compressed(documentOf(name, body)))
	}
	return answer.(func(context.Context, route.Call) (*route.Document, error))(ctx, c) //nolint:forcetypeassert // nothing else is stored
}

func documentOf(name string, body []byte) route.Document {
	sum := sha256.Sum256(body)
	d := route.Document{
		Type: "text/plain; charset=utf-8", Body: body, ETag: hex.EncodeToString(sum[:8]), Cache: "public, max-age=31536000, immutable",
		Header: http.Header{"Cross-Origin-Resource-Policy": {"same-origin"}},
	}
	if path.Ext(name) == ".js" {
		d.Type = "text/javascript; charset=utf-8"
	}
	return d
}
