package route

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientIP is the address of the client: of the nearest hop that is no trusted
// proxy of ours.
func (t *Table) clientIP(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	ip := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && t.trusts(ip); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		ip = hop.Unmap()
	}
	return ip
}

func (t *Table) trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(t.options.Trusted, func(p netip.Prefix) bool { return p.Contains(ip) })
}
