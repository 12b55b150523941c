package stock_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/hosting/stock"
)

var small = compute.Size{Cores: 1, MemoryMB: 1024, DiskGB: 10}

func node(name string, machines, used int64, change ...func(*stock.Node)) stock.Node {
	n := stock.Node{Node: hosting.Node{Name: name, Cores: 1000, MemoryMB: machines * 1024, DiskGB: 100_000, Weight: 100}}
	n.Used = compute.Size{Cores: used, MemoryMB: used * 1024, DiskGB: used * 10}
	for _, f := range change {
		f(&n)
	}
	return n
}

func pool(name, network string, change ...func(*stock.Pool)) stock.Pool {
	p := stock.Pool{AddressPool: hosting.AddressPool{Name: name, Network: network}, Taken: map[netip.Prefix]bool{}}
	for _, f := range change {
		f(&p)
	}
	hosting.Complete(&p.AddressPool, hosting.Place{})
	return p
}

func TestTheNodeWithMostRoomIsChosen(t *testing.T) {
	for _, one := range []struct {
		stock stock.Stock
		asked stock.Request
		want  string
	}{
		{stock.Stock{}, stock.Request{Size: small}, "none"},
		{
			stock.Stock{Nodes: []stock.Node{node("a", 10, 5), node("b", 10, 2)}},
			stock.Request{Size: small},
			"b most room of 2: 70 % stay free",
		},
		{
			stock.Stock{Nodes: []stock.Node{node("b", 10, 2), node("a", 10, 2)}},
			stock.Request{Size: small},
			"a most room of 2: 70 % stay free",
		},
		{
			stock.Stock{Nodes: []stock.Node{node("a", 10, 5, func(n *stock.Node) { n.Weight = 300 }), node("b", 10, 2)}},
			stock.Request{Size: small},
			"a most room of 2: 40 % stay free",
		},
		{
			stock.Stock{Nodes: []stock.Node{node("a", 10, 0, func(n *stock.Node) { n.IsDrained = true }), node("b", 10, 9)}},
			stock.Request{Size: small},
			"b the only one with room: 0 % stay free",
		},
		{stock.Stock{Nodes: []stock.Node{node("a", 10, 10)}}, stock.Request{Size: small}, "none"},
		{
			stock.Stock{Nodes: []stock.Node{node("a", 10, 0), node("b", 10, 9)}},
			stock.Request{Size: small, Nodes: []string{"b"}},
			"b the only one with room: 0 % stay free",
		},
		{
			stock.Stock{Nodes: []stock.Node{node("a", 10, 0, func(n *stock.Node) { n.Templates = []string{"alma-9=a"} })}},
			stock.Request{Size: small, System: "debian-12"},
			"none",
		},
		{ // what a node is short of decides: here it is the disk
			stock.Stock{Nodes: []stock.Node{node("a", 10, 0, func(n *stock.Node) { n.DiskGB = 40 })}},
			stock.Request{Size: small},
			"a the only one with room: 75 % stay free",
		},
		{ // its only pool is used up
			stock.Stock{Nodes: []stock.Node{node("a", 10, 0)}, Pools: []stock.Pool{pool("p", "192.0.2.0/31", func(p *stock.Pool) {
				p.Taken[netip.MustParsePrefix("192.0.2.0/32")], p.Taken[netip.MustParsePrefix("192.0.2.1/32")] = true, true
			})}},
			stock.Request{Size: small},
			"none",
		},
	} {
		got := "none"
		if p, has := one.stock.Place(one.asked); has {
			got = p.Node + " " + p.Why
		}
		if got != one.want {
			t.Errorf("got %s, want %s", got, one.want)
		}
	}
}

