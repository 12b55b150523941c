package webhook

import (
	"errors"
	"net"
	"net/netip"
	"syscall"

	"hostpanel/domain/webhook"
)

// A tenant chooses the name of its endpoint, which may resolve to any address.
// So whether it is called is decided when the name has become an address, and
// by that address: what a name server says a moment later changes nothing
// (docs/security.md, "Outbound webhooks").

// errRefused means that an address is none that we call.
var errRefused = errors.New("the address is not one that may be called")

// An addressPolicy decides which addresses are called. It is asked about each
// address that a name resolves to, before the first byte is sent.
type addressPolicy struct {
	open   []netip.Prefix // whatever else they are, on any port
	public bool           // the internet as well, where TLS is
}

// control is asked by the dialler for each address that it is about to try.
func (d addressPolicy) control(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !d.lets(to) {
		return errRefused
	}
	return nil
}

func (d addressPolicy) lets(to netip.AddrPort) bool {
	for _, network := range d.open {
		if network.Contains(to.Addr().Unmap()) {
			return true
		}
	}
	return d.public && to.Port() == httpsPort && webhook.Reachable(to.Addr(), nil)
}

const httpsPort = 443

func dialer(o Options, d addressPolicy) *net.Dialer {
	return &net.Dialer{Timeout: connecting, Resolver: o.Resolver, Control: d.control, KeepAlive: -1}
}
