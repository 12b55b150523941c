package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// HomeOf is the first page of a signed-in user.
func HomeOf(user projections.User) string {
	if user.IsSuperuser {
		return StorefrontPath
	}
	return PanelPath
}

// SeeOther sends a browser on, with cookies.
func SeeOther(path string, cookies ...*http.Cookie) *route.Document {
	d := &route.Document{Status: http.StatusSeeOther, Header: http.Header{"Location": {path}}}
	Giving(d, cookies...)
	return d
}

// Giving adds cookies to an answer.
func Giving(d *route.Document, cookies ...*http.Cookie) {
	for _, cookie := range cookies {
		d.Header.Add("Set-Cookie", cookie.String())
	}
}

// Done sends a browser on to a page that says what was done.
func (s *Renderer) Done(path, notice string, cookies ...*http.Cookie) *route.Document {
	return SeeOther(path, append(cookies, s.Callers.Cookie(noticeCookie, notice, 60))...)
}

func seconds(d time.Duration) string {
	return strconv.FormatInt(max(int64((d+time.Second-1)/time.Second), 1), 10)
}

// Private keeps the token in the address from whatever page comes next.
func Private(d *route.Document, err error) (*route.Document, error) {
	if d != nil {
		d.Header.Set("Referrer-Policy", "no-referrer")
	}
	return d, err
}

// Secluded keeps a page behind a mailed link out of everything that collects pages.
func Secluded(d *route.Document, err error) (*route.Document, error) {
	if d != nil {
		d.Header.Set("X-Robots-Tag", "noindex, nofollow")
	}
	return Private(d, err)
}

// LocalPath is a path of ours that a parameter names; "" for whatever could
// lead elsewhere.
func LocalPath(next string) string {
	if len(next) > 2000 || strings.ContainsFunc(next, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return ""
	}
	u, err := url.Parse(next)
	switch {
	case err != nil, u.Scheme != "", u.Host != "", u.User != nil, u.Opaque != "",
		!strings.HasPrefix(u.Path, "/"), strings.Contains(u.Path, "//"), strings.Contains(u.Path, `\`),
		u.Path == caller.LoginPath, u.Path == LogoutPath:
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// PaymentOrigins are the origins of payment pages. They are on https, but for those
// that the panel itself shows.
func PaymentOrigins(offers order.Offers, public string) []string {
	all := []string{}
	for _, o := range offers {
		origin := "https://" + o.Host
		if own, err := url.Parse(public); err == nil && own.Host == o.Host {
			origin = own.Scheme + "://" + own.Host
		}
		if o.Host != "" && !slices.Contains(all, origin) {
			all = append(all, origin)
		}
	}
	return all
}
