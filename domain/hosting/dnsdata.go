package hosting

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"hostpanel/domain/field"
)

// The rules of what DNS records hold.
var (
	ipv4Data = field.Rule{Message: "Enter a valid IPv4 address.", Holds: func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is4()
	}}
	ipv6Data = field.Rule{Message: "Enter a valid IPv6 address.", Holds: func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	}}
	hostData      = field.Rule{Message: "Enter a valid host name.", Holds: isHost}
	serviceData   = field.Rule{Message: `Enter SRV data as "weight port target".`, Holds: isService}
	authorityData = field.Rule{Message: `Enter CAA data as 'flags tag "value"'.`, Holds: matches(`^(0|128) (issue|issuewild|iodef) "[^"\\\x00-\x1f\x7f]*"$`)}
	textData      = field.Rule{Message: "Enter valid TXT data.", Holds: isTextData}
)

func matches(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

// isHost tells whether a text is a name of a host, with or without a final dot.
func isHost(s string) bool {
	name := field.DNSName.Tidy(strings.TrimSuffix(s, "."))
	return name != "@" && !strings.HasPrefix(name, "*") && field.DNSName.Holds(name)
}

func isService(s string) bool {
	parts := strings.Fields(s)
	return len(parts) == 3 && isPort(parts[0]) && isPort(parts[1]) && (parts[2] == "." || isHost(parts[2]))
}

func isPort(s string) bool {
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// isTextData tells whether quotes are balanced and there is no line break.
func isTextData(s string) bool {
	quotes, escaped := 0, false
	for _, r := range s {
		switch {
		case r == '\r' || r == '\n':
			return false
		case r == '"' && !escaped:
			quotes++
		}
		escaped = r == '\\' && !escaped
	}
	return quotes%2 == 0
}
