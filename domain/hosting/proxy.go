package hosting

import (
	"net/netip"

	"hostpanel/domain/field"
)

var proxies = Kind{
	Name: "proxy", Class: "Proxy", Label: "proxy", CanBeDisabled: true,
	Unique:  []string{"domain"},
	Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
	NamedBy: []string{"domain"}, Called: "domain", Writers: Member, New: spec[Proxy],
}

// A Proxy takes the calls for a site and passes them on to the engine's web
// server. It is made along with a site, and goes with it.
type Proxy struct {
	Site     int64
	Domain   string
	Upstream string // "192.0.2.1:80"
	IsActive bool
}

// Fields are the proxy.
func (p *Proxy) Fields() field.Set {
	return field.Set{
		field.Ref("site", &p.Site).Required().Once(),
		field.Text("domain", &p.Domain).Required().Is(field.Domain).Once(),
		field.Text("upstream", &p.Upstream).Required(),
		field.Flag("is_active", &p.IsActive).Default(true),
	}
}

func (s *Site) led() (string, field.Values) {
	p := Proxy{Domain: s.Domain, Upstream: UpstreamOf(s.IPAddress)}
	return proxies.Name, p.Fields().Only("domain", "upstream").Values()
}

// UpstreamOf is where the web server of a site with this address listens; one
// that is there for all addresses is asked at its own machine.
func UpstreamOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	const http = 80
	return netip.AddrPortFrom(ip, http).String()
}
