package stock

import (
	"net/netip"
	"slices"

	"hostpanel/domain/hosting"
)

// A Pool is an address pool with the blocks of its segment that machines have, or had not
// long ago.
type Pool struct {
	hosting.AddressPool
	Taken map[netip.Prefix]bool
}

// network is that of the pool; the zero one, if it cannot be read.
func (p Pool) network() netip.Prefix {
	of, _ := netip.ParsePrefix(p.Network)
	return of
}

func (p Pool) serves(node string) bool { return len(p.Nodes) == 0 || slices.Contains(p.Nodes, node) }

// servers are name servers with those of the pool.
func (p Pool) servers(known []netip.Addr) []netip.Addr {
	for _, text := range p.NameServers {
		if server, err := netip.ParseAddr(text); err == nil && !slices.Contains(known, server) {
			known = append(known, server)
		}
	}
	return known
}

// First is the first block that is free; false: there is none.
func (p Pool) First() (block netip.Prefix, free bool) {
	of := p.network()
	if !of.IsValid() {
		return block, false
	}
	kept := p.kept()
	for at := of.Addr(); at.IsValid() && of.Contains(at); {
		block, err := at.Prefix(int(p.PrefixLength))
		if err != nil {
			return block, false
		}
		if last, is := within(kept, block); is {
			at = next(last, int(p.PrefixLength))
			continue
		}
		if !p.Taken[block] {
			return block, true
		}
		at = lastOf(block).Next()
	}
	return netip.Prefix{}, false
}

// Given is how many blocks of the pool machines have.
func (p Pool) Given() (n int) {
	for block := range p.Taken {
		if p.network().Overlaps(block) {
			n++
		}
	}
	return n
}

// A span is addresses that no machine gets.
type span struct{ first, last netip.Addr }

// kept are the addresses of the pool that no machine gets: its gateway and name servers, what
// is excluded, the network's own of IPv4 and the routers' of IPv6.
func (p Pool) kept() (all []span) {
	of := p.network()
	first, last := of.Addr(), lastOf(of)
	switch {
	case first.Is4() && of.Bits() < 31:
		all = append(all, span{first, first}, span{last, last})
	case first.Is6() && p.PrefixLength == 128:
		all = append(all, span{first, first})
	}
	for _, text := range slices.Concat([]string{p.Gateway}, p.NameServers, p.Excluded) {
		if from, to, ok := hosting.RangeOf(text); ok {
			all = append(all, span{from, to})
		}
	}
	return all
}

// within tells whether a block has addresses of a span, and which is the last of that.
func within(spans []span, block netip.Prefix) (last netip.Addr, is bool) {
	for _, s := range spans {
		if s.first.BitLen() == block.Addr().BitLen() && s.first.Compare(lastOf(block)) <= 0 && s.last.Compare(block.Addr()) >= 0 {
			return s.last, true
		}
	}
	return last, false
}

// next is the first block that begins after an address.
func next(after netip.Addr, bits int) netip.Addr {
	block, err := after.Prefix(bits)
	if err != nil {
		return netip.Addr{}
	}
	return lastOf(block).Next()
}

// lastOf is the last address of a network.
func lastOf(of netip.Prefix) netip.Addr {
	bytes := of.Addr().AsSlice()
	for bit := of.Bits(); bit < of.Addr().BitLen(); bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// configured is the address of a machine with a block: with the length of the network, or
// the second one of a block of its own.
func (p Pool) configured(block netip.Prefix) netip.Prefix {
	if block.IsSingleIP() {
		return netip.PrefixFrom(block.Addr(), p.network().Bits())
	}
	return netip.PrefixFrom(block.Addr().Next(), block.Bits())
}
