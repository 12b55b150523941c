package caller

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"hostpanel/http/route"
)

// A form, and a call of a script, carries a token that is bound to its browser. What
// another site has sent is refused (docs/security.md, "Browser sessions").

// CSRFHeader is the header in which a script sends the token of its page.
const CSRFHeader = "X-CSRF-Token"

var (
	fromElsewhere = &route.Refusal{
		Status: http.StatusForbidden, Detail: "This form was sent by another site.", Slug: "permission_denied",
	}
	wrongCSRFToken = &route.Refusal{
		Status: http.StatusForbidden, Slug: "permission_denied", Detail: "CSRF Failed: CSRF token missing or incorrect.",
	}
)

// sameSite refuses forms that another site has sent.
func (s *Callers) sameSite(_ context.Context, r route.Request, _ route.Caller) error {
	if !isSafe(r.Method) && !s.isOwnPage(r) {
		return fromElsewhere
	}
	return nil
}

// isOwnPage tells whether the browser says that a page of the panel calls, or
// says nothing of another one.
func (s *Callers) isOwnPage(r route.Request) bool {
	protection := http.NewCrossOriginProtection()
	if err := protection.AddTrustedOrigin(s.deps.PublicURL()); err != nil {
		s.Log().Warn("the public URL is no origin", "err", err.Error())
	}
	changing := *r.Request // the protection lets all calls pass that only read
	changing.Method = http.MethodPost
	return protection.Check(&changing) == nil
}

// IsThisMachine tells whether a request comes from this machine. One that a proxy has
// forwarded is from elsewhere. So is one to another name: the page of a stranger may have
// given that name our address.
func IsThisMachine(ip netip.Addr, host string, h http.Header) bool {
	if !ip.IsLoopback() || !isLoopback((&url.URL{Host: host}).Hostname()) {
		return false
	}
	for name := range h {
		if strings.HasPrefix(name, "X-Forwarded-") || slices.Contains(ofProxies, name) {
			return false
		}
	}
	from, err := url.Parse(h.Get("Origin")) // a proxy that tells nothing leaves it as it was
	return err == nil && (h.Get("Origin") == "" || isLoopback(from.Hostname()))
}

// ofProxies are headers that a proxy may add.
var ofProxies = []string{"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Cf-Ray"}

func isLoopback(name string) bool {
	address, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && address.IsLoopback()
}

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// Token binds a form to a browser.
func (s *Callers) Token(browser string) string {
	return base64.RawURLEncoding.EncodeToString(s.formMACs(browser)[0])
}

// formMACs are keyed hashes of a browser's id, with the newest key and with
// all that are not retired yet.
func (s *Callers) formMACs(browser string) [][]byte {
	return s.deps.Once.Fingerprints([]byte("form"), []byte(browser))
}

// IsToken tells whether a form's token belongs to a browser. A browser without an
// id has none.
func (s *Callers) IsToken(browser, token string) bool {
	sent, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil || browser == "" {
		return false
	}
	for _, mac := range s.formMACs(browser) {
		if hmac.Equal(mac, sent) {
			return true
		}
	}
	return false
}
