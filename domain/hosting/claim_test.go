package hosting_test

import (
	"testing"

	"hostpanel/domain/hosting"
)

func TestSomeDomainsAreForNoTenant(t *testing.T) {
	const suffix, own = "This domain is a public suffix.", "This domain is the panel's own, or above or below it."
	hosts := []string{"Panel.host.example", "ns1.dns.example.", "192.0.2.1", ""}
	for name, want := range map[string]string{
		"co.uk": suffix, "co.uk.": suffix, "github.io": suffix, "in-addr.arpa.": suffix, "xn--55qx5d.cn": suffix, "anything.ck": suffix,
		"bread.co.uk": "", "bread.github.io": "", "2.0.192.in-addr.arpa.": "", "www.ck": "", "bread.example": "", "sub.bread.test": "",
		"panel.host.example": own, "panel.host.example.": own, "www.panel.host.example": own, "host.example.": own,
		"ns1.dns.example": own, "dns.example": own, "mypanel.host.example": "", "ns2.dns.example": "", "otherhost.example": "",
	} {
		if got := hosting.NotForTenants(name, hosts); got != want {
			t.Errorf("%s: %q, not %q", name, got, want)
		}
	}
}

func TestEveryClaimIsAUniqueField(t *testing.T) {
	claims := 0
	for _, k := range hosting.Kinds {
		if k.Claims == "" {
			continue
		}
		claims++
		if len(k.Unique) != 1 || k.Unique[0] != k.Claims {
			t.Errorf("%s claims %s, and %v are unique", k.Name, k.Claims, k.Unique)
		}
	}
	if claims != 3 {
		t.Error(claims, "kinds claim a domain")
	}
}
