package dns_test

import (
	"net/netip"
	"testing"

	"hostpanel/domain/dns"
)

func TestANetworkIsCalledByTheLabelsThatItShares(t *testing.T) {
	for network, want := range map[string]string{
		"192.0.2.7/32": "7.2.0.192.in-addr.arpa.", "192.0.2.0/24": "2.0.192.in-addr.arpa.", "192.0.2.0/25": "2.0.192.in-addr.arpa.",
		"10.0.0.0/8": "10.in-addr.arpa.", "2001:db8::/32": "8.b.d.0.1.0.0.2.ip6.arpa.", "2001:db8:f000::/35": "8.b.d.0.1.0.0.2.ip6.arpa.",
	} {
		if got := dns.Reverse(netip.MustParsePrefix(network)); got != want {
			t.Errorf("%s: %s, not %s", network, got, want)
		}
	}
}
