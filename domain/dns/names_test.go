package dns_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain/dns"
	"hostpanel/domain/field"
)

func TestRulesOfNames(t *testing.T) {
	tests := []struct {
		name string
		rule field.Rule
		good map[string]string // what is sent → what is kept
		bad  []string
	}{
		{
			"origin", dns.Origin,
			map[string]string{
				"Acme.Test": "acme.test.", "acme.test.": "acme.test.", "münchen.de": "xn--mnchen-3ya.de.",
				"2.0.192.in-addr.arpa": "2.0.192.in-addr.arpa.", "_msdcs.acme.test": "_msdcs.acme.test.",
				"0-25.2.0.192.in-addr.arpa": "0-25.2.0.192.in-addr.arpa.", "0/25.2.0.192.IN-ADDR.ARPA.": "0/25.2.0.192.in-addr.arpa.",
			},
			[]string{
				"", "test", "test.", "*.acme.test", "@", "acme..test", "192.0.2.1", "-acme.test", "acme.test..", "xn--a.test",
				"0/25.acme.test", "0/25.8.b.d.ip6.arpa", "a/b.2.0.192.in-addr.arpa", "/25.2.0.192.in-addr.arpa",
				"0/.2.0.192.in-addr.arpa", "0/1/2.2.0.192.in-addr.arpa", "0/1234.2.0.192.in-addr.arpa",
				strings.Repeat("a.", 126) + "com",
			},
		},
		{
			"record name", dns.RecordName,
			map[string]string{
				"@": "@", "WWW": "www", "_dmarc": "_dmarc", "*.a": "*.a", "www.acme.test.": "www.acme.test.",
				"WWW.Acme.Test.": "www.acme.test.", "ñ": "xn--ida", "0/25": "0/25", "1.0/25": "1.0/25",
				"1.0/25.2.0.192.in-addr.arpa.": "1.0/25.2.0.192.in-addr.arpa.",
			},
			[]string{"", ".", "a/b", "0/25/1", "/25", "a..b", "a.*", "@.", "a b", "-a", "a..", "xn--a", strings.Repeat("a", 64)},
		},
		{
			"contact", dns.Contact,
			map[string]string{
				"a.b@x.com": `a\.b.x.com.`, `a\.b.x.com.`: `a\.b.x.com.`,
				"hostmaster.acme.test": "hostmaster.acme.test.", "Ada@Acme.Test": "Ada.acme.test.",
				"ada@münchen.de": "ada.xn--mnchen-3ya.de.", "a+b@x.com": "a+b.x.com.", `A.X.COM`: "A.x.com.",
			},
			[]string{
				"", "ada", "ada@", "@x.com", "a@b@x.com", "a b@x.com", `a\b.x.com.`, "x.com",
				strings.Repeat("a", 64) + "@x.com", "a..b@x.com", ".x.com.",
			},
		},
	}
	for _, tt := range tests {
		for sent, want := range tt.good {
			if kept := tt.rule.Tidy(sent); kept != want || !tt.rule.Holds(kept) {
				t.Errorf("%s %q is kept as %q (valid: %v), want %q", tt.name, sent, kept, tt.rule.Holds(kept), want)
			}
			if again := tt.rule.Tidy(want); again != want {
				t.Errorf("%s %q changes to %q when it is sent again", tt.name, want, again)
			}
		}
		for _, sent := range tt.bad {
			if kept := tt.rule.Tidy(sent); tt.rule.Holds(kept) {
				t.Errorf("%s %q is taken as %q", tt.name, sent, kept)
			}
		}
	}
}

// A name is kept relative to its zone, however it is sent, and published full.
func TestANameThatEndsInTheOriginIsShortened(t *testing.T) {
	tests := []struct{ sent, kept, full string }{
		{"@", "@", "acme.test."},
		{"www", "www", "www.acme.test."},
		{"www.acme.test.", "www", "www.acme.test."},
		{"www.acme.test", "www", "www.acme.test."},
		{"acme.test", "@", "acme.test."},
		{"acme.test.", "@", "acme.test."},
		{"*.acme.test", "*", "*.acme.test."},
		{"notacme.test", "notacme.test", "notacme.test.acme.test."},
		{"a.b", "a.b", "a.b.acme.test."},
	}
	for _, tt := range tests {
		kept, err := dns.Within(tt.sent, "acme.test.")
		if err != nil || kept != tt.kept || dns.Full(kept, "acme.test.") != tt.full {
			t.Errorf(
				"%q is kept as %q and published as %q (%v), want %q and %q", tt.sent, kept,
				dns.Full(kept, "acme.test."), err, tt.kept, tt.full,
			)
		}
	}
	long := strings.Repeat("a.", 121) + "ab"
	for _, sent := range []string{"www.other.test.", "notacme.test.", "test.", long} {
		if kept, err := dns.Within(sent, "acme.test."); err == nil || err.Error() != "name: Enter a valid domain name." {
			t.Errorf("%q is kept as %q: %v", sent, kept, err)
		}
	}
	if got := dns.Full("www.acme.test.", "acme.test."); got != "www.acme.test." {
		t.Errorf("a full name becomes %q", got)
	}
}

// RFC 2317: a part of a network smaller than 256 addresses is handed on at a name such as
// 0/25, and the names of its addresses are aliases of names below it.
func TestASlashStandsInReverseZonesAlone(t *testing.T) {
	const owner, target = "name: Enter a valid domain name.", "data: Enter a valid host name."
	const network = "2.0.192.in-addr.arpa."
	for _, c := range []struct{ sort, name, origin, data, want string }{
		{dns.NS, "0/25", network, "ns.acme.test.", ""},
		{dns.CNAME, "1", network, "1.0/25.2.0.192.in-addr.arpa", ""},
		{dns.CNAME, "1", "acme.test.", "1.0/25.2.0.192.in-addr.arpa.", ""},
		{dns.CNAME, "1.0/25", network, "www.acme.test.", ""},
		{dns.PTR, "1", "0/25." + network, "www.acme.test.", ""},
		{dns.PTR, "1.0/25", network, "www.acme.test.", ""},
		{dns.NS, "0/25", "acme.test.", "ns.acme.test.", owner},
		{dns.PTR, "0/25", "acme.test.", "www.acme.test.", owner},
		{dns.A, "@", "0/25." + network, "192.0.2.1", owner},
		{dns.A, "0/25", network, "192.0.2.1", owner},
		{dns.TXT, "0/25", network, "text", owner},
		{dns.MX, "0/25", network, "mail.acme.test.", owner},
		{dns.CNAME, "1", network, "1.0/25.acme.test.", target},
		{dns.CNAME, "1", network, "a/b.2.0.192.in-addr.arpa.", target},
		{dns.NS, "@", network, "ns.0/25.2.0.192.in-addr.arpa.", target},
		{dns.PTR, "1", network, "1.0/25.2.0.192.in-addr.arpa.", target},
	} {
		err := cmp.Or(dns.CheckOwner(c.sort, c.name, c.origin), dns.CheckData(c.sort, c.data, c.origin))
		if got := fmt.Sprint(err); got != cmp.Or(c.want, "<nil>") {
			t.Errorf("%s in %s, %s %s: %s, not %s", c.name, c.origin, c.sort, c.data, got, c.want)
		}
	}
	if got := dns.Normal(dns.CNAME, "1.0/25.2.0.192.IN-ADDR.ARPA", network); got != "1.0/25.2.0.192.in-addr.arpa." {
		t.Error(got)
	}
	if got := dns.Hostmaster("0/25." + network); got != "hostmaster."+network || !dns.Contact.Holds(got) {
		t.Error(got)
	}
}
