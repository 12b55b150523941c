package compute

import (
	"fmt"
	"net/netip"
)

// A Size is what a machine takes of its node.
type Size struct {
	Cores    int64 `json:"cores"`
	MemoryMB int64 `json:"memory_mb"`
	DiskGB   int64 `json:"disk_gb"`
}

// Exceeds tells whether a size is larger than another in anything.
func (s Size) Exceeds(other Size) bool {
	return s.Cores > other.Cores || s.MemoryMB > other.MemoryMB || s.DiskGB > other.DiskGB
}

// Less is what a size has more than another.
func (s Size) Less(other Size) Size {
	return Size{s.Cores - other.Cores, s.MemoryMB - other.MemoryMB, s.DiskGB - other.DiskGB}
}

// A Placement is the place of a machine as it was reserved: its node, and its addresses
// (docs/machines-stock.md).
type Placement struct {
	Node     string `json:"node"`
	Why      string `json:"why"` // such as "most room of 3: 62 % free"
	Server   string `json:"server,omitempty"`
	Host     string `json:"host,omitempty"`
	Template string `json:"template,omitempty"`
	Size

	Bridge      string       `json:"bridge,omitempty"`
	VLAN        int64        `json:"vlan,omitempty"`
	Addresses   []Address    `json:"addresses,omitempty"`
	Gateways    []netip.Addr `json:"gateways,omitempty"`
	NameServers []netip.Addr `json:"name_servers,omitempty"`
}

// An Address is one that a machine is configured with.
type Address struct {
	Pool    string       `json:"pool"`
	Block   netip.Prefix `json:"block"`   // that no other machine gets: "192.0.2.7/32"
	Address netip.Prefix `json:"address"` // with the length of its network: "192.0.2.7/24"
}

// Segment is the network to which the machine is connected. Two machines of one segment
// have no address in common.
func (p Placement) Segment() string { return Segment(p.Bridge, p.VLAN) }

// Segment names a bridge with a VLAN.
func Segment(bridge string, vlan int64) string { return fmt.Sprintf("%s/%d", bridge, vlan) }
