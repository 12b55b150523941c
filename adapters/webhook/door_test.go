package webhook

import (
	"errors"
	"net/netip"
	"testing"
)

func TestOnlyTheInternetIsCalledAndOnlyWhereTLSIs(t *testing.T) {
	open := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00:1::/32")}
	for _, c := range []struct {
		address     string
		tls, plain  bool // through the doors of https and http
		onlyAllowed bool // not without the networks
	}{
		{"93.184.216.34:443", true, false, false},
		{"[2606:2800:220:1::1]:443", true, false, false},
		{"[64:ff9b::5db8:d822]:443", true, false, false}, // a public address, translated
		{"93.184.216.34:80", false, false, false},
		{"93.184.216.34:8443", false, false, false},
		{"93.184.216.34:22", false, false, false},

		{"10.1.2.3:443", true, true, true},
		{"10.1.2.3:5432", true, true, true},
		{"[::ffff:10.1.2.3]:8080", true, true, true},
		{"[fd00:1::7]:8080", true, true, true},
		{"[64:ff9b::a01:203]:443", false, false, false}, // translated is not how one reaches one's own

		{"10.2.2.3:443", false, false, false},
		{"127.0.0.1:443", false, false, false},
		{"127.1.2.3:443", false, false, false},
		{"0.0.0.0:443", false, false, false},
		{"169.254.169.254:443", false, false, false},
		{"100.64.0.1:443", false, false, false},
		{"100.100.100.200:443", false, false, false}, // metadata of a cloud
		{"172.16.0.1:443", false, false, false},
		{"192.168.1.1:443", false, false, false},
		{"192.0.0.192:443", false, false, false}, // metadata of another
		{"192.0.2.1:443", false, false, false},
		{"198.18.0.1:443", false, false, false},
		{"198.51.100.1:443", false, false, false},
		{"203.0.113.1:443", false, false, false},
		{"224.0.0.1:443", false, false, false},
		{"240.0.0.1:443", false, false, false},
		{"255.255.255.255:443", false, false, false},

		{"[::]:443", false, false, false},
		{"[::1]:443", false, false, false},
		{"[::127.0.0.1]:443", false, false, false},
		{"[::ffff:127.0.0.1]:443", false, false, false},
		{"[::ffff:169.254.169.254]:443", false, false, false},
		{"[::ffff:0:127.0.0.1]:443", false, false, false}, // translated, statelessly
		{"[64:ff9b::7f00:1]:443", false, false, false},
		{"[64:ff9b::a9fe:a9fe]:443", false, false, false},
		{"[64:ff9b:1::a9fe:a9fe]:443", false, false, false},
		{"[2002:7f00:1::]:443", false, false, false},
		{"[2002:a9fe:a9fe::1]:443", false, false, false},
		{"[2001:0:7f00:1::]:443", false, false, false},
		{"[2001:db8::1]:443", false, false, false},
		{"[3fff::1]:443", false, false, false},
		{"[fc00::1]:443", false, false, false},
		{"[fd00:ec2::254]:443", false, false, false}, // metadata of a cloud
		{"[fe80::1]:443", false, false, false},
		{"[fe80::1%eth0]:443", false, false, false},
		{"[fec0::1]:443", false, false, false},
		{"[ff02::1]:443", false, false, false},
		{"[100::1]:443", false, false, false},
		{"[5f00::1]:443", false, false, false},
	} {
		network := "tcp4"
		if c.address[0] == '[' {
			network = "tcp6"
		}
		asked := func(d addressPolicy) bool { return d.control(network, c.address, nil) == nil }
		if got := asked(addressPolicy{open: open, public: true}); got != c.tls {
			t.Errorf("https to %s: %v", c.address, got)
		}
		if got := asked(addressPolicy{open: open}); got != c.plain {
			t.Errorf("http to %s: %v", c.address, got)
		}
		if got := asked(addressPolicy{public: true}); got != (c.tls && !c.onlyAllowed) {
			t.Errorf("https to %s, without networks of one's own: %v", c.address, got)
		}
		if asked(addressPolicy{}) {
			t.Errorf("http to %s, without networks of one's own, is let through", c.address)
		}
	}
}

func TestWhatIsNoConnectionToAnAddressIsRefused(t *testing.T) {
	d := addressPolicy{public: true}
	for network, address := range map[string]string{
		"unix": "/run/postgresql", "udp4": "93.184.216.34:443", "tcp": "93.184.216.34:443", "tcp4": "example.com:443",
	} {
		if err := d.control(network, address, nil); !errors.Is(err, errRefused) {
			t.Errorf("%s %s: %v", network, address, err)
		}
	}
}
