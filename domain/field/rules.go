package field

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// A Rule is a condition on a text, and the form in which the text is kept.
type Rule struct {
	Format  string // in the words of OpenAPI
	Pattern string // likewise, if the rule is one
	Max     int64  // characters, where the field names no limit of its own
	Message string // what the caller reads when it does not hold
	OfType  bool   // likewise, of a value that is no text
	Tidy    func(string) string
	Holds   func(string) bool

	// Problems says everything that is wrong with a text, of rules that one
	// message does not tell; Message and Holds are not looked at then.
	Problems func(string) []string
}

func (r Rule) problems(s string) []string {
	switch {
	case r.Problems != nil:
		return r.Problems(s)
	case !r.Holds(s):
		return []string{r.Message}
	}
	return nil
}

const (
	notDomain  = "Enter a valid domain name."
	notPublic  = "Names that end in .local or .onion are not in DNS."
	notURL     = "Enter a valid URL."
	notPattern = "This value does not match the required pattern."
)

// Rules of the contract's value types (docs/api.md, "Wire rules").
var (
	// Domain is a host name of at least two labels, lower-case, in A-labels,
	// without a final dot. It is one of DNS.
	Domain = Rule{Format: "hostname", Max: 253, Message: notDomain, Tidy: tidyDomain, Holds: isDomain}.
		butFor(isBesideDNS, notPublic)

	// DNSName is a name in a zone: one label is enough, "_" may begin a label,
	// "*" may be the first one, "@" is the zone itself.
	DNSName = Rule{Max: 253, Message: notDomain, Tidy: tidyDNSName, Holds: isDNSName}

	// FullName is a DNS name with a final dot, which is added when missing.
	FullName = Rule{Max: 254, Message: notDomain, Tidy: tidyFullName, Holds: isFullName}

	Username = Match(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,31}$`)
	Color    = Rule{
		Pattern: `^#[0-9A-Fa-f]{6}$`, Max: 7, Message: "Enter a valid color in the form #RRGGBB.",
		Holds: matches(`^#[0-9A-Fa-f]{6}$`),
	}
	Slug = Rule{
		Pattern: `^[-a-zA-Z0-9_]+$`, OfType: true,
		Message: `Enter a valid "slug" consisting of letters, numbers, underscores or hyphens.`,
		Holds:   matches(`^[-a-zA-Z0-9_]+$`),
	}
	Language = withMax(Match(`^[a-z]{2}(-[A-Z]{2})?$`), 5)
	Phone    = withMax(Match(`^[0-9+() .-]*$`), 32)
	Currency = withMax(Match(`^[A-Z]{3}$`), 3)

	// Path is absolute and never leaves its root.
	Path = Rule{Max: 255, Message: notPattern, Holds: isPath}

	// Email is an address without a display name.
	Email = Rule{Format: "email", Max: 254, OfType: true, Message: "Enter a valid email address.", Tidy: tidyEmail, Holds: IsEmail}

	// HTTPSURL is a https URL (http only for this machine) without user
	// information, of a public host.
	HTTPSURL = Rule{Format: "uri", Max: 2048, OfType: true, Message: notURL, Holds: isHTTPSURL}

	// IP is an IPv4 or IPv6 address.
	IP = Rule{Format: "ip", Message: "Enter a valid IPv4 or IPv6 address.", Tidy: tidyIP, Holds: isIP}

	// IPOrAny is an address of one host, or "*" for all of them.
	IPOrAny = Rule{Message: `Enter a valid IPv4 or IPv6 address, or "*".`, Tidy: tidyIP, Holds: func(s string) bool {
		return s == "*" || isIP(s)
	}}.butFor(isOfNoHost, "A site cannot have an unspecified, broadcast, multicast or link-local address.")

	// Visible texts name people, companies and what they read: nothing in them
	// is unseen, or changes the direction of what stands around it.
	Visible = Rule{Message: "Control characters and marks of direction are not allowed.", Holds: isVisible}

	// Plain texts go to engines: visible, no character above U+FFFF, no "<" or ">".
	Plain = Rule{Message: "Enter a valid text.", Holds: isPlain}.butFor(isUnseen, Visible.Message)

	// NoControl refuses control characters, in passwords.
	NoControl = Rule{Message: notPattern, Holds: func(s string) bool { return !strings.ContainsFunc(s, isControl) }}
)

// Match is the rule that a text matches a pattern.
func Match(pattern string) Rule {
	return Rule{Pattern: pattern, Message: notPattern, Holds: matches(pattern)}
}

// Saying is the rule with another message.
func (r Rule) Saying(message string) Rule { r.Message = message; return r }