func TestTheFirstFreeAddressIsGiven(t *testing.T) {
	taken := func(blocks ...string) func(*stock.Pool) {
		return func(p *stock.Pool) {
			for _, b := range blocks {
				p.Taken[netip.MustParsePrefix(b)] = true
			}
		}
	}
	for _, one := range []struct {
		pool stock.Pool
		want string
	}{
		{pool("p", "192.0.2.0/24"), "192.0.2.1/32"},
		{pool("p", "192.0.2.0/24", func(p *stock.Pool) { p.Gateway = "192.0.2.1" }, taken("192.0.2.2/32")), "192.0.2.3/32"},
		{
			pool("p", "192.0.2.0/24", func(p *stock.Pool) { p.Excluded = []string{"192.0.2.1-192.0.2.200", "192.0.2.201"} }),
			"192.0.2.202/32",
		},
		{pool("p", "192.0.2.4/30", taken("192.0.2.5/32", "192.0.2.6/32")), "none"}, // the last one is for all hosts
		{pool("p", "192.0.2.4/31"), "192.0.2.4/32"},
		{pool("p", "2001:db8::/48", func(p *stock.Pool) { p.Gateway = "2001:db8::1" }), "2001:db8:0:1::/64"},
		{pool("p", "2001:db8::/64", func(p *stock.Pool) { p.PrefixLength = 128 }), "2001:db8::1/128"},
		{
			pool("p", "2001:db8::/48", func(p *stock.Pool) { p.Excluded = []string{"2001:db8::-2001:db8:0:fff0::"} }),
			"2001:db8:0:fff1::/64",
		},
		{pool("p", "2001:db8::/64", taken("2001:db8::/64")), "none"},
		{pool("p", "no network"), "none"},
	} {
		got := "none"
		if block, free := one.pool.First(); free {
			got = block.String()
		}
		if got != one.want {
			t.Errorf("%s: got %s, want %s", one.pool.Network, got, one.want)
		}
	}
}

// Machines that come and go by chance never share an address or more than their node has.
func TestMachinesThatComeAndGoShareNothing(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	all := stock.Stock{
		Nodes: []stock.Node{node("a", 20, 0), node("b", 30, 0, func(n *stock.Node) { n.Weight = 250 })},
		Pools: []stock.Pool{pool("four", "192.0.2.0/26"), pool("more", "198.51.100.0/28"), pool("six", "2001:db8::/56")},
	}
	had := map[netip.Prefix]bool{}
	for i := range all.Pools {
		all.Pools[i].Taken = had // of one segment
	}
	var live []compute.Placement
	change := func(p compute.Placement, sign int64) {
		for i := range all.Nodes {
			if n := &all.Nodes[i]; n.Name == p.Node {
				n.Used.Cores, n.Used.MemoryMB = n.Used.Cores+sign*p.Cores, n.Used.MemoryMB+sign*p.MemoryMB
				n.Used.DiskGB += sign * p.DiskGB
			}
		}
	}
	refused := 0
	for range 5000 {
		if len(live) > 0 && chance.IntN(100) < 45 {
			i := chance.IntN(len(live))
			for _, a := range live[i].Addresses {
				delete(had, a.Block)
			}
			change(live[i], -1)
			live = append(live[:i], live[i+1:]...)
			continue
		}
		p, has := all.Place(stock.Request{Size: compute.Size{Cores: 1, MemoryMB: 512 * (1 + chance.Int64N(4)), DiskGB: 10}})
		if !has {
			refused++
			continue
		}
		if len(p.Addresses) != 2 {
			t.Fatal(p.Addresses)
		}
		for _, a := range p.Addresses {
			for other := range had {
				if other.Overlaps(a.Block) {
					t.Fatalf("%s is given beside %s", a.Block, other)
				}
			}
			had[a.Block] = true
		}
		change(p, 1)
		live = append(live, p)
		for _, n := range all.Nodes {
			if n.Used.MemoryMB > n.MemoryMB {
				t.Fatal(n.Name, n.Used)
			}
		}
	}
	if refused == 0 {
		t.Error(fmt.Sprint("the nodes were never full: ", len(live)))
	}
}
