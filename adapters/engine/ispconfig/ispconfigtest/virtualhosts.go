package ispconfigtest

import (
	"slices"
	"strings"
)

// Served is the domain of the site that answers a request for a host at an address of the
// server, as Apache and nginx choose it from the files that the engine writes. "" means
// that none does: the server's own page, which is the first file.
//
// Both look for the address first. If one site names it, only sites that name it count;
// among them the host decides, and without a match the first file.
func (e *Engine) Served(address, host string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	naming := e.vhosts(address)
	among := naming
	if len(among) == 0 {
		among = e.vhosts("*")
	}
	for _, site := range among {
		if domain := site.text("domain"); domain == host || site.text("subdomain") == "www" && "www."+domain == host {
			return domain
		}
	}
	if len(naming) == 0 {
		return "" // the server's own page is the first with any address
	}
	return naming[0].text("domain")
}

// vhosts are the sites of which a virtual host has an address, in the order of their files.
func (e *Engine) vhosts(address string) (all []*record) {
	for _, r := range e.tables["web_domain"].rows {
		if r.text("active") == "y" && (r.text("ip_address") == address || r.text("ipv6_address") == address) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b *record) int { return strings.Compare(a.text("domain"), b.text("domain")) })
	return all
}
