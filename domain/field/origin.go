package field

import (
	"net/netip"
	"net/url"
	"strings"
)

// Origin is an entry of the list of domains from which browsers may call with
// an API key: "example.com", "*.example.com", "localhost", "127.0.0.1", or a
// full origin such as "https://example.com:8443" (docs/api.md, "CORS").
var Origin = Rule{Max: 255, Message: "Enter a valid domain or origin.", Tidy: tidyOrigin, Holds: isOrigin}

func tidyOrigin(s string) string {
	scheme, host, full := strings.Cut(s, "://")
	if !full {
		return tidyBelow(s)
	}
	host, port, hasPort := strings.Cut(host, ":")
	s = strings.ToLower(scheme) + "://" + tidyDomain(host)
	if hasPort {
		s += ":" + port
	}
	return s
}

func tidyBelow(s string) string {
	if below, is := strings.CutPrefix(s, "*."); is {
		return "*." + tidyDomain(below)
	}
	return tidyDomain(s)
}

func isOrigin(s string) bool {
	if !strings.Contains(s, "://") {
		return isOriginHost(strings.TrimPrefix(s, "*."))
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Path+u.RawQuery+u.Fragment != "" || strings.HasSuffix(s, ":") {
		return false
	}
	return (u.Scheme == "https" || u.Scheme == "http") && isOriginHost(u.Hostname())
}

func isOriginHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || s == "localhost" || isDomain(s)
}
