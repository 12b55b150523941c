package dns

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// Reverse is the name of a network in DNS, with a final dot: "2.0.192.in-addr.arpa." of
// 192.0.2.0/24. It has the labels that the whole network shares. An address is a network
// of its whole length.
func Reverse(of netip.Prefix) string {
	labels, suffix := octets(of), "in-addr.arpa."
	if !of.Addr().Is4() {
		labels, suffix = nibbles(of), "ip6.arpa."
	}
	slices.Reverse(labels)
	return strings.Join(append(labels, suffix), ".")
}

// octets are the labels of an IPv4 network, the first byte first.
func octets(of netip.Prefix) (labels []string) {
	for _, b := range of.Addr().AsSlice()[:of.Bits()/8] {
		labels = append(labels, strconv.Itoa(int(b)))
	}
	return labels
}

// nibbles are the labels of an IPv6 network, the first half of the first byte first.
func nibbles(of netip.Prefix) (labels []string) {
	for _, b := range of.Addr().AsSlice() {
		labels = append(labels, strconv.FormatUint(uint64(b>>4), 16), strconv.FormatUint(uint64(b&15), 16))
	}
	return labels[:of.Bits()/4]
}
