package config

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/dns"
)

// address checks where we listen and how we are reached.
func (c *Config) address(s Settings) error {
	_, port, err := net.SplitHostPort(c.Listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port) //nolint:noctx // a number, or a name of /etc/services
	}
	if err != nil {
		return console.Misused("HOSTPANEL_LISTEN: %q is not an address such as 127.0.0.1:8080", c.Listen)
	}
	if s.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(strings.TrimRight(s.PublicURL, "/"))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Path != "" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil {
		return console.Misused("HOSTPANEL_PUBLIC_URL: %q is not a URL such as https://panel.example.com", s.PublicURL)
	}
	c.PublicURL = u.String()
	if u.Scheme == "http" && !IsLoopback(u.Hostname()) {
		c.warn("HOSTPANEL_PUBLIC_URL is http on a host that others can reach: passwords and keys would travel in clear text")
	}
	return nil
}

// names are the name servers of zones, with final dots.
func (c *Config) names(s Settings) error {
	for name := range strings.SplitSeq(s.NameServers, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		full := dns.Origin.Tidy(name)
		if !dns.Origin.Holds(full) {
			return console.Misused("HOSTPANEL_NAMESERVERS: %q is not a name such as ns1.example.com", name)
		}
		c.NameServers = append(c.NameServers, full)
	}
	if c.NameServers == nil {
		host := c.publicHost()
		c.NameServers = []string{"ns1." + host, "ns2." + host}
	}
	return nil
}

// sites are the addresses under which sites are reached that have none of their own. In the
// demo they are those of documentation (RFC 5737 and RFC 3849).
func (c *Config) sites(s Settings) error {
	for text := range strings.SplitSeq(s.SiteAddresses, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" || address.IsUnspecified() || address.IsMulticast() {
			return console.Misused("HOSTPANEL_SITE_ADDRESSES: %q is not an IP address such as 192.0.2.10", text)
		}
		c.SiteAddresses = append(c.SiteAddresses, address.Unmap().String())
	}
	if c.SiteAddresses == nil && c.Demo {
		c.SiteAddresses = []string{"192.0.2.10", "2001:db8::10"}
	}
	return nil
}

// nowhere is a domain that does not exist (RFC 2606).
const nowhere = "hostpanel.invalid."

// publicHost is the domain under which we are reached, with a final dot. One
// that has no name in the world's DNS gets one that does not exist.
func (c *Config) publicHost() string {
	host, _, _ := net.SplitHostPort(c.Listen) // which address has checked
	if u, err := url.Parse(c.PublicURL); err == nil && c.PublicURL != "" {
		host = u.Hostname()
	}
	name := dns.Origin.Tidy(host)
	if _, err := netip.ParseAddr(host); err == nil || IsLoopback(host) || !dns.Origin.Holds("ns1."+name) {
		return nowhere
	}
	return name
}

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addr.IsLoopback()
}

// NamesNoServers tells that the name servers of zones are made up, because no
// setting gives a public name.
func (c *Config) NamesNoServers() bool { return strings.HasSuffix(c.NameServers[0], nowhere) }

// GuessPublicURL is for those who do not listen themselves: the links in mails
// lead to the process that does.
func (c *Config) GuessPublicURL() error {
	if c.PublicURL != "" {
		return nil
	}
	if _, port, err := net.SplitHostPort(c.Listen); err != nil || port == "0" {
		return console.Misused("HOSTPANEL_PUBLIC_URL is needed: a worker cannot know where the panel is reached")
	}
	c.PublicURL = "http://" + c.Listen
	return nil
}
