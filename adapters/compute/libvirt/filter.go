package libvirt

import (
	_ "embed"

	rpc "github.com/digitalocean/go-libvirt"
	"libvirt.org/go/libvirtxml"

	"hostpanel/domain/compute"
)

// ownFilter is the name of the filter of this package: a machine sends from its addresses
// alone. libvirt's own "clean-traffic" lets no IPv6 pass.
const ownFilter = "hostpanel"

//go:embed filter.xml
var filterXML string

// isFiltered reports whether a machine has addresses that its packets are to come from.
func isFiltered(c Config, n compute.Network) bool {
	return c.Filter != "none" && n.Bridge != "" && len(n.Addresses) > 0
}

// haveFilter defines this package's filter at a libvirt that does not have it.
func (s *session) haveFilter(c Config, n compute.Network) error {
	if c.Filter != ownFilter || !isFiltered(c, n) {
		return nil
	}
	_, err := s.NwfilterLookupByName(ownFilter)
	if is(err, rpc.ErrNoNwfilter) {
		_, err = s.NwfilterDefineXML(filterXML)
	}
	return err
}

// allowed are the source addresses of a machine, as parameters of a filter. Each of the two
// has a value: libvirt learns a missing "IP" from what the machine sends.
func allowed(n compute.Network) (all []libvirtxml.DomainInterfaceFilterParam) {
	four, six := false, false
	for _, p := range n.Addresses {
		name := "IP"
		if four = four || p.Addr().Is4(); p.Addr().Is6() {
			name, six = "IPV6", true
		}
		all = append(all, libvirtxml.DomainInterfaceFilterParam{Name: name, Value: p.Addr().String()})
	}
	if !four {
		all = append(all, libvirtxml.DomainInterfaceFilterParam{Name: "IP", Value: "0.0.0.0"})
	}
	if !six {
		all = append(all, libvirtxml.DomainInterfaceFilterParam{Name: "IPV6", Value: "::1"})
	}
	return all
}
