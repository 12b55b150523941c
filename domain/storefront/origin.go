package storefront

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"hostpanel/domain/field"
)

// Websites that may use a key are listed as hosts ("example.com": this host,
// any port, https), as all hosts below one ("*.example.com": not itself), as
// this machine ("localhost", "127.0.0.1": any port, http too) or as an origin
// ("https://example.com:8443": exactly that).

// OriginAllowed tells whether a browser's Origin header is one of those
// listed. An empty list allows all, and it alone allows "null".
func OriginAllowed(listed []string, header string) bool {
	if len(listed) == 0 {
		return true
	}
	from, ok := parseOrigin(header)
	return ok && slices.ContainsFunc(listed, from.is)
}

// An origin is where a page came from: scheme, host in lower-case A-labels,
// and the port unless it is the scheme's own.
type origin struct{ scheme, host, port string }

func (o origin) is(entry string) bool {
	entry = tidyOrigin(entry)
	if parent, below := strings.CutPrefix(entry, "*."); below {
		return o.scheme == "https" && strings.HasSuffix(o.host, "."+parent)
	}
	if thisMachine(entry) {
		return o.host == entry
	}
	if strings.Contains(entry, "://") {
		listed, ok := parseOrigin(entry)
		return ok && o == listed
	}
	return o.scheme == "https" && o.host == entry
}

func thisMachine(host string) bool { return host == "localhost" || host == "127.0.0.1" }

// parseOrigin takes "https://example.com:8443" apart, and nothing more than
// that.
func parseOrigin(text string) (origin, bool) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || u.Path != "" || u.RawQuery != "" || u.ForceQuery ||
		strings.Contains(text, "#") || u.Scheme != "https" && u.Scheme != "http" {
		return origin{}, false
	}
	host := tidyHost(u.Hostname())
	if !validHost(host) || strings.HasSuffix(u.Host, ":") {
		return origin{}, false
	}
	port := u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		port = ""
	}
	return origin{u.Scheme, host, port}, true
}

func tidyHost(host string) string {
	host = strings.ToLower(host)
	if net.ParseIP(host) != nil {
		return host
	}
	return field.Domain.Tidy(host)
}

func validHost(host string) bool {
	return host == "localhost" || net.ParseIP(host) != nil || field.Domain.Holds(host)
}

// tidyOrigin is an entry of the list in the form in which it is kept.
func tidyOrigin(entry string) string {
	entry = strings.TrimSpace(entry)
	if strings.Contains(entry, "://") {
		if o, ok := parseOrigin(entry); ok {
			return o.String()
		}
		return entry
	}
	if parent, below := strings.CutPrefix(entry, "*."); below {
		return "*." + tidyHost(parent)
	}
	return tidyHost(entry)
}

// isOrigin tells whether an entry is of one of the listed forms.
func isOrigin(entry string) bool {
	if strings.Contains(entry, "://") {
		_, ok := parseOrigin(entry)
		return ok
	}
	if parent, below := strings.CutPrefix(entry, "*."); below {
		return field.Domain.Holds(parent)
	}
	return thisMachine(entry) || field.Domain.Holds(entry)
}

func (o origin) String() string {
	host := o.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if o.port != "" {
		host += ":" + o.port
	}
	return o.scheme + "://" + host
}
