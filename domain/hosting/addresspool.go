package hosting

import (
	"net/netip"
	"strings"

	"hostpanel/domain/field"
)

var addressPools = Kind{
	Name: "address_pool", Class: "AddressPool", Label: "address pool", Collection: "address-pools", Backend: Local,
	Shared: true, Hidden: true,
	Nouns:  map[string]string{"en": "address pool", "es": "conjunto de direcciones"},
	Shown:  words("id name network prefix_length gateway bridge vlan name_servers excluded nodes created_at updated_at"),
	Unique: []string{"name"}, Filters: []string{"name", "bridge", "vlan"}, Search: []string{"name", "network"},
	Ordering: []string{"name"},
	Called:   "name", InUse: "Machines have addresses of the pool.", Verbs: All, Writers: Superuser, New: spec[AddressPool],
}

// An AddressPool is a network from which machines get their addresses
// (docs/machines-stock.md, "Addresses").
type AddressPool struct {
	Name         string
	Network      string // "192.0.2.0/24"
	PrefixLength int64  // of what one machine gets
	Gateway      string // "": none
	Bridge       string // of the host; "": the hypervisor's own network
	VLAN         int64  // 0: none
	NameServers  []string
	Excluded     []string // addresses, and ranges: "192.0.2.2-192.0.2.9"
	Nodes        []string // whose machines get them; none: all nodes
}

const (
	ipv4Bits       = 32
	ipv6Bits       = 128
	usualIPv6      = 64 // that one machine gets
	mostNameServer = 8
)

// Fields are the pool.
func (p *AddressPool) Fields() field.Set {
	return field.Set{
		field.Text("name", &p.Name).Required().Max(64).Is(field.Slug).Once(),
		field.Text("network", &p.Network).Required().Is(network).Once().Doc(`Such as "192.0.2.0/24" or "2001:db8::/48".`),
		field.Int("prefix_length", &p.PrefixLength).Default(0).Between(0, ipv6Bits).Once().
			Doc("Of what one machine gets: 32 of IPv4, 64 to 128 of IPv6. 0: 32 or 64."),
		field.Text("gateway", &p.Gateway).Is(field.IP).Default(""),
		field.Text("bridge", &p.Bridge).Is(bridge).Default("").Once().Doc("Of the host; the hypervisor's own network when absent."),
		field.Int("vlan", &p.VLAN).Default(0).Between(0, 4094).Once().Doc("0: none."),
		field.Texts("name_servers", &p.NameServers, func(f field.Field) field.Field { return f.Is(field.IP) }).Max(mostNameServer).
			Default([]string{}),
		field.Texts("excluded", &p.Excluded, func(f field.Field) field.Field { return f.Is(addressRange) }).Max(1000).
			Default([]string{}).Doc(`Addresses and ranges, such as "192.0.2.2-192.0.2.9", that no machine gets.`),
		field.Texts("nodes", &p.Nodes, func(f field.Field) field.Field { return f.Max(64).Is(field.Slug) }).Max(1000).
			Default([]string{}).Doc("Names of the nodes whose machines get them; all when empty."),
	}
}

var (
	network      = field.Rule{Max: 64, Message: "Enter a valid network, such as 192.0.2.0/24.", Tidy: tidyNetwork, Holds: isNetwork}
	bridge       = field.Match(`^[A-Za-z0-9][A-Za-z0-9._-]{0,14}$`)
	addressRange = field.Rule{Max: 100, Message: "Enter an address, or a range such as 192.0.2.2-192.0.2.9.", Holds: isRange}
)

func isNetwork(s string) bool {
	p, err := netip.ParsePrefix(s)
	return err == nil && p == p.Masked() && !p.Addr().Is4In6()
}

func isRange(s string) bool {
	_, _, ok := RangeOf(s)
	return ok
}

func tidyNetwork(s string) string {
	if p, err := netip.ParsePrefix(s); err == nil && p == p.Masked() {
		return p.String()
	}
	return s
}

// RangeOf are the first and the last address of a range.
func RangeOf(s string) (first, last netip.Addr, ok bool) {
	from, to, isRange := strings.Cut(s, "-")
	first, err := netip.ParseAddr(strings.TrimSpace(from))
	last = first
	if err == nil && isRange {
		last, err = netip.ParseAddr(strings.TrimSpace(to))
	}
	return first, last, err == nil && first.BitLen() == last.BitLen() && first.Zone()+last.Zone() == "" && !last.Less(first)
}

func (p *AddressPool) complete(Place) {
	of, err := netip.ParsePrefix(p.Network)
	if err != nil || p.PrefixLength != 0 {
		return
	}
	p.PrefixLength = usualIPv6
	if of.Addr().Is4() {
		p.PrefixLength = ipv4Bits
	} else if of.Bits() > usualIPv6 {
		p.PrefixLength = ipv6Bits
	}
}

// near are the pools of the same bridge and VLAN.
func (p *AddressPool) near(int64) []Query {
	return []Query{{Kind: addressPools.Name, Having: map[string]any{"bridge": p.Bridge, "vlan": p.VLAN}}}
}

func (p *AddressPool) check(at Place, wrong *field.Errors) {
	of, err := netip.ParsePrefix(p.Network)
	if err != nil || wrong.Has("network") {
		return
	}
	least := int64(max(of.Bits(), usualIPv6))
	if of.Addr().Is4() {
		least = ipv4Bits
	}
	if !wrong.Has("prefix_length") && (p.PrefixLength < least || p.PrefixLength > int64(of.Addr().BitLen())) {
		wrong.Add("prefix_length", "A machine gets one address of IPv4, and a prefix of 64 to 128 bits within the network of IPv6.")
	}
	gateway, err := netip.ParseAddr(p.Gateway)
	if err == nil && !wrong.Has("gateway") && !of.Contains(gateway) && (of.Addr().Is4() || !gateway.IsLinkLocalUnicast()) {
		wrong.Add("gateway", "The gateway is not in the network.")
	}
	for _, excluded := range p.Excluded {
		if first, last, ok := RangeOf(excluded); ok && !wrong.Has("excluded") && (!of.Contains(first) || !of.Contains(last)) {
			wrong.Add("excluded", excluded+" is not in the network.")
		}
	}
	for _, other := range at.Beside {
		if beside, err := netip.ParsePrefix(text(other, "network")); err == nil && beside.Overlaps(of) {
			wrong.Add("network", OverlapsPool)
		}
	}
}

// PoolKind is the kind of address pools.
var PoolKind = addressPools.Name

// OverlapsPool is the refusal of a network of which another pool has a part.
const OverlapsPool = "Another pool of this bridge and VLAN has a part of the network."
