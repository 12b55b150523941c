package dns_test

import (
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
				"0-25.2.0.192.in-addr.arpa": "0-25.2.0.192.in-addr.arpa.",
			},
			[]string{
				"", "test", "test.", "*.acme.test", "@", "acme..test", "192.0.2.1", "-acme.test", "acme.test..", "xn--a.test",
				strings.Repeat("a.", 126) + "com",
			},
		},
		{
			"record name", dns.RecordName,
			map[string]string{
				"@": "@", "WWW": "www", "_dmarc": "_dmarc", "*.a": "*.a", "www.acme.test.": "www.acme.test.",
				"WWW.Acme.Test.": "www.acme.test.", "ñ": "xn--ida",
			},
			[]string{"", ".", "a..b", "a.*", "@.", "a b", "-a", "a..", "xn--a", strings.Repeat("a", 64)},
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
