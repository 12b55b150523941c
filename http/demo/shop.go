package demo

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"hostpanel/http/route"
	"hostpanel/http/web"
)

// ShopURL is where the shop is: under the other name of this machine, so that
// it is another website. A panel elsewhere has the shop on its own.
func ShopURL(public string) string {
	u, err := url.Parse(public)
	if err != nil || public == "" {
		return ""
	}
	other := map[string]string{"127.0.0.1": "localhost", "::1": "localhost", "localhost": "127.0.0.1"}[u.Hostname()]
	if other != "" && u.Scheme == "http" {
		u.Host = net.JoinHostPort(other, u.Port())
		if u.Port() == "" {
			u.Host = other
		}
	}
	u.Path = ShopPath
	return u.String()
}

// shop is a page as a hoster would write it, under a policy that lets the
// panel's script do what it needs, and nothing else.
func (s *Area) shop(_ context.Context, c route.Call) (*route.Document, error) {
	panel, language := s.PublicURL(), c.Query.Get("lang")
	if language != "es" {
		language = web.English
	}
	policy := fmt.Sprintf("default-src 'none'; script-src %[1]s; connect-src %[1]s; style-src 'self'; base-uri "+
		"'none'; form-action 'none'; "+
		"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'", panel)
	return page("shop", policy, map[string]any{
		"Panel": panel, "Widget": s.Widget, "Key": s.Key, "Language": language, "Script": panel + web.WidgetPath,
		"IsSpanish": language == "es",
		"Mail":      panel + MailPath,
	})
}
