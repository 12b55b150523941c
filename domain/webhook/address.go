package webhook

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
)

// MaxURL is how long the address of an endpoint may be, in characters.
const MaxURL = 500

// CheckURL refuses addresses that nothing would be delivered to: messages go
// to public addresses, encrypted and to port 443, unless the installation has
// networks of its own that may be reached (HOSTPANEL_WEBHOOK_NETWORKS,
// docs/configuration.md). What a name leads to is looked at anew for each
// connection.
func CheckURL(address string, networks []netip.Prefix) error {
	if message := wrongWith(address, networks); message != "" {
		return domain.RefuseField("url", message)
	}
	return nil
}

func wrongWith(address string, networks []netip.Prefix) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "" || strings.HasSuffix(u.Host, ":") || !isPrintable(address):
		return "Enter a valid URL."
	case u.User != nil:
		return "The URL must not have a user or a password."
	case strings.Contains(address, "#"):
		return "The URL must not have a fragment."
	case u.Scheme != "https" && (u.Scheme != "http" || len(networks) == 0):
		return "The URL must begin with https://."
	case u.Port() != "" && u.Port() != "443" && len(networks) == 0:
		return "The URL must lead to port 443."
	case !MayHold(u.Hostname(), networks):
		return "The URL must lead to a public address."
	}
	return ""
}

func isPrintable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '\\' || r >= 0x7F })
}

// MayHold tells whether the host of a URL could be one that messages go to.
// Names could, unless they can only be of this machine or its network.
func MayHold(host string, networks []netip.Prefix) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return Reachable(a, networks)
	}
	labels := strings.Split(strings.TrimSuffix(strings.ToLower(host), "."), ".")
	last := labels[len(labels)-1]
	if slices.ContainsFunc(labels, func(l string) bool { return !label.MatchString(l) }) || numeric.MatchString(last) {
		return false
	}
	return len(networks) > 0 || len(labels) > 1 && !slices.Contains(inner, last)
}

// inner are the last labels of names that lead nowhere in public. A name whose
// last label is a number may be an address in one of its odder writings, such
// as 127.1 or 0x7f000001.
var (
	inner   = []string{"localhost", "local", "internal"}
	label   = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	numeric = regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`)
)

// Reachable tells whether messages may go to an address: it is public, or in
// one of the networks that the installation lets them go to.
func Reachable(a netip.Addr, networks []netip.Prefix) bool {
	if a.Zone() != "" || !a.IsValid() {
		return false
	}
	a = plain(a)
	within := func(n netip.Prefix) bool { return n.Contains(a) }
	return slices.ContainsFunc(networks, within) || !slices.ContainsFunc(reserved, within)
}

// plain is the older address that a newer one stands for, if it does.
func plain(a netip.Addr) netip.Addr {
	if b := a.As16(); translated.Contains(a) {
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a.Unmap()
}

var translated = netip.MustParsePrefix("64:ff9b::/96") // NAT64

// reserved are the networks that are not public.
var reserved = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // behind a provider's own translation
	"127.0.0.0/8",     // this machine
	"169.254.0.0/16",  // link-local, with the metadata of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // relays of 6to4
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // measurements
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, and broadcast
	"::/3",            // all that is not allocated: this machine, translations
	"2001::/23",       // protocol assignments, Teredo among them
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4
	"3fff::/20",       // documentation
	"4000::/2",        // not handed out
	"8000::/1",        // private, link-local, multicast
)

func prefixes(texts ...string) (all []netip.Prefix) {
	for _, text := range texts {
		all = append(all, netip.MustParsePrefix(text))
	}
	return all
}
