// Package stock places machines: it chooses the node of a machine, and its addresses
// (docs/machines-stock.md).
package stock

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
)

// A Stock is all nodes and pools, with what machines have of them.
type Stock struct {
	Nodes []Node
	Pools []Pool
}

// A Node is a node with what is reserved there.
type Node struct {
	hosting.Node
	ID       int64
	Used     compute.Size
	Machines int64
}

// A Request is the machine that is to be placed.
type Request struct {
	compute.Size
	System string   // that is installed; "": any
	Nodes  []string // on which it may be; none: all
}

// Place chooses the node with the largest share that stays free, times its weight, among
// those that have room, the system and an address; false: there is none. The same stock
// leads to the same place.
func (s Stock) Place(r Request) (compute.Placement, bool) {
	var best candidate
	fit := 0
	for _, n := range s.Nodes {
		c, fits := s.candidate(n, r)
		if !fits {
			continue
		}
		fit++
		if fit == 1 || cmp.Or(cmp.Compare(best.rank, c.rank), cmp.Compare(c.Node, best.Node)) < 0 {
			best = c
		}
	}
	switch fit {
	case 0:
		return compute.Placement{}, false
	case 1:
		best.Why = "the only one with room"
	default:
		best.Why = fmt.Sprintf("most room of %d", fit)
	}
	best.Why += fmt.Sprintf(": %d %% stay free", best.share*100/whole)
	return best.Placement, true
}

// A candidate is a node that fits.
type candidate struct {
	compute.Placement
	share int64 // that stays free, of what is the scarcest
	rank  int64
}

const whole = 1_000_000 // a share of all

func (s Stock) candidate(n Node, r Request) (c candidate, fits bool) {
	share, has := n.free(r.Size)
	template, installs := n.installs(r.System)
	if n.IsDrained || !has || !installs || len(r.Nodes) > 0 && !slices.Contains(r.Nodes, n.Name) {
		return c, false
	}
	p := compute.Placement{Node: n.Name, Server: n.Server, Host: n.Host, Template: template, Size: r.Size}
	if !s.connect(&p) {
		return c, false
	}
	return candidate{p, share, share * n.Weight}, true
}

// free is the share that stays free beside another machine; false: it has no room.
func (n Node) free(more compute.Size) (share int64, has bool) {
	share = whole
	for _, of := range [][3]int64{
		{n.Cores, n.Used.Cores, more.Cores}, {n.MemoryMB, n.Used.MemoryMB, more.MemoryMB}, {n.DiskGB, n.Used.DiskGB, more.DiskGB},
	} {
		left := of[0] - of[1] - of[2]
		if left < 0 {
			return 0, false
		}
		if of[0] > 0 {
			share = min(share, left*whole/of[0])
		}
	}
	return share, true
}

// HasRoom tells whether a machine of this size fits.
func (n Node) HasRoom(more compute.Size) bool {
	_, has := n.free(more)
	return has
}

// installs is the template of a system. A node that names none has each under its own name.
func (n Node) installs(system string) (template string, has bool) {
	if system == "" || len(n.Templates) == 0 {
		return "", true
	}
	template = n.Template(system)
	return template, template != ""
}

// HasRoom tells whether a machine of a node may grow by so much.
func (s Stock) HasRoom(node string, more compute.Size) bool {
	i := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.Name == node })
	return i >= 0 && s.Nodes[i].HasRoom(more)
}

// connect gives a machine its addresses: one of IPv4 and one of IPv6, of the segment of its
// node that has most of both. Without pools the hypervisor's own network gives them.
func (s Stock) connect(p *compute.Placement) bool {
	segments := map[string][]Pool{}
	most := 0
	for _, pool := range s.Pools {
		if pool.serves(p.Node) {
			name := compute.Segment(pool.Bridge, pool.VLAN)
			segments[name] = append(segments[name], pool)
			most = max(most, families(segments[name]))
		}
	}
	if most == 0 {
		return true
	}
	for _, name := range sorted(segments) {
		if families(segments[name]) == most && give(p, segments[name]) {
			return true
		}
	}
	return false
}

func sorted(segments map[string][]Pool) (names []string) {
	for name, pools := range segments {
		slices.SortFunc(pools, func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) })
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(segments[a][0].Name, segments[b][0].Name) })
	return names
}

// families tells how many of IPv4 and IPv6 the pools have.
func families(pools []Pool) (n int) {
	for _, bits := range []int{32, 128} {
		if slices.ContainsFunc(pools, func(p Pool) bool { return p.network().Addr().BitLen() == bits }) {
			n++
		}
	}
	return n
}

// give gives a machine an address of each family of a segment; false: one has none left.
func give(p *compute.Placement, pools []Pool) bool {
	given := *p
	given.Bridge, given.VLAN = pools[0].Bridge, pools[0].VLAN
	for _, pool := range pools {
		of := pool.network()
		hasOne := func(a compute.Address) bool { return a.Block.Addr().BitLen() == of.Addr().BitLen() }
		if !of.IsValid() || slices.ContainsFunc(given.Addresses, hasOne) {
			continue
		}
		block, free := pool.First()
		if !free {
			continue
		}
		given.Addresses = append(given.Addresses, compute.Address{Pool: pool.Name, Block: block, Address: pool.configured(block)})
		if gateway, err := netip.ParseAddr(pool.Gateway); err == nil {
			given.Gateways = append(given.Gateways, gateway)
		}
		given.NameServers = pool.servers(given.NameServers)
	}
	if len(given.Addresses) < families(pools) {
		return false
	}
	*p = given
	return true
}
