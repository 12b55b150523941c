package route

import (
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// An origin is what a browser says about the page that calls.
type origin struct{ scheme, host, port string }

// parseOrigin reads "https://Example.com:8443" strictly: scheme, host in
// A-labels, port without the default one. Anything more is no origin.
func parseOrigin(s string) (origin, bool) {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || u.Opaque != "" {
		return origin{}, false
	}
	host, ok := asciiHost(u.Hostname())
	if !ok || u.Scheme != "http" && u.Scheme != "https" || strings.HasSuffix(u.Host, ":") || strings.HasSuffix(s, "#") {
		return origin{}, false
	}
	o := origin{u.Scheme, host, u.Port()}
	if o.port == defaultPorts[o.scheme] {
		o.port = ""
	}
	return o, true
}

var defaultPorts = map[string]string{"http": "80", "https": "443"}

func asciiHost(s string) (string, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String(), true
	}
	host, err := idna.Lookup.ToASCII(strings.ToLower(s))
	return host, err == nil && host != ""
}

// AdmitsOrigin tells whether pages of an origin may call with a key that
// names these domains (docs/api.md, "CORS"): "example.com" is that host on
// any port over https, "*.example.com" what lies below it, "localhost" and
// "127.0.0.1" are any port and also http; a full origin is itself. No domains
// means everywhere. Our own origin may always call.
func AdmitsOrigin(domains []string, from, public string) bool {
	if len(domains) == 0 {
		return true
	}
	o, ok := parseOrigin(from)
	if !ok {
		return false // "null" too
	}
	if own, ok := parseOrigin(strings.TrimSuffix(public, "/")); ok && o == own {
		return true
	}
	for _, d := range domains {
		if o.matches(d) {
			return true
		}
	}
	return false
}

func (o origin) matches(domain string) bool {
	if strings.Contains(domain, "://") {
		full, ok := parseOrigin(domain)
		return ok && o == full
	}
	if o.host == "localhost" || o.host == "127.0.0.1" {
		return domain == o.host
	}
	if o.scheme != "https" {
		return false
	}
	below, isBelow := strings.CutPrefix(domain, "*.")
	host, ok := asciiHost(below)
	if isBelow {
		return ok && strings.HasSuffix(o.host, "."+host)
	}
	return ok && o.host == host
}