// butFor is the rule without the texts of a sort, of which it has something of its own to say.
func (r Rule) butFor(sort func(string) bool, message string) Rule {
	plain := r
	r.Problems = func(s string) []string {
		if wrong := plain.problems(s); wrong != nil || !sort(s) {
			return wrong
		}
		return []string{message}
	}
	return r
}

func withMax(r Rule, n int64) Rule { r.Max = n; return r }

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// toASCII turns labels of any script into A-labels; it leaves the checks to
// the rules, which know "_" and "*".
var toASCII = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.StrictDomainName(false), idna.CheckHyphens(false))

func tidyDomain(s string) string {
	s = strings.ToLower(strings.TrimSuffix(s, "."))
	if a, err := toASCII.ToASCII(s); err == nil {
		return a
	}
	return s
}

func tidyDNSName(s string) string {
	if s == "@" || strings.HasSuffix(s, ".") {
		return s
	}
	return tidyDomain(s)
}

func tidyFullName(s string) string { return tidyDomain(s) + "." }

func isDomain(s string) bool {
	labels := strings.Split(s, ".")
	last := labels[len(labels)-1]
	return len(s) >= 4 && len(s) <= 253 && len(labels) >= 2 && all(labels, isLabel) && strings.Trim(last, "0123456789") != ""
}

func isDNSName(s string) bool {
	if s == "@" {
		return true
	}
	labels := strings.Split(s, ".")
	if labels[0] == "*" {
		labels = labels[1:]
	}
	return len(s) <= 253 && all(labels, func(l string) bool { return isLabel(strings.TrimPrefix(l, "_")) })
}

func isFullName(s string) bool {
	name, dotted := strings.CutSuffix(s, ".")
	return dotted && name != "@" && len(s) <= 254 && isDNSName(name)
}

func isLabel(l string) bool {
	if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
		return false
	}
	for i := range len(l) {
		if c := l[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return !strings.HasPrefix(l, "xn--") || isALabel(l)
}

// isALabel tells whether an A-label stands for one of another script.
func isALabel(l string) bool {
	_, err := toASCII.ToASCII(l)
	return err == nil
}

// isBesideDNS tells whether a name is one of those that other systems answer for (RFC 6762, RFC 7686).
func isBesideDNS(s string) bool {
	s = strings.TrimSuffix(s, ".")
	return strings.HasSuffix(s, ".local") || strings.HasSuffix(s, ".onion")
}

func all(labels []string, hold func(string) bool) bool {
	for _, l := range labels {
		if !hold(l) {
			return false
		}
	}
	return true
}

var pathCharacters = regexp.MustCompile(`^/[A-Za-z0-9 ._/-]*$`)

func isPath(s string) bool {
	return pathCharacters.MatchString(s) && !strings.Contains(s, "..") && !strings.Contains(s, "//")
}

var localPart = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+(\.[A-Za-z0-9!#$%&'*+/=?^_{|}~` + "`" + `-]+)*$`)

func tidyEmail(s string) string {
	at := strings.LastIndexByte(s, '@')
	if at < 0 {
		return s
	}
	return s[:at+1] + tidyDomain(s[at+1:])
}

// IsEmail tells whether a text is an e-mail address: a plain local part of at
// most 64 characters at a domain, or at localhost.
func IsEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	host := s[max(at, 0):]
	return at > 0 && at <= 64 && localPart.MatchString(s[:at]) && (isDomain(host[1:]) || host == "@localhost")
}

func tidyIP(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		return a.String()
	}
	return s
}

func isIP(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Zone() == ""
}

// isOfNoHost tells whether an address is never that of one host beyond its own network.
func isOfNoHost(s string) bool {
	a, err := netip.ParseAddr(s)
	a = a.Unmap()
	return err == nil && (a.IsUnspecified() || a.IsMulticast() || a.IsLinkLocalUnicast() || a == broadcast)
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

func isVisible(s string) bool { return !isUnseen(s) }

// isUnseen tells whether a text has controls, or marks of direction. Line
// breaks and nulls have messages of their own.
func isUnseen(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) && !strings.ContainsRune("\x00\n\r\v\f\u0085", r)
	})
}

func isPlain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 0xFFFF || r == '<' || r == '>' })
}

func isControl(r rune) bool { return r < ' ' || r == 0x7F }

func isHTTPSURL(s string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7F }) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Opaque != "" || strings.HasSuffix(u.Host, ":") {
		return false
	}
	host := u.Hostname()
	if host == "localhost" || host == "127.0.0.1" || host == "::1" {
		return u.Scheme == "https" || u.Scheme == "http"
	}
	return u.Scheme == "https" && isPublicHost(host)
}

func isPublicHost(host string) bool {
	a, err := netip.ParseAddr(host)
	if err != nil {
		return isDomain(tidyDomain(host))
	}
	return a.Zone() == "" && a.IsGlobalUnicast() && !a.IsPrivate()
}
